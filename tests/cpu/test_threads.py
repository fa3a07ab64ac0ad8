"""The team under stress: every piece exactly once, whoever calls, however often, before and after a fork."""

import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from celadon.cpu import driver, link, llvm, threads

team = pytest.mark.skipif(not threads.has_team(), reason="no team on this platform")

KERNELS = """
define void @increment(ptr %t, i64 %lo, i64 %hi) {
entry:
  br label %loop
loop:
  %i = phi i64 [%lo, %entry], [%i1, %body]
  %more = icmp ult i64 %i, %hi
  br i1 %more, label %body, label %out
body:
  %p = getelementptr i64, ptr %t, i64 %i
  %old = load i64, ptr %p
  %new = add i64 %old, 1
  store i64 %new, ptr %p
  %i1 = add i64 %i, 1
  br label %loop
out:
  ret void
}
define void @borders(ptr %t, i64 %lo, i64 %hi) {
  %p = getelementptr i64, ptr %t, i64 %lo
  store i64 %hi, ptr %p
  ret void
}
define void @tally(ptr %t, i64 %lo, i64 %hi) {
  %n = sub i64 %hi, %lo
  %old = atomicrmw add ptr %t, i64 %n seq_cst
  ret void
}
"""


@pytest.fixture(scope="module")
def kernels():
    return link.load(llvm.compile_text(KERNELS), ("increment", "borders", "tally"))


@pytest.fixture(autouse=True)
def default_threads():
    yield
    threads.set_threads(None)


def run(*steps):
    words = np.array(steps, np.int64)
    driver.runtime().release(words.ctypes.data, len(steps))


@pytest.mark.parametrize("count", [1, 2, 5])
def test_hot_parallel_steps_are_exact(kernels, count):
    threads.set_threads(count)
    counts = np.zeros(1000, np.int64)
    steps = np.array([(kernels.symbols["increment"], counts.ctypes.data, 1000, 125)] * 1000, np.int64)
    rounds = 100 if count <= 2 else 3
    for _ in range(rounds):
        driver.runtime().release(steps.ctypes.data, 1000)
    assert (counts == 1000 * rounds).all()


@pytest.mark.parametrize(
    "n, unit", [(1, 1), (2, 1), (7, 3), (1000, 999), (1000, 1), (70_000, 1), (200_001, 2), (9, 100)]
)
@pytest.mark.parametrize("count", [1, 2])
def test_borders_depend_on_extents_alone(kernels, n, unit, count):
    threads.set_threads(count)
    ends = np.zeros(n, np.int64)
    run((kernels.symbols["borders"], ends.ctypes.data, n, unit))
    starts = np.flatnonzero(ends)
    assert starts.tolist() == list(range(0, n, unit))
    assert ends[starts].tolist() == [min(start + unit, n) for start in starts]


def test_steps_alternate_between_shapes(kernels):
    threads.set_threads(2)
    small, large = np.zeros(64, np.int64), np.zeros(5000, np.int64)
    increment = kernels.symbols["increment"]
    pair = [(increment, small.ctypes.data, 64, 3), (increment, large.ctypes.data, 5000, 700)]
    run(*pair * 5000)
    assert (small == 5000).all() and (large == 5000).all()


def test_eight_python_threads_at_once(kernels):
    threads.set_threads(2)
    arrays = [np.zeros(512, np.int64) for _ in range(8)]

    def work(array):
        for _ in range(200):
            run(*[(kernels.symbols["increment"], array.ctypes.data, 512, 64)] * 20)

    workers = [threading.Thread(target=work, args=(array,)) for array in arrays]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert all((array == 4000).all() for array in arrays)


def test_parallel_steps_inside_parallel_steps(kernels):
    threads.set_threads(2)
    total = np.zeros(1, np.int64)
    inner = np.array([(kernels.symbols["tally"], total.ctypes.data, 100, 10)], np.int64)
    table = np.array([inner.ctypes.data, 1, 30], np.int64)
    table[0] -= table.ctypes.data
    for _ in range(20):
        run((driver.runtime().repeat, table.ctypes.data, 8, 1))
    assert total[0] == 20 * 8 * 30 * 100


def test_sleeping_workers_wake(kernels):
    threads.set_threads(2)
    counts = np.zeros(100, np.int64)
    for _ in range(30):
        time.sleep(0.005)
        run((kernels.symbols["increment"], counts.ctypes.data, 100, 10))
    assert (counts == 30).all()


def test_the_limit_changes_while_the_team_works(kernels):
    total = np.zeros(1, np.int64)
    stop = threading.Event()

    def change():
        while not stop.is_set():
            for count in (1, 3, 2):
                threads.set_threads(count)

    changer = threading.Thread(target=change)
    changer.start()
    try:
        for _ in range(300):
            run(*[(kernels.symbols["tally"], total.ctypes.data, 60, 5)] * 30)
    finally:
        stop.set()
        changer.join()
    assert total[0] == 300 * 30 * 60


def test_limits_are_at_least_one():
    threads.set_threads(0)
    assert threads.threads() == 1
    threads.set_threads(None)
    expected = min(len(os.sched_getaffinity(0)), 256) if threads.has_team() else 1
    assert threads.threads() == expected


def script(body):
    head = (
        "import os, sys, time, threading, ctypes\n"
        "import numpy as np\n"
        "from celadon.cpu import driver, link, llvm, threads\n"
        f"library = link.load(llvm.compile_text('''{KERNELS}'''), ('increment', 'tally'))\n"
        "threads.set_threads(2)\n"
        "counts = np.zeros(100, np.int64)\n"
        "steps = np.array([(library.symbols['increment'], counts.ctypes.data, 100, 10)], np.int64)\n"
        "run = lambda: driver.runtime().release(steps.ctypes.data, 1)\n"
        "def tasks(): return len(os.listdir('/proc/self/task'))\n"
    )
    command = [sys.executable, "-W", "ignore", "-c", head + body]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # else NumPy's own threads are counted too
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)


@team
def test_a_forked_child_starts_its_own_team():
    done = script(
        "run()\n"
        "assert tasks() == 2\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    before = tasks()\n"
        "    for _ in range(1000): run()\n"
        "    print(before, tasks(), set(counts.tolist()), flush=True)\n"
        "    os._exit(0)\n"
        "assert os.waitpid(child, 0)[1] == 0\n"
        "for _ in range(10): run()\n"
        "print(set(counts.tolist()))\n"
    )
    assert done.stdout.splitlines() == ["1 2 {1001}", "{11}"], done.stderr


@team
def test_a_fork_while_another_thread_works():
    done = script(
        "total = np.zeros(1, np.int64)\n"
        "busy = np.array([(library.symbols['tally'], total.ctypes.data, 1000, 1)] * 100, np.int64)\n"
        "stop = []\n"
        "def work():\n"
        "    while not stop: driver.runtime().release(busy.ctypes.data, 100)\n"
        "worker = threading.Thread(target=work)\n"
        "worker.start()\n"
        "for _ in range(20):\n"
        "    child = os.fork()\n"
        "    if not child:\n"
        "        counts[:] = 0\n"
        "        for _ in range(50): run()\n"
        "        os._exit(0 if (counts == 50).all() else 1)\n"
        "    assert os.waitpid(child, 0)[1] == 0\n"
        "stop.append(1)\n"
        "worker.join()\n"
        "print('done')\n"
    )
    assert done.stdout == "done\n", done.stderr


@team
def test_workers_do_not_keep_the_process_alive():
    start = time.perf_counter()
    done = script("for _ in range(100): run()\nprint(tasks())")
    assert (done.stdout, done.stderr, done.returncode) == ("2\n", "", 0)
    assert time.perf_counter() - start < 30


@team
def test_no_thread_starts_before_it_is_needed():
    done = script("steps[0, 3] = 100\nrun()\nprint(tasks())\nsteps[0, 3] = 10\nrun()\nprint(tasks())")
    assert done.stdout.split() == ["1", "2"], done.stderr


@team
def test_workers_leave_signals_to_python():
    done = script(
        "import signal\n"
        "for _ in range(100): run()\n"
        "def blocked(number):\n"
        "    found = []\n"
        "    for task in os.listdir('/proc/self/task'):\n"
        "        with open(f'/proc/self/task/{task}/status') as lines:\n"
        "            masks = [int(line.split()[1], 16) for line in lines if line.startswith('SigBlk')]\n"
        "        found.append(bool(masks[0] >> number - 1 & 1))\n"
        "    return sorted(found)\n"
        "end = time.time() + 20  # a thread is born with all blocked\n"
        "while any(blocked(signal.SIGSEGV)) and time.time() < end: time.sleep(0.01)\n"
        "print(blocked(signal.SIGINT), blocked(signal.SIGSEGV), signal.pthread_sigmask(signal.SIG_BLOCK, []))\n"
    )
    assert done.stdout == "[False, True] [False, False] set()\n", done.stderr


@team
def test_threads_that_can_not_be_had_are_done_without():
    done = script(
        "import resource\n"
        "driver.runtime()\n"
        "create = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 4)(lambda *a: 11)\n"
        "threads._word('pthread_create').value = ctypes.cast(create, ctypes.c_void_p).value\n"
        "for _ in range(10): run()\n"
        "print(set(counts.tolist()), tasks())\n"
    )
    assert done.stdout == "{10} 1\n", done.stderr


def test_platforms_without_a_team_run_in_pieces():
    done = script(
        "threads.has_team = lambda: False\n"
        "for _ in range(10): run()\n"
        "print(set(counts.tolist()), threads.threads(), 'team' in threads.text())\n"
    )
    assert done.stdout == "{10} 1 False\n", done.stderr
