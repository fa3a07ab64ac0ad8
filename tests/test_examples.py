"""The examples train on real data with JAX's losses: the same source runs on both, whose names differ by the import alone."""

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


def load(name: str, library: str) -> ModuleType:
    source = (EXAMPLES / f"{name}.py").read_text()
    module = ModuleType(f"{name}_on_{library}")
    exec(compile(source.replace("celadon", library).replace("cnp", "jnp"), f"{name}.py", "exec"), module.__dict__)
    return module


def both(name: str):
    return load(name, "celadon"), load(name, "jax")


def losses(module, data, rate, count=12, step="step"):
    library = module.celadon if hasattr(module, "celadon") else module.jax
    params, train = module.initial(0), library.jit(getattr(module, step))
    found = []
    for _ in range(count):
        params, value = train(params, *data, rate)
        found.append(float(value))
    return np.array(found)


@pytest.mark.parametrize(("name", "rate"), [("mlp", 0.1), ("convolution", 0.5)])
def test_plain_steps(name, rate):
    ours, theirs = both(name)
    found, expected = losses(ours, ours.digits(128), rate), losses(theirs, theirs.digits(128), rate)
    np.testing.assert_allclose(found, expected, rtol=2e-5)
    assert found[-1] < found[0]


def test_steps_through_checkpoint_scan_and_vmap():
    ours, theirs = both("mlp")
    x, y = ours.digits(128)
    plain = losses(ours, (x, y), 0.1)
    np.testing.assert_allclose(losses(ours, (x, y), 0.1, step="step_again"), plain, rtol=1e-6)
    for module, library in ((ours, "celadon"), (theirs, "jax")):
        jit = getattr(module, library).jit
        scanned = jit(module.steps, static_argnums=4)(module.initial(0), x, y, 0.1, 12)[1]
        np.testing.assert_allclose(np.asarray(scanned), plain, rtol=2e-5)
    found, expected = (m.ensemble(np.arange(3), x, y, 0.1, 12) for m in (ours, theirs))
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=2e-5)


def test_training_compiles_once():
    ours = load("mlp", "celadon")
    celadon = ours.celadon
    data, params, train = ours.digits(64), ours.initial(1), celadon.jit(ours.step)
    params, _ = train(params, *data, 0.1)
    with celadon.events.watching() as seen:
        for rate in (0.1, 0.05, 0.01):
            params, _ = train(params, *data, rate)
    assert not {"trace", "compile", "fallback"} & {event.kind for event in seen}


def test_the_gradient_of_a_recurrent_network():
    ours, theirs = both("rnn")
    arguments = ours.arguments(20, 4, 16)
    found, expected = ours.celadon.jit(ours.slope)(*arguments), theirs.jax.jit(theirs.slope)(*arguments)
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-4, atol=1e-5)
