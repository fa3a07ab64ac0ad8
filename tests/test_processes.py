"""Many threads, forks, processes at once, and machines without room: right bits, or an error of the catalogue."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import celadon
import celadon.numpy as cnp
from celadon import events
from celadon.cpu import store, threads

posix = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of address space are kept by Linux only")

X = np.random.default_rng(0).standard_normal((300, 200)).astype(np.float32)
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "map": lambda x: cnp.tanh(x) * 2 + x,
    "sum": lambda x: (x * x).sum(axis=0),
    "softmax": lambda x: celadon.nn.softmax(x, axis=1),
    "product": lambda x: x.T @ x,
    "sort": lambda x: cnp.sort(x, axis=0),
    "scan": lambda x: celadon.lax.scan(lambda c, row: (c * 0.5 + row, c.sum()), x[0], x),
    "gradient": lambda x: celadon.grad(lambda x: cnp.log1p(cnp.exp(x)).sum())(x),
    "take": lambda x: cnp.take(x, cnp.argsort(x[:, 0]), axis=0),
}


def bytes_of(results: Any) -> list[bytes]:
    return [np.asarray(x).tobytes() for x in celadon.tree.leaves(results)]


def at_once(count: int, work: Callable[[int], None]) -> None:
    """`work(k)` in as many threads, started together; the first error is raised here."""
    barrier, failed = threading.Barrier(count), []

    def run(k: int) -> None:
        try:
            barrier.wait()
            work(k)
        except BaseException as error:
            failed.append(error)

    workers = [threading.Thread(target=run, args=(k,)) for k in range(count)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if failed:
        raise failed[0]


@pytest.fixture(scope="module")
def wanted() -> dict[str, list[bytes]]:
    """The bits of each function, from one thread."""
    threads.set_threads(1)
    try:
        return {name: bytes_of(celadon.jit(function)(X)) for name, function in FUNCTIONS.items()}
    finally:
        threads.set_threads(None)


# Threads


@pytest.mark.parametrize("team", [1, 3])
def test_eight_threads_call_different_programs_first_and_again(wanted: dict[str, list[bytes]], team: int) -> None:
    celadon.clear_caches()
    jitted = {name: celadon.jit(function) for name, function in FUNCTIONS.items()}
    names, found = list(jitted), []
    threads.set_threads(team)

    def work(k: int) -> None:
        for turn in range(40):
            name = names[(k + turn) % len(names)]
            found.append(bytes_of(jitted[name](X)) == wanted[name])

    try:
        at_once(8, work)
    finally:
        threads.set_threads(None)
    assert found == [True] * 320


@pytest.mark.parametrize("name", FUNCTIONS)
def test_eight_threads_call_one_program(wanted: dict[str, list[bytes]], name: str) -> None:
    jitted, found = celadon.jit(FUNCTIONS[name]), []
    at_once(8, lambda k: found.extend(bytes_of(jitted(X)) == wanted[name] for _ in range(20)))
    assert found == [True] * 160


def test_eight_threads_call_with_arrays_of_their_own() -> None:
    """Different shapes of one structure at once: plans and frames are made beside each other."""
    jitted = celadon.jit(lambda x, s: cnp.cumsum(x * s, axis=0)[::-1] + x.sum())
    wrong = []

    def work(k: int) -> None:
        for turn in range(30):
            x = np.full((5 + k, 3 + turn % 5), 0.25 * (k + 1), np.float32)
            expected = np.cumsum(x * np.float32(2), axis=0)[::-1] + x.sum()
            wrong.extend([(k, turn)] if not np.array_equal(jitted(x, 2.0), expected) else [])

    at_once(8, work)
    assert wrong == []


def test_donated_arrays_and_callbacks_in_eight_threads() -> None:
    def host(x: Any) -> Any:
        return np.asarray(x) * 2

    called = celadon.jit(lambda x: celadon.pure_callback(host, celadon.ShapeDtypeStruct(x.shape, x.dtype), x) + 1)
    donated = celadon.jit(lambda x: x + 1, donate_argnums=0)
    found = []

    def work(k: int) -> None:
        for _ in range(25):
            x = cnp.full((64,), float(k))
            found.append((k, float(donated(x)[5]), float(called(cnp.full((8,), float(k)))[3])))

    at_once(8, work)
    assert len(found) == 200
    assert set(found) == {(k, k + 1.0, 2.0 * k + 1.0) for k in range(8)}


# Forks


def said(program: str, **environment: str) -> list[str]:
    """What a new process prints, without a word of complaint; Python itself dislikes forks with threads."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", textwrap.dedent(program)], capture_output=True, text=True,
        env={**os.environ, **environment}, timeout=240,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout.split()


FORKED = """
    import multiprocessing, os, threading
    import numpy as np, celadon, celadon.numpy as cnp
    from celadon.cpu import threads

    threads.set_threads(3)
    f = celadon.jit(lambda x: cnp.sort(cnp.tanh(x) @ x.T, axis=1).sum(axis=0))
    x = np.random.default_rng(0).standard_normal((600, 300)).astype(np.float32)
    wanted = np.asarray(f(x)).tobytes()

    def work(k):
        fresh = celadon.jit(lambda x: cnp.cos(x) + k)(np.zeros(2, np.float32)).tolist() == [1.0 + k] * 2
        return fresh and all(np.asarray(f(x)).tobytes() == wanted for _ in range(3))
"""


@posix
def test_a_pool_of_forked_processes_computes() -> None:
    pool = """
        with multiprocessing.get_context("fork").Pool(3) as pool:
            print(sum(pool.map(work, range(9))), np.asarray(f(x)).tobytes() == wanted)
    """
    assert said(textwrap.dedent(FORKED) + textwrap.dedent(pool)) == ["9", "True"]


@posix
def test_forks_while_threads_compute_and_compile() -> None:
    forks = """
        stop = []
        def busy(k):
            n = 0
            while not stop:
                n += 1
                f(x)
                celadon.jit(lambda x: x * n + k)(1.0)
        workers = [threading.Thread(target=busy, args=(k,)) for k in range(2)]
        for worker in workers: worker.start()
        codes = []
        for k in range(6):
            child = os.fork()
            if not child:
                os._exit(0 if work(k) else 1)
            codes.append(os.waitpid(child, 0)[1])
        stop.append(1)
        for worker in workers: worker.join()
        print(codes == [0] * 6)
    """
    assert said(textwrap.dedent(FORKED) + textwrap.dedent(forks)) == ["True"]


# The cache folder


COMPILING = """
    import warnings
    warnings.simplefilter("error")
    import numpy as np, celadon, celadon.numpy as cnp
    from celadon import events
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    found = [celadon.jit(lambda x: cnp.tanh(x) * 2 + x.sum(axis=k))(x[:3, :3]) for k in (0, 1)]
    found.append(celadon.jit(lambda x: cnp.sort(x) @ x.T)(x))
    right = np.array_equal(found[2], x @ x.T)
    print(int(right), sum(e.facts["compiled"] for e in events.log if e.kind == "compile"))
    print(*[e.facts["action"] for e in events.log if e.kind == "store"])
"""


def test_eight_processes_with_one_cold_folder(tmp_path: Any) -> None:
    environment = {**os.environ, "CELADON_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "-c", textwrap.dedent(COMPILING)]
    running = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    found = [one.communicate(timeout=240)[0].split() for one in running]
    assert [one.returncode for one in running] == [0] * 4
    assert all(words[0] == "1" and len(words) == 2 for words in found), "right, and no complaint of the store"
    assert said(COMPILING, CELADON_CACHE_DIR=str(tmp_path / "cache")) == ["1", "0"]
    assert all(path.suffix == ".code" for path in (tmp_path / "cache").iterdir())


class _Full:
    """A file on a disk that fills up: half of what is written goes in."""

    def __init__(self, file: Any):
        self.file = file

    def __enter__(self) -> _Full:
        return self

    def __exit__(self, *error: Any) -> None:
        self.file.close()

    def write(self, content: bytes) -> None:
        self.file.write(content[: len(content) // 2])
        self.file.flush()
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_disk_that_fills_up_costs_a_compile_only(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = os.fdopen
    store.set_folder(tmp_path / "cache")
    monkeypatch.setattr(store.os, "fdopen", lambda fd, mode: _Full(whole(fd, mode)) if mode == "wb" else whole(fd, mode))
    try:
        with events.watching() as seen:
            found = celadon.jit(lambda x: cnp.arctan(x) * 7 - cnp.hypot(x, 3))(X)
            store.settle()
    finally:
        monkeypatch.undo()
        store.set_folder(None)
    np.testing.assert_allclose(found, np.arctan(X) * 7 - np.hypot(X, 3), rtol=1e-5, atol=1e-5)
    reasons = {event.facts["reason"] for event in seen if event.kind == "store"}
    assert reasons == {os.strerror(errno.ENOSPC)}
    assert list((tmp_path / "cache").iterdir()) == []


@posix
def test_an_entry_of_another_version_is_not_taken(tmp_path: Any) -> None:
    """As a whole other release would write it: the key has the version, so nothing of it is even looked at."""
    folder = str(tmp_path / "cache")
    other = "from celadon.cpu import store\nstore._identity = lambda: 'another processor'\n"
    first = said(other + textwrap.dedent(COMPILING), CELADON_CACHE_DIR=folder)
    second = said(COMPILING, CELADON_CACHE_DIR=folder)
    assert first == second
    assert int(second[1]) > 0


@posix
def test_a_folder_that_is_a_link_to_one_that_others_may_write_is_not_trusted(tmp_path: Any) -> None:
    open_to_all = tmp_path / "everybody"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    (tmp_path / "cache").symlink_to(open_to_all)
    right, compiled, *complaints = said(COMPILING, CELADON_CACHE_DIR=str(tmp_path / "cache"))
    assert (right, int(compiled) > 0, set(complaints) >= {"save"}) == ("1", True, True)
    assert list(open_to_all.iterdir()) == []


# Memory


@linux
@pytest.mark.parametrize("program", [
    "cnp.sort(x, axis=0)", "cnp.tile(x, (100, 1))", "x[None] * cnp.arange(100.0)[:, None, None]", "x @ x.T",
    "celadon.lax.scan(lambda c, i: (c, x * c), 1.0, cnp.arange(100.0))[1]", "cnp.linalg.svd(x.T @ x)[0]",
])  # fmt: skip
def test_memory_that_ends_is_said_and_the_process_goes_on(program: str) -> None:
    """The limit is set when all is compiled; each program needs more than it leaves, and runs again without it."""
    found = said(f"""
        import resource
        import numpy as np, celadon, celadon.numpy as cnp
        from celadon import errors, memory
        from celadon.cpu import threads
        x = cnp.asarray(np.random.default_rng(0).standard_normal((6000, 400)).astype(np.float32))
        f = celadon.jit(lambda x: {program})
        f(x[:600, :300])
        small = celadon.jit(lambda x: cnp.tanh(x).sum())
        wanted = float(small(x[:5]))
        memory.trim()
        used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 20), resource.RLIM_INFINITY))
        try:
            f(x)
            print("done")
        except MemoryError as error:
            print(type(error).__name__, isinstance(error, errors.CeladonError))
        print(float(small(x[:5])) == wanted)
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        print(celadon.tree.leaves(f(x))[0].size > 0)
    """)
    assert found == ["OutOfMemory", "True", "True", "True"]
