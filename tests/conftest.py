"""Settings of the whole test run: JAX as the oracle on the CPU, a cache folder of our own, no limits on an example's time."""

import atexit
import gc
import os
import shutil
import tempfile

import pytest
from hypothesis import HealthCheck, settings

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_experimental_ynn_fusion_type=")
if "CELADON_CACHE_DIR" not in os.environ:
    os.environ["CELADON_CACHE_DIR"] = tempfile.mkdtemp(prefix="celadon-tests-")
    atexit.register(shutil.rmtree, os.environ["CELADON_CACHE_DIR"], ignore_errors=True)

# machines that run tests are busy
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")


def pytest_addoption(parser):
    parser.addoption("--update", action="store_true", help="write the goldens anew from what is printed now")


@pytest.fixture(scope="module", autouse=True)
def _settled():
    """What earlier modules left alive is not looked through again by each collection that a test asks for."""
    gc.collect()
    gc.freeze()
