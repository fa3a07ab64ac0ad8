"""Rules of ops that move elements, with shapes that are written in the program or computed from constants."""

from __future__ import annotations

from typing import Any

import numpy as np

from celadon.op import registry as op
from tests.stablehlo.elements import Unreadable, dtype_of
from tests.stablehlo.reader import Site, integers, rule, type_of


@rule("stablehlo.broadcast_in_dim")
def broadcast_in_dim(site: Site, x: Any) -> Any:
    return op["broadcast_in_dim"](x, shape=site.shape(), broadcast_dimensions=site.ints("broadcast_dimensions"))


@rule("stablehlo.broadcast")
def broadcast(site: Site, x: Any) -> Any:
    added = len(site.ints("broadcast_sizes"))
    places = tuple(range(added, added + type_of(x).ndim))
    return op["broadcast_in_dim"](x, shape=site.shape(), broadcast_dimensions=places)


@rule("stablehlo.dynamic_broadcast_in_dim")
def dynamic_broadcast_in_dim(site: Site, x: Any, shape: Any) -> Any:
    return op["broadcast_in_dim"](x, shape=integers(shape), broadcast_dimensions=site.ints("broadcast_dimensions"))


@rule("stablehlo.reshape")
def reshape(site: Site, x: Any) -> Any:
    return op["reshape"](x, shape=site.shape())


@rule("stablehlo.dynamic_reshape")
def dynamic_reshape(site: Site, x: Any, shape: Any) -> Any:
    return op["reshape"](x, shape=integers(shape))


@rule("stablehlo.transpose")
def transpose(site: Site, x: Any) -> Any:
    return op["transpose"](x, permutation=site.ints("permutation"))


@rule("stablehlo.reverse")
def reverse(site: Site, x: Any) -> Any:
    return op["reverse"](x, dimensions=site.ints("dimensions"))


@rule("stablehlo.concatenate")
def concatenate(site: Site, *xs: Any) -> Any:
    return op["concatenate"](*xs, dimension=site.number("dimension"))


@rule("stablehlo.pad")
def pad(site: Site, x: Any, value: Any) -> Any:
    low, high, interior = map(site.ints, ("edge_padding_low", "edge_padding_high", "interior_padding"))
    return op["pad"](x, value, low=low, high=high, interior=interior)


@rule("stablehlo.dynamic_pad")
def dynamic_pad(site: Site, x: Any, value: Any, low: Any, high: Any, interior: Any) -> Any:
    return op["pad"](x, value, low=integers(low), high=integers(high), interior=integers(interior))


@rule("stablehlo.slice")
def slice_(site: Site, x: Any) -> Any:
    names = ("start_indices", "limit_indices", "strides")
    return op["slice"](x, **{name: site.ints(name) for name in names})


@rule("stablehlo.real_dynamic_slice")
def real_dynamic_slice(site: Site, x: Any, starts: Any, limits: Any, strides: Any) -> Any:
    return op["slice"](x, start_indices=integers(starts), limit_indices=integers(limits), strides=integers(strides))


@rule("stablehlo.iota")
def iota(site: Site) -> Any:
    return _iota(site.shape(), site)


@rule("stablehlo.dynamic_iota")
def dynamic_iota(site: Site, shape: Any) -> Any:
    return _iota(integers(shape), site)


def _iota(shape: tuple[int, ...], site: Site) -> Any:
    return op["iota"](shape=shape, dtype=dtype_of(site.op.results[0].type), dimension=site.number("iota_dimension"))


@rule("stablehlo.get_dimension_size")
def get_dimension_size(site: Site, x: Any) -> Any:
    return np.int32(type_of(x).shape[site.number("dimension")])


@rule("stablehlo.set_dimension_size")
def set_dimension_size(site: Site, x: Any, size: Any) -> Any:
    if integers(size) != (type_of(x).shape[site.number("dimension")],):
        raise Unreadable("a bounded dimension")
    return x


@rule("stablehlo.tuple")
def tuple_(site: Site, *xs: Any) -> Any:
    return [xs]


@rule("stablehlo.get_tuple_element")
def get_tuple_element(site: Site, x: Any) -> Any:
    return x[0][site.number("index")]
