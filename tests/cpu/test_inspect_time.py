"""Times of steps: the same results in bits, as many runs as there are, times that add up; what steps have to do is counted."""

import time

import numpy as np
import pytest

import celadon
import celadon.numpy as cnp
from celadon import inside, lax
from celadon.array import from_host
from celadon.cpu.inspect_plan import watched
from celadon.cpu.inspect_time import Timed
from celadon.cpu.inspect_work import footprint, operations, work

X = np.random.default_rng(0).normal(size=(40, 30)).astype(np.float32)
SQUARE = np.random.default_rng(1).normal(size=(300, 300)).astype(np.float32)


class Subject:
    """A function of arrays whose steps note how long they took."""

    def __init__(self, function, *arrays):
        self.compiled = celadon.jit(function).lower(*arrays).compile()
        made = inside.made(self.compiled.lowered.traced.needed)
        self.found = watched(made.executable.outline, made.structure.program)
        self.timed = Timed(self.found, made.executable, made.structure, made.numbers)
        self.arrays = arrays

    def run(self):
        start = time.perf_counter()
        found = self.timed.run([from_host(x) for x in self.arrays])
        return found, time.perf_counter() - start

    def taken(self):
        """Of the steps in order, those of loops after the loop: what was taken."""
        return list(zip(flat(self.found.steps), self.timed.taken(self.found.steps), strict=True))

    def works(self):
        return [work(self.found.planner, mark) for mark in self.found.steps]


def flat(marks):
    return [x for mark in marks for x in (mark, *(y for inner in mark.lists for y in flat(inner)))]


def scanned(x):
    return lax.scan(lambda c, row: (cnp.tanh(c + row), c.sum()), x[0], x)


def counted(x):
    return lax.while_loop(lambda s: s[0] < 10, lambda s: (s[0] + 1, cnp.sin(s[1])), (0, x))[1]


def nested(x):
    return lax.fori_loop(0, 3, lambda i, v: lax.fori_loop(0, 4, lambda j, w: cnp.cos(w), v), x)


def called(x):
    return celadon.pure_callback(lambda a: np.asarray(a) * 2, celadon.ShapeDtypeStruct(x.shape, x.dtype), x) + 1


PROGRAMS = {
    "map": (lambda x: cnp.tanh(x) * 2.0, X), "product": (lambda x: x @ x, SQUARE), "sort": (lambda x: cnp.sort(x), X),
    "scan": (scanned, X), "while": (counted, X), "nested": (nested, X), "callback": (called, X),
    "solve": (lambda x: cnp.linalg.solve(x, x[0]), SQUARE),
    "branch": (lambda x: lax.cond(x[0, 0] > 1e9, lambda x: cnp.sort(x), lambda x: x * 2.0, x), X),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_results_are_the_same_and_times_add_up(name):
    subject = Subject(PROGRAMS[name][0], PROGRAMS[name][1])
    expected = celadon.tree.leaves(subject.compiled(*subject.arrays))
    for _ in range(3):
        found, seconds = subject.run()
        for a, b in zip(found, expected, strict=True):
            assert np.asarray(a).tobytes() == np.asarray(b).tobytes()
        top = [one for mark, one in subject.taken() if mark in subject.found.steps]
        assert all(one.runs == 1 for one in top)
        assert 0 < sum(one.seconds for one in top) <= seconds


def test_runs_of_loops_are_counted():
    subject = Subject(scanned, X)
    subject.run()
    assert {one.runs for mark, one in subject.taken() if mark not in subject.found.steps} == {40}
    subject = Subject(counted, X)
    subject.run()
    (loop,) = [mark for mark in subject.found.steps if mark.lists]
    runs = {mark.word: one.runs for mark, one in subject.taken()}
    assert {runs[mark.word] for mark in loop.lists[0]} == {11} and {runs[mark.word] for mark in loop.lists[1]} == {10}


def test_a_branch_that_is_not_taken_takes_nothing():
    subject = Subject(*PROGRAMS["branch"])
    subject.run()
    (branch,) = [mark for mark in subject.found.steps if mark.lists]
    taken = {mark.word: one for mark, one in subject.taken()}
    runs = [sum(taken[mark.word].runs for mark in marks) for marks in branch.lists]
    assert sorted(map(bool, runs)) == [False, True]


def test_a_slow_step_is_found_slow():
    subject = Subject(lambda x: (celadon.pure_callback(lambda a: time.sleep(0.1) or np.asarray(a), x, x), cnp.tanh(x)), X)
    subject.run()
    mark, one = max(subject.taken(), key=lambda pair: pair[1].seconds)
    assert mark.kernel < 0 and one.seconds > 0.09


def test_the_clock_is_true():
    clock = Timed.clock()
    assert 0 < clock.tick < 1e-6 and -1e-7 < clock.within < 1e-6 and clock.around < 1e-6
    inside = []

    def waits(a):
        start = time.perf_counter()
        time.sleep(0.05)
        inside.append(time.perf_counter() - start)
        return np.asarray(a)

    subject = Subject(lambda x: celadon.pure_callback(waits, x, x), X)
    _, around = subject.run()
    assert 0.95 * inside[-1] <= max(one.seconds for _, one in subject.taken()) <= 1.05 * around


@pytest.mark.parametrize(("function", "array", "read", "written", "flops"), [
    (lambda x: x * 2.0 + 1.0, X, 4 * 1200 + 8, 4 * 1200, 2 * 1200),
    (lambda x: (x[:5] + x[5:10]) * x[0], X, 4 * 150 * 2 + 4 * 30, 4 * 150, 2 * 150),
    (lambda x: x @ x, SQUARE, 4 * 90_000, 4 * 90_000, 2 * 300**3),
    (lambda x: x.T + 1.0, X, 4 * 1200 + 4, 4 * 1200, 1200),
    (lambda x: x[cnp.array([1, 2, 3])], X, 4 * 90 + 12, 4 * 90, 0),
    (lambda x: x.astype(cnp.int32) * 2, X, 4 * 1200 + 4, 4 * 1200, 0),
    (lambda x: x.sum(), X, 4 * 1200, 4, 1200),
    (lambda x: lax.scan(lambda c, a: (c * 0.5 + a, None), 0.0, x)[0], X[:, 0], 4 * 40 + 8, 4, 2 * 40),
    (lambda x: x - 1.0, SQUARE.astype(cnp.bfloat16), 2 * 90_000 + 2, 2 * 90_000, 90_000),
])  # fmt: skip
def test_work_is_counted(function, array, read, written, flops):
    found = max(Subject(function, array).works(), key=lambda one: one.read)
    assert (found.read, found.written, found.flops) == (read, written, flops)


def test_parts_of_a_result_count_for_themselves():
    works = Subject(lambda x: cnp.concatenate([x, x * 2.0, x[:3]]), X).works()
    assert sum(one.written for one in works) == 4 * (1200 + 1200 + 1200 + 90)


def test_polynomials_are_counted_and_rare_blocks_are_not():
    counts = {op: operations(op, ("f32",), "f32") for op in ("negate", "sqrt", "exponential", "tanh", "sine", "erf_inv")}
    assert counts["negate"] <= 1 and counts["sqrt"] == 1
    assert 10 < counts["exponential"] < counts["tanh"] < 60 and 10 < counts["sine"] < 60 and counts["erf_inv"] > 30
    assert operations("add", ("c64", "c64"), "c64") == 2 and operations("and", ("u32", "u32"), "u32") == 0


def test_a_footprint_counts_each_buffer_once():
    subject = Subject(lambda x: cnp.sort(x * 2.0) + x, X)
    nbytes = footprint(subject.found.planner, subject.found.steps)
    assert 2 * 4800 <= nbytes <= 2 * 4800 + subject.found.plan.arena + 64
