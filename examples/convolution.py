"""A small convolutional network learns scikit-learn's digits: two convolutions, pooling, one dense layer.

Run it with `python examples/convolution.py` (needs scikit-learn). `celadon price examples/convolution.py:step --stages` says
where the time of a step goes.
"""

import numpy as np

import celadon
import celadon.numpy as cnp

LAYOUT = ("NHWC", "HWIO", "NHWC")


def initial(seed):
    """Filters of two convolutions, and a dense layer."""
    first, second, dense = celadon.random.split(celadon.random.key(seed), 3)
    return {
        "first": celadon.random.normal(first, (3, 3, 1, 8)) / 3.0,
        "second": celadon.random.normal(second, (3, 3, 8, 16)) / 9.0,
        "dense": celadon.random.normal(dense, (64, 10)) / 8.0,
        "bias": cnp.zeros(10),
    }


def convolved(x, filters):
    return celadon.nn.relu(celadon.lax.conv_general_dilated(x, filters, (1, 1), "SAME", dimension_numbers=LAYOUT))


def pooled(x):
    """The largest of each 2 by 2 square."""
    return celadon.lax.reduce_window(x, -cnp.inf, celadon.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def scores(params, images):
    """Unnormalised log-probabilities of the ten digits, for images of shape [batch, 8, 8, 1]."""
    x = pooled(convolved(images, params["first"]))
    x = pooled(convolved(x, params["second"]))
    return x.reshape(x.shape[0], -1) @ params["dense"] + params["bias"]


def loss(params, images, labels):
    logs = celadon.nn.log_softmax(scores(params, images))
    return -cnp.take_along_axis(logs, labels[:, None], axis=-1).mean()


def step(params, images, labels, rate):
    """One step of gradient descent: new parameters and the loss before it."""
    value, slopes = celadon.value_and_grad(loss)(params, images, labels)
    return celadon.tree.map(lambda p, s: p - rate * s, params, slopes), value


def digits(count=256):
    from sklearn.datasets import load_digits

    found = load_digits()
    return (found.images[:count, :, :, None] / 16.0).astype(np.float32), found.target[:count].astype(np.int32)


def arguments():
    """What `celadon price` calls `step` with."""
    return initial(0), *digits(), 0.5


def main():
    images, labels = digits()
    params, train = initial(0), celadon.jit(step)
    for k in range(100):
        params, value = train(params, images, labels, 0.5)
        if k % 20 == 0:
            print(f"step {k:3}  loss {float(value):.4f}")
    print(f"right: {float((scores(params, images).argmax(axis=-1) == labels).mean()):.1%}")


if __name__ == "__main__":
    main()
