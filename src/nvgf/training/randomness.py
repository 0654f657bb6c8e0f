r"""Random numbers that a job draws by number, not in turn.

Everything random in training is a hash (SplitMix64) of the job's seed, of what the number is for, and of its place.
So it is the same on every device, alone or in any stack, and a resumed run needs no generator state.
"""

from __future__ import annotations

import torch

GOLDEN = 0x9E3779B97F4A7C15
_MIX_1 = 0xBF58476D1CE4E5B9
_MIX_2 = 0x94D049BB133111EB
_WORD = (1 << 64) - 1

ORDER, DROPOUT, WEIGHTS = 1, 2, 3
"""What a stream of numbers is for."""


def signed(value: int) -> int:
    """Return the 64-bit signed number with the bits of ``value``, as torch's int64 wants it."""
    value &= _WORD
    return value - (1 << 64) if value >> 63 else value


def mix(value: int) -> int:
    """Return SplitMix64's hash of a number.

    Example:
        >>> hex(mix(GOLDEN))  # the first number of Java's and numpy's SplitMix64 from seed 0
        '0xe220a8397b1dcdaf'
    """
    value &= _WORD
    value = ((value ^ (value >> 30)) * _MIX_1) & _WORD
    value = ((value ^ (value >> 27)) * _MIX_2) & _WORD
    return value ^ (value >> 31)


def stream_key(seed: int, purpose: int, number: int = 0) -> int:
    """Return the key of a stream of numbers: of the job's seed, the purpose, and a number within it."""
    return mix(mix(mix(seed + GOLDEN) + purpose * GOLDEN) + number * GOLDEN)


def mix_(words: torch.Tensor, scratch: torch.Tensor | None = None) -> torch.Tensor:
    """Replace int64 numbers by their hash, in place; the same as :func:`mix`."""
    scratch = torch.empty_like(words) if scratch is None else scratch
    for places, factor in ((30, _MIX_1), (27, _MIX_2), (31, None)):
        # torch shifts signed numbers arithmetically: the bits that come in from the left are cut off.
        torch.bitwise_right_shift(words, places, out=scratch)
        words ^= scratch.bitwise_and_((1 << (64 - places)) - 1)
        if factor is not None:
            words *= signed(factor)
    return words


def uniform(key: int, shape: tuple[int, ...], bound: float, device: torch.device | str) -> torch.Tensor:
    """Return float32 numbers uniform on [-bound, bound) in steps of 2^-24, the same on every device.

    Example:
        >>> uniform(stream_key(0, WEIGHTS), (2,), 1.0, "cpu").abs() < 1
        tensor([True, True])
    """
    count = torch.Size(shape).numel()
    words = torch.arange(1, count + 1, device=device)
    words = mix_(words.mul_(signed(GOLDEN)).add_(signed(key)))
    top = (words >> 40).bitwise_and_((1 << 24) - 1).to(torch.float32)
    return top.mul_(2.0**-23).sub_(1.0).mul_(bound).reshape(shape)
