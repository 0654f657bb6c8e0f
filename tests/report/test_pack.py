from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from nvgf.report.pack import pack, unpack


@given(hnp.arrays(np.float64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=8), elements=st.floats(0, 1e6)))
def test_what_is_read_is_near_what_was_packed(matrix: np.ndarray) -> None:
    packed = pack(matrix)
    assert json.loads(json.dumps(packed)) == packed
    most = matrix.max()
    bound = np.sqrt(matrix * most) / 255 + most * (0.25 / 255**2 + 2e-6)
    assert unpack(packed).shape == matrix.shape
    assert (np.abs(unpack(packed) - matrix) <= bound + 1e-12).all()


def test_a_byte_an_entry() -> None:
    assert len(pack(np.random.default_rng(0).random((64, 190)))["bytes"]) == pytest.approx(64 * 190 * 4 / 3, abs=4)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.ones(3), r"two dimensions, got shape \(3,\)"),
        (np.array([[-1.0]]), "none below zero"),
        (np.array([[np.inf]]), "finite magnitudes"),
    ],
)
def test_bad_matrices(matrix: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pack(matrix)
