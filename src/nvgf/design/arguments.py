"""Checks of the numbers that several functions of this room take."""

from __future__ import annotations

import operator
from typing import Any


def whole_number(name: str, value: Any, least: int) -> int:
    """Return an integer of any kind, numpy's too, as an ``int``; raise if it is none, or less than ``least``.

    Example:
        >>> import numpy as np
        >>> whole_number("order", np.int64(2), 0)
        2
    """
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or number < least:
        raise ValueError(f"{name} must be an integer of at least {least}, got {value!r}")
    return number
