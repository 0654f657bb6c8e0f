import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from nvgf.experiments.statistics import Interval, holm, mean_interval, proportion_interval, wilcoxon

values = st.lists(st.floats(-10, 10), min_size=2, max_size=30).filter(lambda v: np.std(v) > 1e-3)


@settings(deadline=None)
@given(values)
def test_without_overlap_the_interval_is_that_of_the_t_test(data):
    found, expected = mean_interval(data), stats.ttest_1samp(data, 0)
    interval = expected.confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))
    assert found.p == pytest.approx(expected.pvalue)
    assert found.excludes_zero == (found.p < 0.05) or abs(found.p - 0.05) < 1e-9


@settings(deadline=None)
@given(values, st.floats(0.01, 1))
def test_overlapping_training_sets_widen_the_interval(data, ratio):
    plain, wide = mean_interval(data), mean_interval(data, test_ratio=ratio)
    factor = math.sqrt((1 / len(data) + ratio) * len(data))
    assert wide.high - wide.low == pytest.approx(factor * (plain.high - plain.low))
    assert wide.mean == plain.mean
    assert wide.p >= plain.p


def test_a_single_observation_and_infinite_ones_decide_nothing():
    for data in ([0.3], [], [1.0, math.inf]):
        found = mean_interval(data)
        assert (found.low, found.high, found.p) == (-math.inf, math.inf, 1.0)
        assert not found.excludes_zero


def test_equal_differences_have_no_width():
    assert mean_interval([0.5, 0.5]) == Interval(0.5, 0.5, 0.5, 0.0, 2)
    assert mean_interval([0.0, 0.0, 0.0]).p == 1.0


@settings(deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_is_what_its_definition_says(p_values):
    m = len(p_values)
    ranks = sorted(range(m), key=lambda i: p_values[i])
    corrected = holm(p_values)
    for place, index in enumerate(ranks):
        naive = max(min(1.0, (m - j) * p_values[ranks[j]]) for j in range(place + 1))
        assert corrected[index] == pytest.approx(naive)


def test_the_rank_test_drops_zeros():
    assert wilcoxon([0, 1, 2, 3, 4, 5, 6]) == wilcoxon([1, 2, 3, 4, 5, 6])


def test_a_proportion_of_nothing_may_be_anything():
    assert proportion_interval(0, 0) == (0.0, 1.0)
    low, high = proportion_interval(5, 5)
    assert 0.5 < low < 1
    assert high == pytest.approx(1.0)
