"""Programs of neural networks: training steps of a multi-layer perceptron, attention, a convolutional network's gradient, an
embedding's gradient."""

from __future__ import annotations

import itertools
from typing import Any

import numpy

from programs.program import Program, normal

_LAYOUT = ("NHWC", "HWIO", "NHWC")
_CLASSES = 10


def _step(package: Any, np: Any) -> Any:
    def loss(params: Any, x: Any, labels: Any) -> Any:
        for weights, bias in params[:-1]:
            x = package.nn.relu(x @ weights + bias)
        weights, bias = params[-1]
        logs = package.nn.log_softmax(x @ weights + bias)
        return -np.mean(np.sum(package.nn.one_hot(labels, _CLASSES) * logs, axis=-1))

    def step(params: Any, x: Any, labels: Any, rate: float) -> Any:
        value, slopes = package.value_and_grad(loss)(params, x, labels)
        return [(w - rate * dw, b - rate * db) for (w, b), (dw, db) in zip(params, slopes, strict=True)], value

    return step


def _attention(package: Any, np: Any) -> Any:
    def attention(q: Any, k: Any, v: Any) -> Any:
        scores = np.einsum("bhqd,bhkd->bhqk", q, k) / numpy.sqrt(numpy.float32(q.shape[-1]))
        return np.einsum("bhqk,bhkd->bhqd", package.nn.softmax(scores, axis=-1), v)

    return attention


def _convolutions(package: Any, np: Any) -> Any:
    def convolved(x: Any, filters: Any) -> Any:
        return package.nn.relu(package.lax.conv_general_dilated(x, filters, (1, 1), "SAME", dimension_numbers=_LAYOUT))

    def loss(params: Any, images: Any, labels: Any) -> Any:
        x = convolved(convolved(images, params["first"]), params["second"])
        logs = package.nn.log_softmax(np.mean(x, axis=(1, 2)) @ params["dense"])
        return -np.mean(np.take_along_axis(logs, labels[:, None], axis=-1))

    return package.grad(loss)


def _embedding(package: Any, np: Any) -> Any:
    def loss(table: Any, ids: Any, targets: Any) -> Any:
        return np.mean((table[ids] - targets) ** 2)

    return package.grad(loss)


def _perceptron(rng: Any, batch: int, pixels: int, width: int) -> tuple[Any, ...]:
    widths = (pixels, *[width] * 5, _CLASSES)
    params = [
        (normal(rng, n, m) * numpy.float32((2.0 / n) ** 0.5), numpy.zeros(m, numpy.float32))
        for n, m in itertools.pairwise(widths)
    ]
    return params, normal(rng, batch, pixels), rng.integers(0, _CLASSES, batch).astype(numpy.int32)


def _heads(rng: Any, batch: int, heads: int, length: int, width: int) -> tuple[Any, ...]:
    return tuple([normal(rng, batch, heads, length, width) for _ in range(3)])


def _images(rng: Any, batch: int, side: int, first: int, second: int) -> tuple[Any, ...]:
    params = {
        "first": normal(rng, 3, 3, 3, first) / 5,
        "second": normal(rng, 3, 3, first, second) / 17,
        "dense": normal(rng, second, _CLASSES) / 8,
    }
    return params, normal(rng, batch, side, side, 3), rng.integers(0, _CLASSES, batch).astype(numpy.int32)


def _ids(rng: Any, count: int, words: int, width: int) -> tuple[Any, ...]:
    ids = rng.integers(0, words, count).astype(numpy.int32)
    return normal(rng, words, width), ids, normal(rng, count, width)


def _perceptron_of(width: int, batch: int) -> Program:
    sizes, small = {"batch": batch, "pixels": 784, "width": width}, {"batch": 3, "pixels": 17, "width": 9}
    name = f"MLP step {width}, batch {batch}"
    return Program(name, _step, _perceptron, sizes, small, "batch", "rate", lambda k: 0.1 + k / 1024)


PROGRAMS = (
    _perceptron_of(64, 32),
    _perceptron_of(64, 128),
    _perceptron_of(512, 32),
    _perceptron_of(512, 128),
    Program(
        "attention 4x8x256x64", _attention, _heads, {"batch": 4, "heads": 8, "length": 256, "width": 64},
        {"batch": 2, "heads": 3, "length": 9, "width": 5}, "length",
    ),
    Program(
        "convolutional gradient 16x32x32x3", _convolutions, _images, {"batch": 16, "side": 32, "first": 32, "second": 64},
        {"batch": 2, "side": 7, "first": 3, "second": 5}, "batch",
    ),
    Program(
        "embedding gradient 10000x64", _embedding, _ids, {"count": 4096, "words": 10_000, "width": 64},
        {"count": 9, "words": 21, "width": 5}, "count",
    ),
)  # fmt: skip
