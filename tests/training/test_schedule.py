"""Schedules, and the order in which signals are seen."""

from __future__ import annotations

import re

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from nvgf.training import PAPER_AUTHORSHIP, PAPER_MOVIES, Schedule
from nvgf.training.order import batches


def test_the_papers():
    assert (PAPER_AUTHORSHIP.epochs, PAPER_AUTHORSHIP.batch_size, PAPER_AUTHORSHIP.validate_every) == (25, 20, 5)
    assert (PAPER_MOVIES.epochs, PAPER_MOVIES.batch_size, PAPER_MOVIES.validate_every) == (40, 5, 5)
    assert PAPER_AUTHORSHIP.betas == (0.9, 0.999)
    assert (PAPER_AUTHORSHIP.dropout, PAPER_MOVIES.dropout) == (0.5, 0.0)


@given(st.integers(1, 60), st.integers(1, 4), st.integers(1, 25), st.integers(1, 9), st.integers(0, 2**63 - 1))
def test_every_epoch_sees_every_signal_once(samples, epochs, batch, every, seed):
    schedule = Schedule(epochs=epochs, batch_size=batch, validate_every=every)
    order = batches(seed, samples, schedule)
    total = epochs * -(-samples // batch)
    assert len(order) == schedule.steps(samples)
    assert total - schedule.steps(samples) < schedule.interval(samples)
    assert len(order) % schedule.interval(samples) == 0
    per_epoch = schedule.steps_per_epoch(samples)
    for epoch in range(len(order) // per_epoch):
        seen = order[epoch * per_epoch : (epoch + 1) * per_epoch].flatten()
        assert torch.equal(seen[seen >= 0].sort().values, torch.arange(samples))


def test_order_depends_on_the_seed_alone():
    schedule = Schedule(epochs=2, batch_size=4)
    torch.manual_seed(0)
    first = batches(7, 30, schedule).clone()
    batches.cache_clear()
    torch.manual_seed(1)
    assert torch.equal(batches(7, 30, schedule), first)
    assert not torch.equal(batches(8, 30, schedule), first)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epochs": 0}, "epochs must be a whole number of at least 1, got 0"),
        ({"batch_size": 2.5}, "batch_size must be a whole number of at least 1, got 2.5"),
        ({"validate_every": -1}, "validate_every must be a whole number of at least 1, got -1"),
        ({"dropout": 1}, "dropout must be at least 0 and below 1, got 1"),
        ({"betas": (0.9, 1.0)}, "betas must be two numbers of at least 0 and below 1, got (0.9, 1.0)"),
        ({"eps": 0.0}, "eps must be positive, got 0.0"),
    ],
)
def test_bad_values(options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        Schedule(**{"epochs": 1, "batch_size": 1, **options})
