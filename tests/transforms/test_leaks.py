"""checking_leaks: what outlives a trace is an error of that trace, and of no later one."""

import pytest

import celadon
from celadon import errors


@pytest.mark.parametrize("transform", [celadon.jit, celadon.vmap])
def test_what_leaked_before_is_no_fault_of_a_later_trace(transform):
    kept = []

    def keep(x):
        kept.append(x)

    transform(keep)(celadon.numpy.ones(2))
    with celadon.checking_leaks():
        assert transform(lambda x: x + 1)(celadon.numpy.ones(2)).tolist() == [2, 2]
        with pytest.raises(errors.TracerLeaked) as caught:
            transform(keep)(celadon.numpy.ones(3))
    assert caught.value.facts["function"] == "keep"
    assert str(caught.value.facts["holders"]) == "a list"
