"""Step lists: order, extents, loops and branches as steps, both entry points, and the warm start."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from hypothesis import given, strategies as st

from celadon.cpu import driver, link, llvm

KERNELS = """
define void @append(ptr %t, i64 %lo, i64 %hi) {
  %log = load ptr, ptr %t
  %t1 = getelementptr i64, ptr %t, i64 1
  %mark = load i64, ptr %t1
  %n = load i64, ptr %log
  %n1 = add i64 %n, 1
  %n2 = add i64 %n, 2
  %n3 = add i64 %n, 3
  %p1 = getelementptr i64, ptr %log, i64 %n1
  %p2 = getelementptr i64, ptr %log, i64 %n2
  %p3 = getelementptr i64, ptr %log, i64 %n3
  store i64 %mark, ptr %p1
  store i64 %lo, ptr %p2
  store i64 %hi, ptr %p3
  store i64 %n3, ptr %log
  ret void
}
define void @less(ptr %t, i64 %lo, i64 %hi) {
  %value = load ptr, ptr %t
  %t1 = getelementptr i64, ptr %t, i64 1
  %limit = load i64, ptr %t1
  %t2 = getelementptr i64, ptr %t, i64 2
  %flag = load ptr, ptr %t2
  %v = load i64, ptr %value
  %c = icmp slt i64 %v, %limit
  %b = zext i1 %c to i8
  store i8 %b, ptr %flag
  ret void
}
define void @increment(ptr %t, i64 %lo, i64 %hi) {
  %value = load ptr, ptr %t
  %old = load i64, ptr %value
  %new = add i64 %old, 1
  store i64 %new, ptr %value
  ret void
}
define void @spin(ptr %t, i64 %lo, i64 %hi) {
entry:
  br label %loop
loop:
  %v = load atomic i64, ptr %t acquire, align 8
  %set = icmp ne i64 %v, 0
  br i1 %set, label %out, label %loop
out:
  ret void
}
"""


@pytest.fixture(scope="module")
def kernels():
    library = link.load(llvm.compile_text(KERNELS), ("append", "less", "increment", "spin"))
    yield library.symbols


class Log:
    """What `append` writes: (mark, lo, hi) for each call."""

    def __init__(self, kernels):
        self.words, self.kept, self.function = np.zeros(4000, np.int64), [], kernels["append"]

    def step(self, mark, n=1, unit=1):
        self.kept.append(words(self.words.ctypes.data, mark))
        return (self.function, self.kept[-1].ctypes.data, n, unit)

    def calls(self):
        return [tuple(call) for call in self.words[1 : 1 + self.words[0]].reshape(-1, 3).tolist()]


def words(*values):
    return np.array(values, np.int64)


def run(*steps, entry="release"):
    listed = np.array(steps, np.int64).reshape(-1, 4)
    getattr(driver.runtime(), entry)(listed.ctypes.data, len(listed))


@pytest.mark.parametrize("entry", ["release", "hold"])
def test_steps_run_in_order(kernels, entry):
    log = Log(kernels)
    run(*[log.step(mark, n=mark, unit=mark) for mark in range(1, 200)], entry=entry)
    assert log.calls() == [(mark, 0, mark) for mark in range(1, 200)]


def test_an_empty_list_does_nothing():
    run()


@pytest.mark.parametrize("n, unit", [(0, 0), (0, 1), (0, 5), (5, 0), (5, 5), (5, 6), (1 << 40, 1 << 40), (1 << 40, 0)])
def test_what_is_not_split_is_called_once(kernels, n, unit):
    log = Log(kernels)
    run(log.step(1, n, unit))
    assert log.calls() == [(1, 0, n)]


@given(st.integers(0, 300), st.integers(0, 300), st.integers(0, 63), st.integers(0, 63))
def test_copy(a, b, to, source):
    lo, hi = min(a, b), max(a, b)
    given, taken = np.arange(400, dtype=np.uint8), np.zeros(400, np.uint8)
    table = words(taken.ctypes.data + to, given.ctypes.data + source)
    driver_step = (driver.runtime().copy, table.ctypes.data, hi, hi)
    if lo == 0:
        run(driver_step)
        expected = np.zeros(400, np.uint8)
        expected[to : to + hi] = given[source : source + hi]
        assert (taken == expected).all()
        return
    run((driver.runtime().copy, table.ctypes.data, hi, lo))
    assert (taken[to : to + hi] == given[source : source + hi]).all()
    assert not taken[:to].any() and not taken[to + hi :].any()


def table_of(*entries):
    """A table; what is an array among its entries is named by how far it is from the table."""
    table = np.zeros(len(entries), np.int64)
    here = table.ctypes.data
    table[:] = [x.ctypes.data - here if isinstance(x, np.ndarray) else x for x in entries]
    return table


def calling(name, table):
    return (getattr(driver.runtime(), name), table.ctypes.data, 1, 1)


@pytest.mark.parametrize("trips", [0, 1, 5, -3])
def test_repeat_counts(kernels, trips):
    log = Log(kernels)
    body = words(*log.step(7))
    table = table_of(body, 1, trips)
    run(calling("repeat", table))
    assert log.calls() == [(7, 0, 1)] * max(trips, 0)


@pytest.mark.parametrize("limit, calls", [(5, 5), (0, 0), (-1, 0)])
def test_while_tests_first(kernels, limit, calls):
    log = Log(kernels)
    value, flag = words(0), np.full(8, 255, np.uint8)
    less = words(value.ctypes.data, limit, flag.ctypes.data + 3)
    up, cell = words(value.ctypes.data), words(flag.ctypes.data)
    test = words(kernels["less"], less.ctypes.data, 1, 1)
    body = np.array([log.step(3), (kernels["increment"], up.ctypes.data, 1, 1)], np.int64)
    table = table_of(test, 1, cell, 3, body, 2)
    run(calling("while_loop", table))
    assert log.calls() == [(3, 0, 1)] * calls
    assert value[0] == calls


@pytest.mark.parametrize("index, taken", [(0, 0), (1, 1), (2, 2), (3, 2), (-1, 2), (-(2**31), 2), (2**31 - 1, 2)])
def test_branch_out_of_range_takes_the_last(kernels, index, taken):
    log = Log(kernels)
    where = np.array([-7, index, 12345], np.int32)
    cell = words(where.ctypes.data)
    lists = [np.array([log.step(mark)] * (mark + 1), np.int64) for mark in range(3)]
    table = table_of(cell, 4, 3, *(word for steps in lists for word in (steps, len(steps))))
    run(calling("branch", table), log.step(9))
    assert log.calls() == [(taken, 0, 1)] * (taken + 1) + [(9, 0, 1)]


def test_loops_nest(kernels):
    log = Log(kernels)
    body = words(*log.step(1))
    inner = table_of(body, 1, 3)
    inner_step = words(*calling("repeat", inner))
    outer = table_of(inner_step, 1, 4)
    run(calling("repeat", outer))
    assert len(log.calls()) == 12


@pytest.mark.parametrize("stop, calls", [(0, 5), (1, 0)])
def test_repeat_unless_ends_by_its_word(kernels, stop, calls):
    log, word = Log(kernels), words(stop)
    body = words(*log.step(7))
    table = table_of(body, 1, 5, word)
    run(calling("repeat_unless", table))
    assert log.calls() == [(7, 0, 1)] * calls


def test_repeat_unless_ends_in_the_middle(kernels):
    log, word = Log(kernels), words(0)
    up = words(word.ctypes.data)
    body = np.array([log.step(7), (kernels["increment"], up.ctypes.data, 1, 1)], np.int64)
    table = table_of(body, 2, 5, word)
    run(calling("repeat_unless", table))
    assert log.calls() == [(7, 0, 1)]


@pytest.mark.parametrize("stop", [0, 1])
def test_halt_ends_a_while(kernels, stop):
    word, flags = words(stop), np.full(8, 1, np.uint8)
    cell = words(flags.ctypes.data)
    table = table_of(word, cell, 3)
    run(calling("halt", table))
    assert flags.tolist() == [1, 1, 1, 1 - stop, 1, 1, 1, 1]


def test_cells_are_set_moved_and_exchanged():
    source, cells = words(1000, 2000), words(0, 0, 0)
    begin = table_of(2, cells[:1], source[:1], 8, cells[1:2], source[1:], -3)
    run(calling("begin", begin))
    assert cells.tolist() == [1008, 1997, 0]
    advance = table_of(3, cells[:1], 4, cells[1:2], -7, cells[2:], 1)
    exchange = table_of(1, cells[:1], cells[1:2])
    run(calling("advance", advance), calling("advance", advance), calling("exchange", exchange))
    assert cells.tolist() == [1983, 1016, 2]


@pytest.mark.parametrize("nbytes", [0, 1, 8, 100, 129])
def test_settle_copies_what_is_elsewhere(nbytes):
    here, there = np.zeros(200, np.uint8), np.arange(200, dtype=np.uint8)
    cells = words(here.ctypes.data, there.ctypes.data + 5)
    settle = table_of(cells[:1], 16, cells[1:], nbytes)
    run(calling("settle", settle))
    assert (here[16 : 16 + nbytes] == there[5 : 5 + nbytes]).all()
    assert not here[:16].any() and not here[16 + nbytes :].any()
    cells[1] = here.ctypes.data + 16
    before = here.copy()
    run(calling("settle", settle))
    assert (here == before).all()


@pytest.mark.parametrize("kept", [1, 36, 63])
def test_clear_keeps_the_first_bytes(kept):
    bytes_, cells = np.full(192, 7, np.uint8), np.zeros(1, np.int64)
    cells[0] = bytes_.ctypes.data
    run(calling("clear", table_of(2, cells[:1], 64, kept, cells[:1], 128, 2)))
    assert (bytes_[: 64 + kept] == 7).all() and not bytes_[64 + kept : 128].any()
    assert (bytes_[128:130] == 7).all() and not bytes_[130:].any()


def test_release_lets_other_python_threads_run(kernels):
    gate = words(0)
    opener = threading.Timer(0.05, gate.__setitem__, (0, 1))
    opener.start()
    run((kernels["spin"], gate.ctypes.data, 1, 1))
    opener.join()
    assert gate[0] == 1


def test_runtime_is_one_for_all_threads():
    seen = []
    workers = [threading.Thread(target=lambda: seen.append(driver.runtime())) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert {id(runtime) for runtime in seen} == {id(driver.runtime())}


def start(folder):
    script = (
        "import sys\n"
        "from celadon import events\n"
        "from celadon.cpu import driver\n"
        "with events.watching() as seen:\n"
        "    driver.runtime().hold(0, 0)\n"
        "print('llvmlite' in sys.modules, [event.facts['reason'] for event in seen])\n"
    )
    environment = {**os.environ, "CELADON_CACHE_DIR": str(folder)}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_a_warm_start_does_not_load_llvm(tmp_path):
    folder = tmp_path / "objects"
    assert start(folder) == "True []"
    assert start(folder) == "False []"


def test_a_damaged_runtime_is_compiled_anew(tmp_path):
    folder = tmp_path / "objects"
    start(folder)
    (entry,) = folder.iterdir()
    entry.write_bytes(entry.read_bytes()[:-5])
    assert start(folder) == "True ['its checksum is wrong']"
    assert start(folder) == "False []"


def test_an_unusable_runtime_is_compiled_anew(tmp_path):
    folder = tmp_path / "objects"
    start(folder)
    (entry,) = folder.iterdir()
    script = (
        "from celadon.cpu import driver, store, threads\n"
        "from hashlib import sha256\n"
        "text = threads.text() + driver._DRIVER\n"
        "store.save('runtime ' + sha256(text.encode()).hexdigest(), b'of another kind' * 10)\n"
    )
    environment = {**os.environ, "CELADON_CACHE_DIR": str(folder)}
    subprocess.run([sys.executable, "-c", script], env=environment, check=True)
    assert list(folder.iterdir()) == [entry]
    assert start(folder).startswith("True ['not an object")
    assert start(folder) == "False []"
