"""Specs and targets of the command line: every form that is meant, and a clear error for every other."""

import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from celadon import errors
from celadon.ledger import specs, targets
from celadon.ledger.alias import answering, answering_to_jax


@pytest.mark.parametrize(("text", "shape", "dtype"), [
    ("x=f32[2048,3]", (2048, 3), "float32"), ("x=f32[]", (), "float32"), ("x=i8[7]", (7,), "int8"),
    ("x=bool[2,2]", (2, 2), "bool"), ("x=bf16[4]", (4,), "bfloat16"), ("x=c64[2]", (2,), "complex64"),
    ("x=float64[0]", (0,), "float64"), ("x = u32[1, 2]", (1, 2), "uint32"),
])  # fmt: skip
def test_arrays(text, shape, dtype):
    name, value = specs.argument(text)
    assert (name, value.shape, value.dtype.name) == ("x", shape, dtype)


def test_the_same_spec_gives_the_same_numbers():
    first, again = specs.argument("x=f32[100]")[1], specs.argument("x=f32[100]")[1]
    assert np.array_equal(first, again) and first.std() > 0.5


def test_trees_and_scalars():
    assert specs.argument("n=-3") == ("n", -3)
    assert specs.argument("s=2.5") == ("s", 2.5)
    _, value = specs.argument("p={'w': f32[2,3], 'b': [f32[3], 1.0], 't': (i32[2],)}")
    assert value["w"].shape == (2, 3) and value["b"][1] == 1.0 and value["t"][0].dtype == np.int32


def test_files(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(6))
    assert specs.argument(f"x={tmp_path}/x.npy")[1].tolist() == [0, 1, 2, 3, 4, 5]
    assert specs.argument(f"x=['{tmp_path}/x.npy', 1]")[1][0].shape == (6,)


@pytest.mark.parametrize(("text", "error"), [
    ("x", errors.SpecMalformed), ("=3", errors.SpecMalformed), ("x=", errors.SpecMalformed),
    ("x=f32[2,", errors.SpecMalformed), ("x=f32[-1]", errors.SpecMalformed), ("x=f32[2.0]", errors.SpecMalformed),
    ("x=f32[n]", errors.SpecMalformed), ("x=open('f')", errors.SpecMalformed), ("x=f33[2]", errors.SpecDTypeUnknown),
    ("x=nothing.npy", errors.SpecFileUnreadable),
])  # fmt: skip
def test_wrong_specs(text, error):
    with pytest.raises(error):
        specs.argument(text)


def test_a_damaged_file(tmp_path):
    (tmp_path / "x.npy").write_bytes(b"no array")
    with pytest.raises(errors.SpecFileUnreadable, match=re.escape(str(tmp_path))):
        specs.argument(f"x={tmp_path}/x.npy")
    with pytest.raises(errors.SpecFileUnreadable, match="directory"):
        specs.argument(f"x=['{tmp_path}']")
    np.savez(tmp_path / "x.npy.npz", a=np.ones(2))
    (tmp_path / "x.npy.npz").rename(tmp_path / "x.npy")
    with pytest.raises(errors.SpecFileUnreadable, match=r"no \.npy file"):
        specs.argument(f"x={tmp_path}/x.npy")


def test_a_static_nan_is_a_float():
    assert np.isnan(specs.static("s=nan")[1][0]) and specs.static("s=nano")[1] == ["nano"]


@pytest.mark.parametrize(("text", "values"), [
    ("s=2.0,3.0", [2.0, 3.0]), ("s=2", [2]), ("s=1,1.0,True", [1, 1.0, True]), ("s=(1,2),(3,)", [(1, 2), (3,)]),
    ("s='a,b',c", ["a,b", "c"]), ("s=None,", [None]), ("s=-1e-3", [-0.001]), ("s=[1,2]", [[1, 2]]),
    ("s=frozenset({1}),slice(3),int('7')", [frozenset({1}), slice(3), 7]), ("s=inf,-inf", [np.inf, -np.inf]),
    ("s=open('f')", None), ("s=eval('1')", None), ("s=range(", None),
])  # fmt: skip
def test_static_values(text, values):
    if values is None:
        with pytest.raises(errors.SpecMalformed):
            specs.static(text)
    else:
        found = specs.static(text)[1]
        assert found == values and [*map(type, found)] == [*map(type, values)]


def test_static_values_of_the_targets_module():
    module = SimpleNamespace(Config=lambda n, k=0: ("config", n, k), nested=SimpleNamespace(level=3))
    found = specs.static("c=Config(2),Config(2, k=nested.level),other", module)[1]
    assert found == [("config", 2, 0), ("config", 2, 3), "other"]
    for wrong in ("c=Config()", "c=Missing(1)", "c=nested.depth", "c=1+x", "c=1 2"):
        with pytest.raises(errors.SpecMalformed):
            specs.static(wrong, module)


def test_binding():
    def f(x, /, y, n=1, *, k=2, **more):
        return x, y, n, k, more

    assert specs.bind(f, {"y": 2, "x": 1}) == ((1, 2), {})
    assert specs.bind(f, {"x": 1, "y": 2, "k": 3, "z": 4}) == ((1, 2), {"k": 3, "z": 4})
    with pytest.raises(errors.ArgumentMissing, match="y"):
        specs.bind(f, {"x": 1})
    with pytest.raises(errors.ArgumentUnknown, match="x, y"):
        specs.bind(lambda x, y: x, {"x": 1, "y": 2, "z": 3})
    with pytest.raises(errors.ArgumentGivenTwice):
        specs.merged([("x", 1), ("x", 2)], [])


SOURCE = """
import jax
import jax.numpy as jnp
from jax import lax, numpy
from neighbour import gain

@jax.jit
def f(x, n=2):
    return jnp.tanh(x) * n * gain

class Model:
    def __call__(self, x):
        return x

model = Model()
number = 3
"""


@pytest.fixture
def target(tmp_path):
    (tmp_path / "net.py").write_text(SOURCE)
    (tmp_path / "neighbour.py").write_text("import jax.numpy as jnp\ngain = 2.0\n")
    return f"{tmp_path}/net.py"


def test_a_function_written_for_jax_gets_celadon_or_jax(target):
    before = {name: module for name, module in sys.modules.items() if name.split(".")[0] in ("jax", "celadon")}
    path = list(sys.path)
    ours, theirs = targets.load(f"{target}:f"), targets.load(f"{target}:f", "jax")
    assert ours.module.jnp.__name__ == "celadon.numpy" and theirs.module.jnp.__name__ == "jax.numpy"
    assert ours.module.lax.__name__ == "celadon.lax"
    assert ours.function.__name__ == "f"
    assert not hasattr(ours.function, "lower") and not hasattr(theirs.function, "lower")
    assert sys.path == path and "neighbour" not in sys.modules and "net" not in sys.modules
    after = {name: sys.modules.get(name) for name in before}
    assert after == before


def test_a_function_written_for_celadon_runs_on_jax(tmp_path):
    source = "import celadon as cel\nimport celadon.numpy as cnp\ndef f(x): return cnp.exp(x)\n"
    (tmp_path / "ours.py").write_text(source)
    loaded = targets.load(f"{tmp_path}/ours.py:f", "jax")
    assert loaded.module.cel.__name__ == "jax" and float(loaded.function(0.0)) == 1.0


def test_a_method_keeps_its_object(tmp_path):
    source = "import jax\nclass Model:\n    @jax.jit\n    def call(self, x):\n        return x + 1\nmodel = Model()\n"
    (tmp_path / "methods.py").write_text(source)
    for library in ("celadon", "jax"):
        assert targets.load(f"{tmp_path}/methods.py:model.call", library).function(3) == 4


def test_other_callables(target):
    assert targets.load(f"{target}:model").function(3) == 3
    assert targets.load(f"{target}:Model.__call__").function.__name__ == "__call__"


@pytest.mark.parametrize(("text", "error", "words"), [
    ("scale", errors.TargetMalformed, "scale"), (":f", errors.TargetMalformed, ":f"),
    ("a.py:", errors.TargetMalformed, "a.py:"), ("a.py:f()", errors.TargetMalformed, "f()"),
    ("nowhere.py:f", errors.TargetNotFound, "nowhere.py"),
    ("no.such.module:f", errors.TargetNotFound, "no.such.module"), ("json:nothing", errors.TargetNameMissing, "dumps"),
    ("math:pi", errors.TargetNotCallable, "float"),
])  # fmt: skip
def test_wrong_targets(text, error, words):
    with pytest.raises(error, match=re.escape(words)):
        targets.load(text)


@pytest.mark.parametrize(("source", "words"), [
    ("def f(:\n", "SyntaxError"), ("1 / 0\n", "broken.py:1"), ("import jax.no_such_part\n", "no_such_part"),
    ("import nowhere_to_be_found\n", "nowhere_to_be_found"), ("raise SystemExit(3)\n", "SystemExit"),
])  # fmt: skip
def test_files_that_do_not_import(tmp_path, source, words):
    (tmp_path / "broken.py").write_text(source)
    with pytest.raises(errors.TargetImportFailed, match=re.escape(words)):
        targets.load(f"{tmp_path}/broken.py:f")


@pytest.mark.parametrize("text", ["x=f32[1000000,1000000,1000]", "x=i8[99999999999999999999]", "x=f32[0,99999999999999999999]"])
def test_an_array_that_fits_no_memory(text):
    with pytest.raises(errors.OutOfMemory):
        specs.argument(text)


def test_the_alias_ends_with_its_block():
    import jax

    with answering_to_jax():
        import jax.monitoring
        import jax.numpy

        assert jax.monitoring.__name__ == "celadon.monitoring" and hasattr(jax.monitoring, "__path__")
        assert jax.numpy.__name__ == "celadon.numpy"
        with pytest.raises(ModuleNotFoundError, match="no module"):
            import jax.experimental.no_such_thing
    import jax

    assert jax.__name__ == "jax" and sys.modules["jax.numpy"].__name__ == "jax.numpy"
    with answering("jax"):
        import celadon

        assert celadon.__name__ == "jax"
    import celadon.monitoring

    assert celadon.monitoring.__spec__.name == "celadon.monitoring" and not hasattr(celadon.monitoring, "__path__")
