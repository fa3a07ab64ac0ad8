"""The rule of fuse for transforms of one axis that our own kernel can do: plan leaves lengths that do not suit it to NumPy."""

from __future__ import annotations

from celadon.cpu.fuse import Fusion, rules
from celadon.cpu.recipe import Hosted, Moved
from celadon.types import short_name

REALS = {"c64": "f32", "c128": "f64"}


def _fft(fusion: Fusion, index: int) -> None:
    equation = fusion.program.equations[index]
    reads, out = (fusion.output(equation.inputs[0]),), equation.outputs[0]
    type, dims = equation.params["fft_type"], equation.params["dims"]
    if dims > 1 or type == "IRFFT":
        fusion.steps.append(Hosted(index, reads, (fusion.define(out),)))
        return
    kernel = Moved("fourier", (REALS[short_name(out.type.dtype)],), (type,))
    fusion.launch(
        kernel, rule="fourier", like=reads[0], loops=(), reads=reads, writes=(fusion.define(out),), equation=index
    )


rules["fft"] = _fft
