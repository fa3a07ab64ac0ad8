"""The collector of cycles is put off while a program is compiled, and is on again afterwards, whatever happens."""

import gc
import os
import threading

import numpy as np
import pytest

import celadon
from celadon.garbage import PutOff


@pytest.fixture(autouse=True)
def _collecting():
    assert gc.isenabled()
    yield
    gc.enable()


def test_it_is_off_inside_and_on_again_after_the_last_one():
    pause = PutOff()
    with pause:
        with pause:
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_it_is_on_again_after_an_error():
    with pytest.raises(KeyError), PutOff():
        raise KeyError
    assert gc.isenabled()


def test_who_had_it_off_keeps_it_off():
    gc.disable()
    with PutOff():
        assert not gc.isenabled()
    assert not gc.isenabled()


def test_threads_share_it():
    pause, inside, leave = PutOff(), threading.Event(), threading.Event()

    def other():
        with pause:
            inside.set()
            leave.wait(10)

    thread = threading.Thread(target=other)
    with pause:
        thread.start()
        assert inside.wait(10)
    assert not gc.isenabled()
    leave.set()
    thread.join()
    assert gc.isenabled()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork")  # Python 3.12 and JAX dislike forks with threads
def test_a_child_that_was_forked_meanwhile_collects():
    pause, inside, leave = PutOff(), threading.Event(), threading.Event()

    def other():
        with pause:
            inside.set()
            leave.wait(10)

    thread = threading.Thread(target=other)
    thread.start()
    assert inside.wait(10)
    child = os.fork()
    if not child:
        with pause:
            off = not gc.isenabled()
        os._exit(0 if off and gc.isenabled() else 1)
    _, status = os.waitpid(child, 0)
    leave.set()
    thread.join()
    assert os.waitstatus_to_exitcode(status) == 0


def test_a_compile_leaves_it_on():
    jitted = celadon.jit(lambda x: x * 2 + 1)
    assert jitted(np.ones(3, np.float32)).tolist() == [3, 3, 3]
    assert gc.isenabled()


def test_a_compile_that_fails_leaves_it_on():
    with celadon.cache.executor_name("nothing"), pytest.raises(celadon.errors.ExecutorUnknown):
        celadon.jit(lambda x: x * 2 + 1)(np.ones(3, np.float32))
    assert gc.isenabled()
