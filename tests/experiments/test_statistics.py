import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from nvgf.experiments.statistics import Interval, holm, mean_interval, p_outside, proportion_interval, wilcoxon

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


def test_equal_differences_have_no_width_but_for_a_few():
    assert mean_interval([0.5] * 5) == Interval(0.5, 0.5, 0.5, 0.0, 5)
    assert mean_interval([0.0] * 5) == Interval(0.0, 0.0, 0.0, 1.0, 5)
    for n in (2, 3, 4):
        assert mean_interval([0.5] * n) == Interval(0.5, -math.inf, math.inf, 1.0, n)


def test_rounding_is_no_difference():
    noisy = [0.3 - 0.2, 0.4 - 0.3, 0.7 - 0.6, 0.1, 0.5 - 0.4]
    assert np.std(noisy) > 0
    found = mean_interval(noisy)
    assert (found.low, found.p) == (found.high, 0.0)
    assert mean_interval(noisy[:4]).p == 1.0
    assert mean_interval([value - 0.1 for value in noisy]) == Interval(0.0, 0.0, 0.0, 1.0, 5)


@settings(deadline=None)
@given(values, st.floats(-5, 5))
def test_the_p_value_against_a_bound_is_that_of_the_one_sided_t_test(data, bound):
    expected = stats.ttest_1samp(data, bound)
    found = mean_interval(data)
    assert p_outside(found, below=bound) == pytest.approx(stats.t.sf(expected.statistic, len(data) - 1), abs=1e-9)
    assert p_outside(found, above=bound) == pytest.approx(stats.t.cdf(expected.statistic, len(data) - 1), abs=1e-9)


def test_the_p_value_against_a_bound_of_what_has_no_width_or_no_end():
    exact, unknown = mean_interval([0.5] * 5), mean_interval([0.5])
    assert (p_outside(exact, below=0.4), p_outside(exact, below=0.6), p_outside(exact, above=0.6)) == (0.0, 1.0, 0.0)
    assert p_outside(unknown, below=0.4) == 1.0


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
