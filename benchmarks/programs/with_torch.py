"""Some of the programs in PyTorch's words, for torch.compile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from programs.program import Program


def function_of(program: Program) -> Callable[..., Any] | None:
    """torch.compile's function for a program, of the same arguments as tensors; None where it has none or PyTorch is not
    installed."""
    try:
        import torch
    except ImportError:
        return None
    write = next((write for name, write in _WRITTEN.items() if program.name.startswith(name)), None)
    return torch.compile(write(torch)) if write else None


def _transcendental(torch: Any) -> Any:
    return lambda x: torch.tanh(torch.sin(x) * torch.exp(-x * x)) + torch.log1p(torch.abs(x)) * torch.cos(x)


def _layer_norm(torch: Any) -> Any:
    def run(x: Any, scale: Any, bias: Any) -> Any:
        centred = x - x.mean(-1, keepdim=True)
        return centred / torch.sqrt((centred * centred).mean(-1, keepdim=True) + 1e-5) * scale + bias

    return run


def _step(torch: Any) -> Any:
    def loss(params: Any, x: Any, labels: Any) -> Any:
        for weights, bias in params[:-1]:
            x = torch.relu(x @ weights + bias)
        weights, bias = params[-1]
        return torch.nn.functional.cross_entropy(x @ weights + bias, labels.long())

    def step(params: Any, x: Any, labels: Any, rate: float) -> Any:
        slopes, value = torch.func.grad_and_value(loss)(params, x, labels)
        return [(w - rate * dw, b - rate * db) for (w, b), (dw, db) in zip(params, slopes, strict=True)], value

    return step


def _attention(torch: Any) -> Any:
    def run(q: Any, k: Any, v: Any) -> Any:
        return torch.softmax(q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5, dim=-1) @ v

    return run


def _convolutions(torch: Any) -> Any:
    def convolved(x: Any, filters: Any) -> Any:
        return torch.relu(torch.nn.functional.conv2d(x, filters.permute(3, 2, 0, 1), padding="same"))

    def loss(params: Any, images: Any, labels: Any) -> Any:
        x = convolved(convolved(images.permute(0, 3, 1, 2), params["first"]), params["second"])
        return torch.nn.functional.cross_entropy(x.mean((2, 3)) @ params["dense"], labels.long())

    return torch.func.grad(loss)


def _embedding(torch: Any) -> Any:
    return torch.func.grad(lambda table, ids, targets: ((table[ids.long()] - targets) ** 2).mean())


_WRITTEN: dict[str, Callable[[Any], Any]] = {
    "scale_add": lambda torch: lambda x, s: x * s + 1.0,
    "transcendental chain": _transcendental,
    "softmax": lambda torch: lambda x: torch.softmax(x, -1),
    "layer norm": _layer_norm,
    "sum of squares, axis 0": lambda torch: lambda x: (x * x).sum(0),
    "sum of squares, axis 1": lambda torch: lambda x: (x * x).sum(1),
    "sum of squares, 2048x2048": lambda torch: lambda x: (x * x).sum(),
    "matmul": lambda torch: lambda a, b: a @ b,
    "matrix-vector": lambda torch: lambda a, b: a @ b,
    "Cholesky solve": lambda torch: lambda a, b: torch.cholesky_solve(b[:, None], torch.linalg.cholesky(a))[:, 0],
    "rfft": lambda torch: lambda x: torch.fft.rfft(x),
    "MLP step": _step,
    "attention": _attention,
    "convolutional gradient": _convolutions,
    "embedding gradient": _embedding,
    "sort + cumsum": lambda torch: lambda x: torch.cumsum(torch.sort(x).values, 0),
}
