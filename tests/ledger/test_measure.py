"""Medians with intervals: their statistics against SciPy's binomial distribution, and calls in turn."""

import random
import time

import pytest
from scipy import stats

from celadon.ledger import measure
from celadon.ledger.measure import Interval, Plan


@pytest.mark.parametrize("n", [6, 9, 15, 40, 101, 500])
def test_the_interval_holds_for_any_distribution(n):
    found = measure.interval([float(k) for k in range(n)])
    rank = int(found.low)
    assert found.high == n - 1 - rank
    coverage = 1 - 2 * stats.binom.cdf(rank, n, 0.5)
    assert coverage >= 0.95
    assert 1 - 2 * stats.binom.cdf(rank + 1, n, 0.5) < 0.95


def test_too_few_measurements_give_all_of_them():
    assert measure.interval([2.0, 1.0, 9.0]) == Interval(2.0, 1.0, 9.0, 3)


def test_it_covers_a_known_median_about_as_often_as_it_says():
    source = random.Random(0)
    hits = sum(
        low.low <= 1.0 <= low.high
        for low in (measure.interval([source.lognormvariate(0, 1) for _ in range(41)]) for _ in range(400))
    )
    assert hits >= 0.93 * 400


def test_overlap():
    one = Interval(1.0, 0.9, 1.1, 9)
    assert one.overlaps(Interval(1.2, 1.1, 1.3, 9)) and not one.overlaps(Interval(1.2, 1.11, 1.3, 9))


def test_calls_are_made_in_turn_and_reported():
    seen, shares = [], []
    found = measure.alternating([lambda: seen.append("a"), lambda: seen.append("b")], Plan(calls=4), shares.append)
    rounds = ["".join(seen[i : i + 4]) for i in range(0, 16, 4)]
    assert set(rounds) == {"aabb", "bbaa"}
    assert sum(shares) == pytest.approx(1.0) and [x.calls for x in found] == [4, 4]


def test_a_slow_call_is_called_less_often():
    found = measure.alternating([lambda: time.sleep(0.002)], Plan(seconds=0.05))
    assert 15 <= found[0].calls <= 25 and 0.002 <= found[0].median < 0.02
