"""A Huffman code for skeletons: compact, and the same bytes on every machine.

General compressors promise that their output can be unpacked, not that two builds of them write the same bytes.
A corpus file must be rebuilt byte for byte, so it uses this code: integers and sorting only. Each excerpt starts at
a byte, so that all excerpts are decoded side by side.
"""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvgf.authorship.skeletons import Symbols

MAX_LENGTH = 15
"""Longest code word in bits; a window of 24 bits holds one at any bit of a byte."""
_BLOCK = 256  # excerpts coded at a time, so that the work fits the cache


def code_lengths(counts: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Return the length in bits of the code word of each symbol, 0 for one that does not occur.

    Example:
        >>> code_lengths(np.array([8, 4, 2, 2, 0])).tolist()
        [1, 2, 3, 3, 0]
    """
    present = np.flatnonzero(counts)
    lengths = np.zeros(len(counts), np.uint8)
    if len(present) > 1 << MAX_LENGTH:
        raise ValueError(f"{len(present)} symbols do not fit code words of {MAX_LENGTH} bits")
    if len(present) < 2:
        lengths[present] = 1
        return lengths
    weights = [int(counts[symbol]) for symbol in present]
    while True:
        depth = _depths(weights)
        if max(depth) <= MAX_LENGTH:
            break
        # Flatten the rarest symbols until the tree is shallow enough.
        weights = [(weight + 1) // 2 for weight in weights]
    lengths[present] = depth
    return lengths


def _depths(weights: list[int]) -> list[int]:
    heap = [(weight, leaf, [leaf]) for leaf, weight in enumerate(weights)]
    heapq.heapify(heap)
    depth = [0] * len(weights)
    tie = len(weights)
    while len(heap) > 1:
        first, _, left = heapq.heappop(heap)
        second, _, right = heapq.heappop(heap)
        for leaf in left + right:
            depth[leaf] += 1
        heapq.heappush(heap, (first + second, tie, left + right))
        tie += 1
    return depth


def check_lengths(lengths: NDArray[np.uint8]) -> None:
    """Raise unless code words of these lengths exist (Kraft's inequality) and are within the bound."""
    longest = int(lengths.max(initial=0))
    room = sum(1 << (MAX_LENGTH - int(length)) for length in lengths if 0 < length <= MAX_LENGTH)
    if not 0 < longest <= MAX_LENGTH or room > 1 << MAX_LENGTH:
        raise ValueError(f"the lengths of the code words, at most {longest} bits, make no code")


def _code_words(lengths: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return the canonical code words: by length, then by symbol."""
    words = np.zeros(len(lengths), np.int64)
    code = previous = 0
    for symbol in np.lexsort((np.arange(len(lengths)), lengths)):
        length = int(lengths[symbol])
        if length:
            code <<= length - previous
            words[symbol], previous = code, length
            code += 1
    return words


def encode(
    symbols: Symbols, sizes: NDArray[np.int64], lengths: NDArray[np.uint8]
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return the bytes of all excerpts, one after the other, and the number of bytes of each.

    Shapes:
        - ``symbols``: ``(sizes.sum(),)``, all excerpts one after the other
        - ``sizes``: ``(excerpts,)``, the number of symbols of each, all positive
        - ``lengths``: ``(symbols of the alphabet,)``
    """
    starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes)))
    blocks = [
        _encode_block(symbols[starts[first] : starts[last]], sizes[first:last], lengths)
        for first in range(0, len(sizes), _BLOCK)
        for last in [min(first + _BLOCK, len(sizes))]
    ]
    return np.concatenate([stream for stream, _ in blocks]), np.concatenate([count for _, count in blocks])


def _encode_block(
    symbols: Symbols, sizes: NDArray[np.int64], lengths: NDArray[np.uint8]
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    words = _code_words(lengths)
    bits = lengths[symbols].astype(np.int64)
    before = np.concatenate(([0], np.cumsum(bits)))
    starts = np.concatenate(([0], np.cumsum(sizes)))
    num_bytes = -(-np.diff(before[starts]) // 8)
    byte_starts = np.concatenate(([0], np.cumsum(num_bytes)))
    shift = np.repeat(8 * byte_starts[:-1] - before[starts[:-1]], sizes)
    position = before[:-1] + shift
    stream = np.zeros(8 * int(byte_starts[-1]), np.uint8)
    code = words[symbols]
    for bit in range(int(lengths.max(initial=0))):
        long = bits > bit
        stream[position[long] + bit] = (code[long] >> (bits[long] - 1 - bit)) & 1
    return np.packbits(stream), num_bytes


def decode(
    stream: NDArray[np.uint8],
    num_bytes: NDArray[np.int64],
    sizes: NDArray[np.int64],
    lengths: NDArray[np.uint8],
    dtype: type[np.unsignedinteger[Any]],
) -> Symbols:
    """Undo :func:`encode`; all excerpts advance together, one symbol a step.

    Example:
        >>> symbols, sizes = np.array([0, 1, 0, 2, 2], np.uint8), np.array([3, 2])
        >>> lengths = code_lengths(np.bincount(symbols))
        >>> decode(*encode(symbols, sizes, lengths), sizes, lengths, np.uint8).tolist()
        [0, 1, 0, 2, 2]
    """
    longest = int(lengths.max(initial=0))
    table = np.zeros(1 << longest, dtype)
    steps = np.ones(1 << longest, np.int64)
    for symbol, word in enumerate(_code_words(lengths)):
        if length := int(lengths[symbol]):
            first = int(word) << (longest - length)
            table[first : first + (1 << (longest - length))] = symbol
            steps[first : first + (1 << (longest - length))] = length
    padded = np.concatenate((stream, np.zeros(3, np.uint8))).astype(np.uint32)
    windows = (padded[:-2] << 16 | padded[1:-1] << 8 | padded[2:]).astype(np.int64)
    order = np.argsort(-sizes, kind="stable")
    active = len(sizes) - np.searchsorted(np.sort(sizes), np.arange(int(sizes.max(initial=0))), side="right")
    position = 8 * (np.cumsum(num_bytes) - num_bytes)[order]
    target = (np.cumsum(sizes) - sizes)[order]
    symbols = np.zeros(int(sizes.sum()), dtype)
    last_window = len(windows) - 1
    mask = (1 << longest) - 1
    for step, count in enumerate(active):
        here = position[:count]
        # A damaged stream may run past its end; the check sum then tells.
        word = windows[np.minimum(here >> 3, last_window)] >> (24 - longest - (here & 7)) & mask
        symbols[target[:count] + step] = table[word]
        here += steps[word]
    return symbols
