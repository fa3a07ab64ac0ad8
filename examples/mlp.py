"""A 6-layer network learns scikit-learn's digits: plain steps, a scan over steps, checkpoint, an ensemble under vmap.

Run it with `python examples/mlp.py` (needs scikit-learn). `celadon price examples/mlp.py:step` says what a step costs.
"""

import numpy as np

import celadon
import celadon.numpy as cnp

WIDTHS = (64, 48, 48, 32, 32, 24, 10)


def initial(seed, widths=WIDTHS):
    """Weights and biases of each layer."""
    keys = celadon.random.split(celadon.random.key(seed), len(widths) - 1)
    scales = [(2.0 / n) ** 0.5 for n in widths]
    return [
        (celadon.random.normal(key, (n, m)) * scale, cnp.zeros(m))
        for key, n, m, scale in zip(keys, widths, widths[1:], scales, strict=False)
    ]


def layer(x, weights, bias):
    return celadon.nn.relu(x @ weights + bias)


def scores(params, x):
    """Unnormalised log-probabilities of the ten digits, for a batch of images of 64 pixels."""
    for weights, bias in params[:-1]:
        x = layer(x, weights, bias)
    weights, bias = params[-1]
    return x @ weights + bias


def scores_again(params, x):
    """The same, each layer computed again in the backward pass."""
    for weights, bias in params[:-1]:
        x = celadon.checkpoint(layer)(x, weights, bias)
    weights, bias = params[-1]
    return x @ weights + bias


def loss(params, x, y, network=scores):
    """The mean cross-entropy."""
    logs = celadon.nn.log_softmax(network(params, x))
    return -(celadon.nn.one_hot(y, 10) * logs).sum(axis=-1).mean()


def step(params, x, y, rate):
    """One step of gradient descent: new parameters and the loss before it."""
    value, slopes = celadon.value_and_grad(loss)(params, x, y)
    return celadon.tree.map(lambda p, s: p - rate * s, params, slopes), value


def step_again(params, x, y, rate):
    """The same step through checkpointed layers."""
    value, slopes = celadon.value_and_grad(lambda p: loss(p, x, y, scores_again))(params)
    return celadon.tree.map(lambda p, s: p - rate * s, params, slopes), value


def steps(params, x, y, rate, count):
    """Many steps as one scan: the last parameters and all losses."""
    return celadon.lax.scan(lambda p, _: step(p, x, y, rate), params, None, length=count)


def ensemble(seeds, x, y, rate, count):
    """Several networks trained side by side: the losses of each."""
    from_seed = lambda seed: steps(initial(seed), x, y, rate, count)[1]  # noqa: E731
    return celadon.vmap(from_seed)(seeds)


def digits(count=512):
    """The first images, scaled to 0..1, and their labels."""
    from sklearn.datasets import load_digits

    found = load_digits()
    return (found.data[:count] / 16.0).astype(np.float32), found.target[:count].astype(np.int32)


def arguments():
    """What `celadon price` calls `step` with."""
    x, y = digits()
    return initial(0), x, y, 0.1


def main():
    x, y = digits()
    params = initial(0)
    train = celadon.jit(step)
    for k in range(300):
        params, value = train(params, x, y, 0.1)
        if k % 50 == 0:
            print(f"step {k:3}  loss {float(value):.4f}")
    print(f"right: {float((scores(params, x).argmax(axis=-1) == y).mean()):.1%}")
    print("ensemble:", celadon.jit(ensemble, static_argnums=4)(cnp.arange(3), x, y, 0.1, 100)[:, -1])


if __name__ == "__main__":
    main()
