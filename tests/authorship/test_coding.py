import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nvgf.authorship.coding import MAX_LENGTH, code_lengths, decode, encode


@given(st.lists(st.lists(st.integers(0, 20), min_size=1, max_size=30), min_size=1, max_size=600))
def test_decoding_undoes_encoding(excerpts):
    symbols = np.concatenate(excerpts).astype(np.uint8)
    sizes = np.array([len(excerpt) for excerpt in excerpts], np.int64)
    lengths = code_lengths(np.bincount(symbols, minlength=22))
    stream, num_bytes = encode(symbols, sizes, lengths)
    assert stream.dtype == np.uint8
    assert np.array_equal(decode(stream, num_bytes, sizes, lengths, np.uint8), symbols)


@given(st.lists(st.integers(0, 10**7), min_size=2, max_size=300))
def test_the_code_is_a_prefix_code_of_bounded_length(counts):
    lengths = code_lengths(np.array(counts)).astype(int)
    assert np.array_equal(lengths > 0, np.array(counts) > 0)
    assert lengths.max() <= MAX_LENGTH
    present = lengths[lengths > 0]
    if len(present) > 1:
        assert np.sum(2.0**-present) == 1.0  # Kraft: complete


def test_very_uneven_counts_stay_within_the_bound():
    fibonacci = [1, 1]
    while len(fibonacci) < 40:
        fibonacci.append(fibonacci[-1] + fibonacci[-2])
    assert code_lengths(np.array(fibonacci)).max() == MAX_LENGTH


def test_the_mean_length_is_within_a_bit_of_the_entropy():
    rng = np.random.default_rng(0)
    share = rng.dirichlet(np.full(50, 0.3))
    counts = np.round(share * 10**6).astype(np.int64)
    share = counts / counts.sum()
    entropy = -np.sum(share[share > 0] * np.log2(share[share > 0]))
    assert entropy <= np.sum(share * code_lengths(counts)) < entropy + 1


def test_the_bytes_are_pinned():
    symbols = np.array([0, 1, 0, 2, 3, 3, 0, 0], np.uint8)
    lengths = code_lengths(np.bincount(symbols))
    assert lengths.tolist() == [1, 3, 3, 2]
    stream, num_bytes = encode(symbols, np.array([5, 3]), lengths)
    # 0 110 0 111 10 | 10 0 0
    assert stream.tolist() == [0b01100111, 0b10000000, 0b10000000]
    assert num_bytes.tolist() == [2, 1]


def test_wide_symbols():
    symbols = np.array([0, 300, 5, 300], np.uint16)
    lengths = code_lengths(np.bincount(symbols))
    assert decode(*encode(symbols, np.array([4]), lengths), np.array([4]), lengths, np.uint16).tolist() == [
        0,
        300,
        5,
        300,
    ]


def test_too_many_symbols_are_refused():
    with pytest.raises(ValueError, match="32769 symbols do not fit code words of 15 bits"):
        code_lengths(np.ones((1 << 15) + 1, np.int64))
