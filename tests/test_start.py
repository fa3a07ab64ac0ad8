"""What a program's start loads: nothing that it does not use."""

import subprocess
import sys

import pytest

PLAIN = """
x = cnp.asarray(np.ones((2, 3), np.float32))
print(celadon.jit(lambda x, s: cnp.where(x > s, x * s, x).sum())(x, 0.5))
print(celadon.grad(lambda x: cnp.tanh(x @ x.T).sum())(x).shape)
print(celadon.random.uniform(celadon.random.key(0), (2,)).dtype == np.float32)
"""
HALF = """
print(cnp.ones(2, "bfloat16").astype(np.float32), cnp.finfo(cnp.bfloat16).bits)
"""


def loaded(script: str, *modules: str) -> list[str]:
    """Which of these modules a script has loaded at its end."""
    ends = f"import sys; print([name for name in {modules} if name in sys.modules])"
    whole = f"import numpy as np, celadon, celadon.numpy as cnp\n{script}\n{ends}"
    done = subprocess.run([sys.executable, "-c", whole], capture_output=True, text=True, check=True)
    return eval(done.stdout.splitlines()[-1])


@pytest.mark.parametrize(("script", "expected"), [("", []), (PLAIN, []), (HALF, ["ml_dtypes"])], ids=["import", "plain", "half"])
def test_third_parties_are_loaded_when_they_are_needed(script, expected):
    assert loaded(script, "ml_dtypes", "rich", "typer", "jax", "logging", "opt_einsum", "scipy") == expected
