"""Numbers by hash: known values, the same in torch and in Python, and random enough."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from nvgf.training.randomness import GOLDEN, WEIGHTS, mix, mix_, signed, stream_key, uniform


def test_known_values():
    # SplitMix64 from seed 1234567: the published test vector.
    values = [mix(1234567 + (k + 1) * GOLDEN) for k in range(3)]
    assert values == [6457827717110365317, 3203168211198807973, 9817491932198370423]


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=20))
def test_torch_equals_python(values):
    words = mix_(torch.tensor([signed(value) for value in values]))
    assert words.tolist() == [signed(mix(value)) for value in values]


def test_uniform_fills_its_range():
    drawn = uniform(stream_key(3, WEIGHTS), (50_000,), 2.0, "cpu")
    assert drawn.min() >= -2
    assert drawn.max() < 2
    counts = torch.histc(drawn, 20, -2, 2)
    assert (counts - 2500).abs().max() < 5 * 2500**0.5
    assert abs(float(torch.corrcoef(torch.stack([drawn[:-1], drawn[1:]]))[0, 1])) < 0.02


def test_streams_differ():
    keys = {stream_key(seed, purpose, number) for seed in range(5) for purpose in (1, 2, 3) for number in range(5)}
    assert len(keys) == 75
