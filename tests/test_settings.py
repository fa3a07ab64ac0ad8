"""Settings: under JAX's names, from the first line of a program, from the environment, and per thread."""

import os
import subprocess
import sys
import threading

import pytest

import celadon
from celadon import errors, settings


def printed(program, **environment):
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env={**os.environ, **environment}
    )
    return done.stdout


EVERY = ("jax_enable_x64", "jax_log_compiles", "jax_explain_cache_misses", "jax_no_tracing", "jax_disable_jit",
         "jax_compilation_cache_dir", "celadon_executor", "celadon_lifting", "celadon_churn_limit")  # fmt: skip


def test_every_setting_is_there_before_the_first_jit():
    program = f"import celadon\nfor name in {EVERY}: celadon.config.update(name, celadon.config.read(name))\nprint('set')"
    assert printed(program) == "set\n"


def test_the_environment_sets_them():
    program = "import celadon.numpy as cnp; print(cnp.arange(2.0).dtype)"
    assert printed(program, JAX_ENABLE_X64="1") == "float64\n"
    assert printed(program, JAX_ENABLE_X64="0") == "float32\n"
    assert printed(program, JAX_ENABLE_X64="", CELADON_EXECUTOR="") == "float32\n"
    program = "import celadon; print(celadon.config.jax_log_compiles, celadon.config.celadon_executor)"
    assert printed(program, JAX_LOG_COMPILES="true", CELADON_EXECUTOR="reference") == "True reference\n"


def test_a_name_that_is_none_is_refused_with_the_names_that_are():
    with pytest.raises(errors.SettingUnknown, match="jax_enable_x64"):
        celadon.config.update("jax_enable_x65", True)
    with pytest.raises(AttributeError):
        _ = celadon.config.jax_enable_x65


def test_an_override_is_this_threads_alone():
    seen = []
    with celadon.log_compiles(True):
        thread = threading.Thread(target=lambda: seen.append(celadon.config.jax_log_compiles))
        thread.start()
        thread.join()
        seen.append(celadon.config.jax_log_compiles)
    assert seen == [False, True]
    assert celadon.config.jax_log_compiles is False


def test_only_keyed_settings_are_in_the_key():
    before = settings.key()
    with celadon.log_compiles(True):
        assert settings.key() == before
    with celadon.enable_x64(True):
        assert settings.key() != before
    assert settings.key() == before
