"""Errors about functions of neural networks (codes 47x)."""

from __future__ import annotations

from celadon.errors.catalogue import CeladonError


class AttentionMismatch(CeladonError, ValueError):
    code = "CEL470"
    title = "The arrays of an attention don't fit together"
    message = "nn.dot_product_attention: {argument} is {given}, and {wanted}"
    cause = "Queries, keys and values share batch, heads and the size of a head; biases and masks cover all pairs."
    cure = "Arrange them as (batch, length, heads, size), biases and masks as (batch, heads, queries, keys)."
    when = "When one of the arrays given to dot_product_attention has another rank, extent or dtype than the others need."
    trigger = "x = cnp.ones((2, 3, 4, 8))\nceladon.nn.dot_product_attention(x, x, cnp.ones((2, 5, 4, 8)))"
    cured = "x = cnp.ones((2, 3, 4, 8))\nceladon.nn.dot_product_attention(x, x, x)"


class FansUnknown(CeladonError, ValueError):
    code = "CEL471"
    title = "The shape of weights has no inputs and outputs"
    message = "weights of shape {shape} have no axis of inputs and axis of outputs"
    cause = "The scale of the initial weights depends on how many inputs and outputs they connect, by default the last two axes."
    cure = "Give the weights two axes, or name the axes with in_axis= and out_axis=."
    when = "When an initializer that scales by fan-in or fan-out is asked for a vector or a scalar."
    trigger = "celadon.nn.initializers.lecun_normal()(celadon.random.key(0), (3,))"
    cured = "celadon.nn.initializers.lecun_normal()(celadon.random.key(0), (3, 1))"
