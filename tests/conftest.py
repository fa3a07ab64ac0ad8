"""Settings of the whole test run: JAX as the oracle on the CPU, a cache folder of our own."""

import os
import tempfile

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_experimental_ynn_fusion_type=")
os.environ.setdefault("CELADON_CACHE_DIR", tempfile.mkdtemp(prefix="celadon-tests-"))


def pytest_addoption(parser):
    parser.addoption("--update", action="store_true", help="write the goldens anew from what is printed now")
