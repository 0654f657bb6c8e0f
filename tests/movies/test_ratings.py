import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nvgf.movies import Ratings

PAIRS = st.dictionaries(st.tuples(st.integers(1, 8), st.integers(1, 9)), st.integers(1, 5), min_size=1, max_size=30)


def table(pairs):
    users, items = zip(*pairs, strict=True)
    return Ratings.from_triples(users, items, list(pairs.values()), scale=(1, 5))


@given(PAIRS)
def test_matrix_and_counts_hold_what_was_given(pairs):
    ratings = table(pairs)
    matrix = ratings.matrix()
    assert np.count_nonzero(matrix) == len(pairs) == len(ratings)
    for (user, item), value in pairs.items():
        assert matrix[ratings.user_ids.index(user), ratings.item_ids.index(item)] == value
    np.testing.assert_array_equal(ratings.counts(), (matrix > 0).sum(0))


@given(PAIRS, st.integers(1, 9))
def test_most_rated_keeps_the_columns_with_most_ratings(pairs, count):
    ratings = table(pairs)
    count = min(count, ratings.num_items)
    top = ratings.most_rated(count)
    wanted = sorted(range(ratings.num_items), key=lambda i: (-ratings.counts()[i], i))[:count]
    assert top.item_ids == tuple(ratings.item_ids[i] for i in sorted(wanted))
    assert top.user_ids == ratings.user_ids
    np.testing.assert_array_equal(top.matrix(), ratings.matrix()[:, sorted(wanted)])


def test_items_that_nobody_rated_can_be_kept():
    ratings = Ratings.from_triples([1], [2], [3], all_items=[1, 2, 7])
    assert ratings.item_ids == (1, 2, 7)
    assert ratings.counts().tolist() == [0, 1, 0]


TITLES = {1: "Star Wars (1977)", 2: "Star Trek (1979)", 3: "Liar Liar (1997)", 4: "Contact (1997)"}
MOVIES = Ratings.from_triples([1] * 4, [1, 2, 3, 4], [5, 4, 3, 2], titles=TITLES)


@pytest.mark.parametrize(
    ("name", "place"),
    [("Star Wars", 0), ("star wars (1977)", 0), ("Liar, Liar", 2), ("contact", 3), ("trek", 1), (4, 3)],
)
def test_item_is_found_by_title_or_id(name, place):
    assert MOVIES.item(name) == place


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Star", r"2 titles fit 'Star': Star Wars \(1977\) \(id 1\), Star Trek"),
        ("Alien", "no title fits 'Alien' among the 4 items"),
        ("...", "must have letters or digits"),
        (99, "no item with id 99"),
    ],
)
def test_item_says_why_not(name, message):
    with pytest.raises(ValueError, match=message):
        MOVIES.item(name)


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        (([], [], []), {}, "there are no ratings"),
        (([1, 2], [1], [3, 3]), {}, "columns of one length, got 2, 1"),
        (([1], [1], [np.nan]), {}, "finite"),
        (([1], [1], [0.0]), {}, "must be positive"),
        (([1, 2], [1, 7], [3, 6]), {"scale": (1, 5)}, r"lie in 1..5, got 6 \(user 2, item 7\) and 0 more"),
        (([1, 1, 2], [4, 4, 4], [3, 4, 5]), {}, r"user 1 rated item 4 more than once \(1 duplicate user-item pair "),
        ((["a"], [1], [3]), {}, "users must be integer ids, got 'a'"),
        (([1, 1.5], [1, 2], [3, 3]), {}, "users must be integer ids, got 1.5"),
        (([1, np.nan], [1, 2], [3, 3]), {}, "users must be integer ids, got nan"),
        (
            ([1], [2**53], [3]),
            {},
            r"items must be smaller than 2\*\*53 = 9007199254740992 in magnitude, got 90071992547",
        ),
        (([1, 2**63 + 1], [1, 2], [3, 3]), {}, "users must be smaller than .* got 9"),
        (([-(2**53), 1], [1, 2], [3, 3]), {}, "users must be smaller than .* got -9007199254740992"),
        (([1, 2**70], [1, 2], [3, 3]), {}, "users must be integer ids"),
        (([1.0, 1e300], [1, 2], [3, 3]), {}, "users must be smaller than .* got 1e.300"),
        (([1.0, np.inf], [1, 2], [3, 3]), {}, "users must be smaller than .* got inf"),
    ],
)
def test_bad_tables_are_named(columns, options, message):
    with pytest.raises(ValueError, match=message):
        Ratings.from_triples(*columns, **options)


@pytest.mark.parametrize("count", [0, 5])
def test_most_rated_needs_a_possible_count(count):
    with pytest.raises(ValueError, match=f"count must lie in 1..4, the number of items, got {count}"):
        MOVIES.most_rated(count)


def test_the_digest_feels_every_part():
    def digest(users=(1, 2, 3), items=(5, 6, 6), values=(4, 2, 3), **options):
        return Ratings.from_triples(users, items, values, **{"scale": (1, 5), **options}).digest

    base = digest()
    assert digest() == base
    others = [
        digest(users=(1, 2, 4)),
        digest(items=(5, 6, 5)),
        digest(values=(4, 2, 5)),
        digest(titles={5: "Fargo"}),
        digest(scale=(1, 6)),
    ]
    assert len({base, *others}) == 6
