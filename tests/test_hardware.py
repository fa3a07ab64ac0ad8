"""Devices: one CPU under JAX's names, whatever is imported first, and the arrays that live on it."""

import gc
import subprocess
import sys

import jax
import numpy as np
import pytest

import celadon
import celadon.numpy as cnp
from celadon import errors

FUNCTIONS = ("devices", "local_devices", "device_count", "local_device_count", "default_backend", "process_index")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_answer_as_jax_does_on_one_cpu(name):
    found = getattr(celadon, name)()
    expected = getattr(jax, name)()
    assert type(found) is type(expected)
    if isinstance(found, list):
        assert [d.platform for d in found] == ["cpu"]
    elif name not in ("device_count", "local_device_count"):
        assert found == expected
    else:
        assert found == 1


@pytest.mark.parametrize("first", FUNCTIONS)
def test_any_of_them_may_be_called_first(first):
    program = f"import celadon; celadon.{first}(); print(celadon.devices())"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert run.stdout == "[CpuDevice(id=0)]\n", run.stderr


def test_another_platform_is_refused():
    for function in (celadon.devices, celadon.device_count, celadon.live_arrays, celadon.process_count):
        with pytest.raises(errors.OptionUnknown, match="tpu"):
            function("tpu")


def counts(module, numpy):
    first = len(module.live_arrays())
    kept = [numpy.ones(3), numpy.arange(2) * 2]
    second = len(module.live_arrays())
    kept[0].delete()
    third = len(module.live_arrays())
    run = module.jit(lambda x: (x, x + 1))
    results = run(kept[1])
    fourth = len(module.live_arrays())
    del kept, results
    return second - first, third - first, fourth - first, len(module.live_arrays()) - first


def test_live_arrays_are_counted_as_in_jax():
    for module, numpy in ((celadon, cnp), (jax, jax.numpy)):
        counts(module, numpy)  # what is computed once, and kept
    assert counts(celadon, cnp) == counts(jax, jax.numpy)


def test_what_a_function_captured_lives_as_long_as_it_does():
    def adding(data):
        return celadon.jit(lambda x: x + data)

    before = len(celadon.live_arrays())
    run = adding(cnp.arange(3.0))
    assert run(np.ones(3, np.float32)).tolist() == [1.0, 2.0, 3.0]
    assert len(celadon.live_arrays()) == before + 1
    del run
    gc.collect()
    assert len(celadon.live_arrays()) == before
