"""Rules of batch normalization: each feature is put to mean 0 and variance 1, then scaled and moved."""

from __future__ import annotations

import math
from typing import Any

from celadon.op import registry as op
from celadon.program import literal
from tests.stablehlo.reader import Site, rule, type_of


class _Features:
    """Values of one feature axis of an array beside the array."""

    def __init__(self, site: Site, x: Any):
        self.type, self.axis = type_of(x), site.number("feature_index")
        self.others = tuple(i for i in range(self.type.ndim) if i != self.axis)
        self.count = literal(math.prod(self.type.shape[i] for i in self.others), self.type.dtype)
        self.epsilon = literal(site.number("epsilon"), self.type.dtype)

    def spread(self, v: Any) -> Any:
        return op["broadcast_in_dim"](v, shape=self.type.shape, broadcast_dimensions=(self.axis,))

    def total(self, x: Any) -> Any:
        return op["reduce_sum"](x, axes=self.others)

    def centered(self, x: Any, mean: Any) -> Any:
        return op["subtract"](x, self.spread(mean))

    def deviation(self, variance: Any) -> Any:
        return op["sqrt"](op["add"](variance, self.epsilon))

    def normalized(self, x: Any, mean: Any, variance: Any) -> Any:
        return op["divide"](self.centered(x, mean), self.spread(self.deviation(variance)))


@rule("stablehlo.batch_norm_inference")
def batch_norm_inference(site: Site, x: Any, scale: Any, offset: Any, mean: Any, variance: Any) -> Any:
    features = _Features(site, x)
    found = features.normalized(x, mean, variance)
    return op["add"](op["multiply"](found, features.spread(scale)), features.spread(offset))


@rule("stablehlo.batch_norm_training")
def batch_norm_training(site: Site, x: Any, scale: Any, offset: Any) -> Any:
    features = _Features(site, x)
    mean = op["divide"](features.total(x), features.count)
    centered = features.centered(x, mean)
    variance = op["divide"](features.total(op["multiply"](centered, centered)), features.count)
    return [batch_norm_inference(site, x, scale, offset, mean, variance), mean, variance]


@rule("stablehlo.batch_norm_grad")
def batch_norm_grad(site: Site, x: Any, scale: Any, mean: Any, variance: Any, grad: Any) -> Any:
    """Of the output by the array, the scale and the offset."""
    features = _Features(site, x)
    normal = features.normalized(x, mean, variance)
    by_scale, by_offset = features.total(op["multiply"](grad, normal)), features.total(grad)
    shared = op["add"](features.spread(by_offset), op["multiply"](normal, features.spread(by_scale)))
    inside = op["subtract"](grad, op["divide"](shared, features.count))
    slope = op["divide"](scale, features.deviation(variance))
    return [op["multiply"](inside, features.spread(slope)), by_scale, by_offset]
