"""Blocks: alignment, padding, recycling, views that hold them, bounds, threads."""

import ctypes
import gc
import itertools
import os
import subprocess
import sys
import threading

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, strategies as st

from celadon import errors, memory

PAD = 64


@pytest.fixture(autouse=True)
def empty_pool():
    gc.collect()
    memory.trim()


@given(st.integers(0, 1 << 20))
def test_aligned_and_padded(nbytes):
    block = memory.allocate(nbytes)
    room = block.owner.pointer + block.owner.capacity - block.pointer
    assert block.pointer % 64 == 0
    assert block.size == nbytes
    assert room >= -(-nbytes // 64) * 64 + PAD
    keeper = block.owner.keeper
    start = keeper.ctypes.data
    assert start <= block.pointer and block.pointer + room <= start + keeper.nbytes


def test_recycled_when_dropped():
    block = memory.allocate(1000)
    pointer = block.pointer
    del block
    assert memory.kept() >= 1000
    assert memory.allocate(1000).pointer == pointer


@pytest.mark.parametrize("large, small", [(2000, 1100), (1 << 20, 600_000), (1 << 24, (1 << 23) + 100)])
def test_larger_serves_smaller_within_factor_two(large, small):
    pointer = memory.allocate(large).pointer
    assert memory.allocate(small).pointer == pointer


def test_much_larger_is_not_used():
    kept = memory.allocate(1 << 20).pointer
    assert memory.allocate(1 << 18).pointer != kept


def test_two_live_blocks_never_overlap():
    blocks = [memory.allocate(size) for size in (0, 1, 63, 64, 65, 100, 4096) * 50]
    spans = sorted((b.pointer, b.pointer + -(-b.size // 64) * 64) for b in blocks)
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(spans))
    assert len({b.pointer for b in blocks}) == len(blocks)


def test_view_holds_the_block():
    view = memory.allocate(64).view(np.float32, (4, 4))
    view[...] = 7
    others = [memory.allocate(64) for _ in range(100)]
    for other in others:
        ctypes.memset(other.pointer, 0, 64)
    assert (view == 7).all()


@pytest.mark.parametrize(
    "derive",
    [lambda a: a, lambda a: a[1:], lambda a: a.T, lambda a: a.view(np.uint8), memoryview, np.from_dlpack],
    ids=["itself", "slice", "transpose", "dtype", "memoryview", "dlpack"],
)
def test_whatever_comes_from_a_view_counts(derive):
    block = memory.allocate(64)
    pointer = block.pointer
    assert not block.is_viewed()
    derived = derive(block.view(np.float32, (4, 4)))
    assert block.is_viewed()
    del block
    assert memory.allocate(64).pointer != pointer
    del derived
    gc.collect()
    assert memory.allocate(64).pointer == pointer


def test_is_viewed_ends_with_the_last_view():
    block = memory.allocate(64)
    first, second = block.view("int8", (64,)), block.view("float64", (8,))
    del first
    assert block.is_viewed()
    del second
    assert not block.is_viewed()


def test_views_share_the_memory():
    block = memory.allocate(8)
    block.view(np.int64, ())[...] = -1
    assert block.view(np.uint8, (8,)).tolist() == [255] * 8
    assert ctypes.c_int64.from_address(block.pointer).value == -1


def test_view_larger_than_the_block_is_refused():
    with pytest.raises(TypeError):
        memory.allocate(8).view(np.int64, (2,))


@pytest.mark.parametrize(
    "array",
    [
        np.arange(24).reshape(2, 3, 4).transpose(2, 0, 1),
        np.arange(10.0)[::-2],
        np.arange(5, dtype=">i4"),
        np.array(3 + 4j, np.complex64),
        np.zeros((0, 3), np.float16),
        np.linspace(0, 1, 7).astype(ml_dtypes.bfloat16),
        np.array([True, False]),
    ],
    ids=["transposed", "reversed", "byte order", "scalar", "empty", "bfloat16", "bool"],
)
def test_copy_in(array):
    copy = memory.copy_in(array).view(array.dtype.newbyteorder("="), array.shape)
    assert copy.flags.c_contiguous
    assert np.array_equal(copy, array)
    assert not np.shares_memory(copy, array)


@pytest.mark.parametrize("nbytes", [1 << 60, 1 << 64])
def test_out_of_memory_is_catalogued(nbytes):
    with pytest.raises(errors.OutOfMemory) as caught:
        memory.allocate(nbytes)
    assert isinstance(caught.value, MemoryError)
    assert caught.value.facts == {"bytes": nbytes}
    assert memory.allocate(8).size == 8


def test_large_blocks_are_bounded():
    limit = memory._limit
    try:
        memory.set_limit(10 << 20)
        blocks = [memory.allocate((1 << 20) + 4096 * i) for i in range(40)]
        blocks.clear()
        assert (5 << 20) // 2 <= memory.kept() <= 10 << 20
        del blocks[:]
        memory.allocate(64 << 20)
        assert memory.kept() <= 10 << 20
    finally:
        memory.set_limit(limit)


def test_small_blocks_are_bounded():
    blocks = [memory.allocate(1024) for _ in range(10_000)]
    blocks.clear()
    assert 0 < memory.kept() <= 2 << 20


def test_trim_gives_everything_back():
    memory.allocate(1 << 20)
    assert memory.kept() > 0
    memory.trim()
    assert memory.kept() == 0


def test_a_block_in_a_cycle_is_recycled():
    block = memory.allocate(500)
    pointer = block.pointer
    cycle = [block]
    cycle.append(cycle)
    del block, cycle
    gc.collect()
    assert memory.allocate(500).pointer == pointer


def test_threads_never_share_a_block():
    wrong = []

    def work(mark):
        for i in range(3000):
            views = [memory.allocate(size).view(np.uint8, (size,)) for size in (40, 200, 100_000)[: 2 + (i % 50 == 0)]]
            for view in views:
                view[:40] = mark
            wrong.extend(mark for view in views if (view[:40] != mark).any())

    workers = [threading.Thread(target=work, args=(mark,)) for mark in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert wrong == []


def test_blocks_that_outlive_the_interpreter_are_silent():
    script = """
import atexit
kept = []

@atexit.register  # the first to be registered is the last to run: the names are taken apart as the interpreter does it
def last():
    vars(memory).update(dict.fromkeys(vars(memory)))
    kept.clear()

from celadon import memory
kept += [memory.allocate(n) for n in (8, 1 << 20)]
"""
    done = subprocess.run([sys.executable, "-c", script], env=os.environ, capture_output=True, text=True, check=True)
    assert done.stderr == ""


def test_memory_that_was_got_ready_is_recycled_next(monkeypatch):
    memory.trim()
    with memory.got_ready([3 << 20, 5 << 20]):
        pass
    monkeypatch.setattr(memory, "_raw", lambda capacity: pytest.fail("fresh memory was asked for"))
    blocks = [memory.allocate(n) for n in (3 << 20, 5 << 20)]
    assert [block.size for block in blocks] == [3 << 20, 5 << 20]


@pytest.mark.parametrize(("sizes", "expected"), [([], 0), ([1 << 10], 0), ([1 << 40], 0), ([4 << 20], 1)])
def test_little_and_very_much_memory_is_not_got_ready(monkeypatch, sizes, expected):
    touched = []
    monkeypatch.setattr(memory, "_touch", touched.append)
    with memory.got_ready(sizes):
        pass
    assert len(touched) == expected


def test_memory_that_is_not_there_is_no_failure_before_its_time(monkeypatch):
    def exhausted(nbytes):
        raise errors.OutOfMemory(bytes=nbytes)

    monkeypatch.setattr(memory, "allocate", exhausted)
    done = []
    with memory.got_ready([4 << 20]):
        done.append(True)
    assert done == [True]
