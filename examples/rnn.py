"""The gradient of a small recurrent network through a scan: a program that is two loops of small kernels.

Run it with `python examples/rnn.py`. `celadon price examples/rnn.py:slope --stages` says where the time of a gradient goes.
"""

import numpy as np

import celadon
import celadon.numpy as cnp


def states(w, xs):
    """The last state, and the sum of each state before it, for inputs of shape [steps, batch, width]."""
    return celadon.lax.scan(lambda h, x: (cnp.tanh(h @ w + x), h.sum()), cnp.zeros_like(xs[0]), xs)


def loss(w, xs):
    last, sums = states(w, xs)
    return (last**2).sum() + (sums**2).mean()


def slope(w, xs):
    """The gradient of the loss with respect to the weights."""
    return celadon.grad(loss)(w, xs)


def arguments(steps=100, batch=8, width=64):
    """What `celadon price` calls `slope` with."""
    random = np.random.default_rng(0)
    w = random.normal(size=(width, width)) / width**0.5
    return w.astype(np.float32), random.normal(size=(steps, batch, width)).astype(np.float32)


def main():
    w, xs = arguments()
    step = celadon.jit(lambda w: (w - 1e-4 * slope(w, xs), loss(w, xs)))
    for k in range(50):
        w, value = step(w)
        if k % 10 == 0:
            print(f"step {k:3}  loss {float(value):.4f}")


if __name__ == "__main__":
    main()
