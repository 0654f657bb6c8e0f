"""A table of ratings: who rated what, and how."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

MAX_ID = 2**53
"""From here on ids that went through a float would no longer be what they were."""


@dataclass(frozen=True, eq=False)
class Ratings:
    """Ratings that users gave to items; 0 stands for "not rated" in the matrix, so ratings are positive.

    Make one with :meth:`from_triples` or :func:`~nvgf.movies.formats.read_ratings`, which check their input.

    Attributes:
        users, items: positions of each rating's user and item, ``(ratings,)``.
        values: the ratings, ``(ratings,)``.
        user_ids, item_ids: the ids behind the positions, ascending.
        titles: one title per item (its id where no title is known).
        scale: the smallest and the largest rating that can be given.

    >>> table = Ratings.from_triples([7, 7, 9], [1, 2, 1], [5, 3, 4], titles={1: "Fargo (1996)"})
    >>> table
    Ratings(users=2, items=2, ratings=3, scale=(3, 5))
    >>> table.matrix()
    array([[5., 3.],
           [4., 0.]])
    >>> table.item("fargo"), table.titles[1]
    (0, '2')
    """

    users: NDArray[np.int64]
    items: NDArray[np.int64]
    values: NDArray[np.float64]
    user_ids: tuple[int, ...]
    item_ids: tuple[int, ...]
    titles: tuple[str, ...]
    scale: tuple[float, float]

    @classmethod
    def from_triples(
        cls,
        users: ArrayLike,
        items: ArrayLike,
        values: ArrayLike,
        *,
        titles: Mapping[int, str] | None = None,
        scale: tuple[float, float] | None = None,
        all_items: Sequence[int] | None = None,
    ) -> Ratings:
        """Ratings from three columns.

        Args:
            users, items: integer ids below 2**53 in magnitude, ``(ratings,)``.
            values: positive ratings, ``(ratings,)``.
            titles: title of each item id.
            scale: smallest and largest rating; those of ``values`` when not given.
            all_items: further item ids to keep a column for, though nobody rated them.
        """
        user_ids, item_ids = _integers(users, "users"), _integers(items, "items")
        numbers = np.asarray(values, dtype=np.float64)
        if not len(user_ids) == len(item_ids) == numbers.size or numbers.ndim != 1:
            raise ValueError(
                "users, items and values must be columns of one length, got "
                f"{len(user_ids)}, {len(item_ids)} and shape {numbers.shape}"
            )
        if not len(numbers):
            raise ValueError("there are no ratings")
        if not np.isfinite(numbers).all():
            raise ValueError("ratings must be finite numbers")
        low, high = scale or (float(numbers.min()), float(numbers.max()))
        if not 0 < low <= high:
            raise ValueError(f"ratings must be positive (0 stands for 'not rated'), got the scale ({low:g}, {high:g})")
        wrong = np.flatnonzero((numbers < low) | (numbers > high))
        if len(wrong):
            first = wrong[0]
            raise ValueError(
                f"ratings must lie in {low:g}..{high:g}, got {numbers[first]:g} (user {user_ids[first]}, "
                f"item {item_ids[first]}) and {len(wrong) - 1} more outside"
            )
        known_users, user_places = np.unique(user_ids, return_inverse=True)
        known_items = np.unique(np.concatenate([item_ids, _integers(all_items or [], "all_items")]))
        item_places = np.searchsorted(known_items, item_ids)
        pairs = user_places * len(known_items) + item_places
        order = np.argsort(pairs, kind="stable")
        twice = np.flatnonzero(np.diff(pairs[order]) == 0)
        if len(twice):
            first = order[twice[0]]
            raise ValueError(
                f"user {user_ids[first]} rated item {item_ids[first]} more than once "
                f"({len(twice)} duplicate user-item pair{'s' if len(twice) > 1 else ''} in all)"
            )
        names = titles or {}
        return cls(
            users=user_places[order].astype(np.int64),
            items=item_places[order].astype(np.int64),
            values=numbers[order],
            user_ids=tuple(known_users.tolist()),
            item_ids=tuple(known_items.tolist()),
            titles=tuple(names.get(item, str(item)) for item in known_items.tolist()),
            scale=(low, high),
        )

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        low, high = self.scale
        return (
            f"Ratings(users={self.num_users}, items={self.num_items}, ratings={len(self)}, scale=({low:g}, {high:g}))"
        )

    @property
    def num_users(self) -> int:
        """Number of users."""
        return len(self.user_ids)

    @property
    def num_items(self) -> int:
        """Number of items."""
        return len(self.item_ids)

    @cached_property
    def digest(self) -> str:
        """Hash of all ratings, ids and titles: equal digests mean equal tables, whatever file they came from.

        >>> one = Ratings.from_triples([1, 2], [5, 6], [4, 2], scale=(1, 5))
        >>> one.digest == Ratings.from_triples([2, 1], [6, 5], [2, 4], scale=(1, 5)).digest
        True
        """
        facts = [self.user_ids, self.item_ids, self.titles, self.scale]
        digest = hashlib.sha256(json.dumps(facts).encode())
        for column in (self.users, self.items, self.values):
            digest.update(np.ascontiguousarray(column).tobytes())
        return digest.hexdigest()

    def matrix(self) -> NDArray[np.float64]:
        """All ratings as ``(users, items)``, 0 where there is none."""
        dense = np.zeros((self.num_users, self.num_items))
        dense[self.users, self.items] = self.values
        return dense

    def counts(self) -> NDArray[np.int64]:
        """Number of ratings of each item, ``(items,)``."""
        return np.bincount(self.items, minlength=self.num_items).astype(np.int64)

    def most_rated(self, count: int) -> Ratings:
        """The ratings of the ``count`` items with the most ratings (of equals, the smaller id), with all users.

        >>> Ratings.from_triples([1, 1, 2], [5, 6, 6], [1, 2, 3]).most_rated(1).item_ids
        (6,)
        """
        if not 1 <= count <= self.num_items:
            raise ValueError(f"count must lie in 1..{self.num_items}, the number of items, got {count}")
        # A stable sort on the negated counts keeps smaller ids first among equals.
        kept = np.sort(np.argsort(-self.counts(), kind="stable")[:count])
        place = np.full(self.num_items, -1)
        place[kept] = np.arange(count)
        inside = place[self.items] >= 0
        return replace(
            self,
            users=self.users[inside],
            items=place[self.items[inside]],
            values=self.values[inside],
            item_ids=tuple(self.item_ids[i] for i in kept),
            titles=tuple(self.titles[i] for i in kept),
        )

    def item(self, name: str | int) -> int:
        """Position of an item, by its id (an integer) or its title.

        A title may leave out the year, the case and the punctuation, and may be a part of the title as long
        as one item alone fits: ``"liar liar"`` finds ``Liar Liar (1997)``.
        """
        if not isinstance(name, (str, int, np.integer)):
            raise TypeError(f"an item is named by its title or by its id, an integer, got {name!r}")
        if not isinstance(name, str):
            if int(name) not in self.item_ids:
                raise ValueError(f"there is no item with id {int(name)} among the {self.num_items} items")
            return self.item_ids.index(int(name))
        wanted = _plain(name)
        if not wanted:
            raise ValueError(f"the title of an item must have letters or digits, got {name!r}")
        with_year = [_plain(title) for title in self.titles]
        without = [_plain(re.sub(r"\s*\(\d{4}\)\s*$", "", title)) for title in self.titles]
        attempts = (
            [i for i, title in enumerate(with_year) if title == wanted],
            [i for i, title in enumerate(without) if title == wanted],
            [i for i, title in enumerate(with_year) if wanted in title],
        )
        found = next((hits for hits in attempts if hits), [])
        if len(found) == 1:
            return found[0]
        if not found:
            raise ValueError(f"no title fits {name!r} among the {self.num_items} items")
        some = ", ".join(f"{self.titles[i]} (id {self.item_ids[i]})" for i in found[:5])
        raise ValueError(f"{len(found)} titles fit {name!r}: {some}{', ...' if len(found) > 5 else ''}; give the id")


def _plain(title: str) -> str:
    return " ".join(re.findall(r"\w+", title.casefold()))


def _integers(values: ArrayLike, name: str) -> NDArray[np.int64]:
    array = np.asarray(values)
    if array.size == 0:
        return np.zeros(0, dtype=np.int64)
    wrong = np.flatnonzero(array != np.round(array)) if array.dtype.kind == "f" else range(array.dtype.kind not in "iu")
    if len(wrong):
        raise ValueError(f"{name} must be integer ids, got {array.ravel().tolist()[wrong[0]]!r} of dtype {array.dtype}")
    check_ids(array, name)
    return array.astype(np.int64)


def check_ids(ids: NDArray[Any], name: str) -> None:
    """Raise if a float64 could not tell some whole numbers from their neighbours."""
    large = ids[np.abs(ids.astype(np.float64)) >= MAX_ID]
    if large.size:
        raise ValueError(f"{name} must be smaller than 2**53 = {MAX_ID} in magnitude, got {large[0]}")
