"""Bad input: each kind raises a clear error of the catalogue (or none, for the disk cache); what stood before still works."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import celadon
import celadon.numpy as cnp
from celadon import errors, events, memory

posix = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def double(x, n):
    return x * n


# Static arguments


@pytest.mark.parametrize(("value", "kind"), [
    ([1, 2], "list"), ({"a": 1}, "dict"), ({1}, "set"), (np.ones(2), "ndarray"), ((1, [2]), "tuple"), (slice(1, [2]), "slice"),
])  # fmt: skip
def test_unhashable_static_names_argument_function_and_type(value, kind):
    f = celadon.jit(lambda x, n: x, static_argnums=1)
    with pytest.raises(errors.StaticArgumentUnhashable, match=rf"'n' of <lambda>.*{kind}"):
        f(1.0, value)
    assert float(f(1.0, 3)) == 1.0
    assert f._cache_size() == 1


def test_an_array_as_static_value_is_unhashable():
    with pytest.raises(errors.StaticArgumentUnhashable, match="'n'"):
        celadon.jit(double, static_argnums=1)(1.0, cnp.ones(2))


def test_a_hash_that_raises_is_reported_with_its_reason():
    class Broken:
        def __hash__(self):
            raise RuntimeError("no hash today")

    with pytest.raises(errors.StaticArgumentUnhashable, match="no hash today"):
        celadon.jit(lambda x, n: x, static_argnums=1)(1.0, Broken())


def test_an_equality_that_raises_leaves_the_cache_usable():
    class Broken:
        def __hash__(self):
            return 7

        def __eq__(self, other):
            raise RuntimeError("incomparable")

    f = celadon.jit(lambda x, n: x + 1, static_argnums=1)
    first = Broken()
    assert float(f(1.0, first)) == 2.0
    with pytest.raises(RuntimeError, match="incomparable"):
        f(1.0, Broken())
    assert float(f(1.0, first)) == 2.0
    assert float(f(1.0, 5)) == 2.0


@pytest.mark.parametrize(("options", "error", "words"), [
    (dict(static_argnums=2), errors.ArgnumsOutOfRange, r"static_argnums of double has the index 2.*len\(args\) is 2"),
    (dict(static_argnums=-3), errors.ArgnumsOutOfRange, "-3"),
    (dict(donate_argnums=7), errors.ArgnumsOutOfRange, "donate_argnums.*7"),
    (dict(static_argnums=(1, 1)), errors.ArgumentsRepeated, "static_argnums"),
    (dict(static_argnums=(1, -1)), errors.ArgumentsRepeated, "static_argnums"),
    (dict(donate_argnums=(0, 0)), errors.ArgumentsRepeated, "donate_argnums"),
    (dict(static_argnames=("n", "n")), errors.ArgumentsRepeated, "static_argnames"),
    (dict(static_argnames="k"), errors.ArgnamesUnknown, r"'k'.*x, n"),
    (dict(donate_argnames=("x", "k")), errors.ArgnamesUnknown, "donate_argnames.*'k'"),
    (dict(static_argnums=1.0), errors.ArgnumsNotIntegers, r"1\.0"),
    (dict(static_argnums="n"), errors.ArgnumsNotIntegers, "'n'"),
    (dict(static_argnums=True), errors.ArgnumsNotIntegers, "True"),
    (dict(static_argnames=1), errors.ArgnamesNotStrings, "1"),
    (dict(static_argnums=1, donate_argnums=1), errors.StaticAndDonated, "1"),
])  # fmt: skip
def test_wrong_selections_of_arguments(options, error, words):
    with pytest.raises(error, match=words):
        celadon.jit(double, **options)


def test_an_index_beyond_the_arguments_of_a_call():
    f = celadon.jit(lambda *args: args[0], static_argnums=2)
    assert float(f(1.0, 2.0, 3)) == 1.0
    with pytest.raises(ValueError, match=r"(?s)2.*len\(args\)"):
        f(1.0)
    assert float(f(4.0, 2.0, 3)) == 4.0


def test_a_missing_or_surplus_argument_is_the_functions_own_error():
    f = celadon.jit(double, static_argnums=1)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'n'"):
        f(1.0)
    with pytest.raises(TypeError, match="positional argument"):
        f(1.0, 2, 3)
    assert float(f(1.0, 2)) == 2.0


def test_an_exception_while_tracing_is_the_users_own_and_is_not_remembered():
    fail = [True]

    def f(x):
        y = cnp.sin(x)
        if fail[0]:
            raise KeyError("mine")
        return y * 0 + 1

    jitted = celadon.jit(f)
    with pytest.raises(KeyError, match="mine"):
        jitted(1.0)
    assert jitted._cache_size() == 0
    assert isinstance(cnp.ones(2) + 1, celadon.Array)
    fail[0] = False
    assert float(jitted(1.0)) == 1.0


# Arrays


@pytest.mark.parametrize(("value", "wide"), [(2**31, False), (-(2**31) - 1, False), (2**63, True), (-(2**63) - 1, True)])
def test_integers_too_large_are_named_everywhere(value, wide):
    with celadon.enable_x64(wide):
        for use in (lambda: celadon.jit(lambda x: x)(value), lambda: cnp.ones(2, "int32") + value, lambda: cnp.asarray(value)):
            with pytest.raises(errors.IntegerTooLarge, match=str(value)):
                use()


@pytest.mark.parametrize("value", [2**31 - 1, -(2**31)])
def test_the_largest_integers_are_fine(value):
    assert int(celadon.jit(lambda x: x)(value)) == value


@pytest.mark.parametrize("use", [
    lambda x: celadon.jit(lambda a: a)(x), lambda x: cnp.asarray(x), lambda x: cnp.sin(x), lambda x: cnp.ones(1) + x,
])  # fmt: skip
def test_masked_arrays_are_refused(use):
    with pytest.raises(errors.MaskedArrayInput):
        use(np.ma.masked_array([1.0], [True]))


@pytest.mark.parametrize("value", ["text", b"bytes", object(), np.float32, len])
def test_objects_that_are_no_arrays(value):
    f = celadon.jit(lambda x, tree: x)
    with pytest.raises(errors.ArgumentNotArray, match=r"tree\['deep'\]\[1\]") as caught:
        f(1.0, {"deep": [1.0, value]})
    assert isinstance(caught.value, TypeError)
    assert float(f(1.0, {"deep": [1.0, 2.0]})) == 1.0


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("op", [cnp.add, cnp.multiply, cnp.less, lambda x, y: x - y, lambda x, y: cnp.where(x > 0, x, y)])
def test_mismatched_shapes_are_both_named_with_the_line(op, inside):
    f = celadon.jit(lambda x, y: op(x, y)) if inside else op
    with pytest.raises(errors.ShapesDiffer, match=r"(?s)\(2, 3\).*\(4,\)|\(4,\).*\(2, 3\)") as caught:
        f(cnp.ones((2, 3)), cnp.ones(4))
    assert isinstance(caught.value, TypeError) and isinstance(caught.value, ValueError)
    assert "test_robustness.py" in str(caught.value)


@pytest.mark.parametrize("value", [np.array(["a"]), np.array([object()]), np.array([1], "datetime64[s]")])
def test_arrays_of_other_dtypes_name_argument_and_dtype(value):
    f = celadon.jit(lambda x, tree: x)
    with pytest.raises(errors.DTypeNotSupported, match=str(value.dtype)[:4].replace("<", ".")):
        f(1.0, {"deep": [1.0, value]})


def test_mismatched_contraction_names_both_shapes():
    with pytest.raises(errors.CeladonError, match=r"(?s)2, 3.*4, 5") as caught:
        cnp.ones((2, 3)) @ cnp.ones((4, 5))
    assert "test_robustness.py" in str(caught.value)


# Memory


@pytest.mark.parametrize("use", [
    lambda: cnp.zeros((1 << 20, 1 << 20, 1 << 10)),
    lambda: celadon.jit(lambda x: cnp.broadcast_to(x, (1 << 20, 1 << 20, 1 << 10)) + 1)(1.0),
    lambda: celadon.jit(lambda x: (cnp.broadcast_to(x, (1 << 20, 1 << 20, 1 << 10)) + x).sum())(1.0),
    lambda: cnp.ones((1 << 20,))[:, None, None] * cnp.ones((1 << 20, 1 << 10)),
])  # fmt: skip
def test_memory_exhausted_is_catalogued_or_not_needed(use):
    """Also where fusion stores none of it: 2^50 elements take days."""
    with pytest.raises(errors.OutOfMemory, match="bytes") as caught:
        use()
    assert isinstance(caught.value, MemoryError)
    memory.trim()
    assert float(celadon.jit(lambda x: x + 1)(1.0)) == 2.0


def test_extents_beyond_the_machine_are_catalogued():
    with pytest.raises(errors.CeladonError):
        cnp.zeros((1 << 40, 1 << 40))


# The disk cache, from a process of its own


PROGRAM = """
    import warnings
    warnings.simplefilter("error")
    import numpy as np, celadon, celadon.numpy as cnp
    from celadon import events
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    found = celadon.jit(lambda x: cnp.tanh(x) * 2 + x.sum(axis=1, keepdims=True))(x)
    expected = np.tanh(x) * 2 + x.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    compiled = sum(e.facts["compiled"] for e in events.log if e.kind == "compile")
    print(compiled, sum(e.kind == "store" for e in events.log), sum(e.kind == "fallback" for e in events.log))
"""


def run_with(folder, program=PROGRAM):
    """Kernels compiled, complaints of the store and fall-backs, of a fresh process with this cache folder."""
    environment = {**os.environ, "CELADON_CACHE_DIR": str(folder)}
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return tuple(map(int, done.stdout.split()))


@pytest.fixture
def warm(tmp_path):
    folder = tmp_path / "cache"
    compiled, complaints, fallbacks = run_with(folder)
    assert compiled > 0
    assert (complaints, fallbacks) == (0, 0)
    return folder


def entries(folder):
    return [path for path in folder.rglob("*") if path.is_file()]


def test_a_second_process_compiles_nothing(warm):
    assert run_with(warm) == (0, 0, 0)


@pytest.mark.parametrize("damage", [
    lambda content: b"", lambda content: content[:40], lambda content: content[:-8],
    lambda content: content[:-1] + bytes([content[-1] ^ 1]), lambda content: os.urandom(len(content)),
], ids=["empty", "head", "cut", "flipped", "noise"])  # fmt: skip
def test_a_damaged_cache_is_compiled_anew_and_repaired(warm, damage):
    for path in entries(warm):
        path.write_bytes(damage(path.read_bytes()))
    compiled, complaints, _ = run_with(warm)
    assert compiled > 0
    assert complaints > 0
    assert run_with(warm) == (0, 0, 0)


@posix
def test_entries_that_others_may_write_are_not_run(warm):
    for path in entries(warm):
        path.chmod(0o666)
    compiled, complaints, _ = run_with(warm)
    assert compiled > 0
    assert complaints > 0
    assert all(not path.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH) for path in entries(warm))


@posix
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_entries_of_another_user_are_not_run(warm):
    for path in entries(warm):
        os.chown(path, 12345, 12345)
    compiled, complaints, _ = run_with(warm)
    assert compiled > 0
    assert complaints > 0


def test_a_folder_that_can_not_be_made(tmp_path):
    (tmp_path / "file").write_text("in the way")
    compiled, complaints, fallbacks = run_with(tmp_path / "file" / "cache")
    assert compiled > 0
    assert complaints > 0
    assert fallbacks == 0


@posix
def test_a_folder_that_can_not_be_written(tmp_path):
    os.symlink("/proc/self", tmp_path / "cache") if os.path.isdir("/proc/self") else pytest.skip("needs /proc")
    compiled, complaints, _ = run_with(tmp_path / "cache")
    assert compiled > 0
    assert complaints > 0


# Threads and processes


def test_eight_threads_make_one_compile():
    celadon.clear_caches()
    f = celadon.jit(lambda x, n: cnp.sqrt(x) * n - x / n, static_argnums=1)
    barrier = threading.Barrier(8)
    x = cnp.arange(1.0, 100.0)
    found, failed = [], []

    def work():
        try:
            barrier.wait()
            for n in (3.0, 5.0):
                found.append((n, np.asarray(f(x, n))))
        except BaseException as error:
            failed.append(error)

    with events.watching() as seen:
        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert failed == []
    assert sum(event.kind == "compile" for event in seen) == 1
    host = np.asarray(x)
    assert len(found) == 16
    for n, result in found:
        np.testing.assert_array_equal(result, np.sqrt(host) * np.float32(n) - host / np.float32(n))
    assert f._cache_size() == 2


def test_threads_trace_apart():
    """A trace in one thread is not seen by another: eager calls go on beside it."""
    inside, leave = threading.Event(), threading.Event()

    def slow(x):
        inside.set()
        assert leave.wait(30)
        return x + 1

    thread = threading.Thread(target=lambda: celadon.jit(slow)(1.0))
    thread.start()
    assert inside.wait(30)
    eager = cnp.ones(3) * 2
    leave.set()
    thread.join()
    np.testing.assert_array_equal(eager, [2, 2, 2])


@posix
def test_a_child_process_goes_on_computing():
    child = """
        import os, numpy as np, celadon, celadon.numpy as cnp
        f = celadon.jit(lambda x: cnp.sin(x) @ x.T)
        x = np.random.default_rng(0).standard_normal((700, 700)).astype(np.float32)
        before = np.asarray(f(x))
        pid = os.fork()
        same = np.array_equal(np.asarray(f(x)), before)
        fresh = float(celadon.jit(lambda x: cnp.cos(x) + 2)(0.0)) == 3.0
        if pid == 0:
            os._exit(0 if same and fresh else 1)
        print(int(same and fresh), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    """
    environment = {**os.environ, "PYTHONWARNINGS": "ignore::DeprecationWarning"}  # Python 3.12 dislikes forks with threads
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(child)], env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.stdout.split() == ["1", "0"], done.stderr


def test_where_no_thread_can_be_started_programs_compile_and_are_kept(monkeypatch, tmp_path):
    def refuse(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setenv("CELADON_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(threading.Thread, "start", refuse)
    x = cnp.arange(7.0) + 0.25
    found = celadon.jit(lambda x: (cnp.tanh(x).sum(), cnp.sort(x * 1.5)[::-1], cnp.cumsum(x) / 3))(x)
    assert np.allclose(found[2], np.cumsum(np.arange(7.0) + 0.25) / 3)
    assert any(name.endswith(".code") for name in os.listdir(tmp_path))
