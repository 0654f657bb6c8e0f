import zipfile

import numpy as np
import pytest

from nvgf.movies import Ratings, find_movielens, read_ratings

U_DATA = "1\t10\t5\t881250949\n2\t10\t3\t881250949\n2\t20\t1\t881250949\n"
U_ITEM = "10|Amélie (2001)|01-Jan-2001||url|0\n20|Fargo (1996)|||url|1\n".encode("latin-1")
WANTED = np.array([[5.0, 0.0], [3.0, 1.0]])


def check(ratings: Ratings, titles, scale):
    np.testing.assert_array_equal(ratings.matrix(), WANTED)
    assert ratings.titles == titles
    assert ratings.scale == scale


@pytest.fixture
def hundred_k(tmp_path):
    folder = tmp_path / "ml-100k"
    folder.mkdir()
    (folder / "u.data").write_text(U_DATA)
    (folder / "u.item").write_bytes(U_ITEM)
    return folder


def test_movielens_100k_folder_file_and_parent(hundred_k):
    titles = ("Amélie (2001)", "Fargo (1996)")
    for path in (hundred_k, hundred_k / "u.data", hundred_k.parent):
        check(read_ratings(path), titles, (1.0, 5.0))


def test_movielens_100k_zip(hundred_k, tmp_path):
    path = tmp_path / "ml-100k.zip"
    with zipfile.ZipFile(path, "w") as file:
        for name in ("u.data", "u.item"):
            file.write(hundred_k / name, f"ml-100k/{name}")
    check(read_ratings(path), ("Amélie (2001)", "Fargo (1996)"), (1.0, 5.0))


def test_movielens_1m(tmp_path):
    (tmp_path / "ratings.dat").write_text("1::10::5::97\n2::10::3::97\n2::20::1::97\n")
    (tmp_path / "movies.dat").write_bytes("10::Amélie (2001)::Comedy\n".encode("latin-1"))
    check(read_ratings(tmp_path), ("Amélie (2001)", "20"), (1.0, 5.0))


def test_movielens_latest_small(tmp_path):
    (tmp_path / "ratings.csv").write_text("userId,movieId,rating,timestamp\n1,10,5.0,9\n2,10,3.0,9\n2,20,1.0,9\n")
    (tmp_path / "movies.csv").write_text('movieId,title,genres\n10,"Amélie, or not (2001)",Comedy\n', "utf-8")
    check(read_ratings(tmp_path), ("Amélie, or not (2001)", "20"), (0.5, 5.0))


@pytest.mark.parametrize(
    "text",
    [
        "user,item,rating\n1,10,5\n2,10,3\n2,20,1\n",
        "rating,when,movie_id,user_id\n5,x,10,1\n3,x,10,2\n1,x,20,2\n",
        "1,10,5\n2,10,3\n\n2,20,1\n",
        "\ufeffUser,Item,Rating\n1,10,5\n2,10,3\n2,20,1\n",
        "user\titem\trating\n1\t10\t5\n2\t10\t3\n2\t20\t1\n",
        "user;item;rating\n1;10;5\n2;10;3\n2;20;1\n",
        "1\t10\t5\t874965758\n2\t10\t3\t876893171\n2\t20\t1\t878542960\n",
        "userId,movie,movieId,rating\n1,99,10,5\n2,98,10,3\n2,97,20,1\n",
        "user,item,rating\r1,10,5\r2,10,3\r2,20,1\r",
        "user,item,rating\n1.0,10.0,5\n2.0,10.,3\n2,20,1\n",
    ],
    ids=[
        "named", "reordered", "no header", "byte order mark", "tabs", "semicolons", "as u1.base", "two names",
        "CR", "whole floats",
    ],
)  # fmt: skip
def test_any_csv(tmp_path, text):
    path = tmp_path / "mine.csv"
    path.write_bytes(text.encode())
    check(read_ratings(path), ("10", "20"), (1.0, 5.0))


def test_titles_may_hold_what_python_takes_for_the_end_of_a_line(hundred_k):
    (hundred_k / "u.item").write_bytes(b"10|Nikita \x85 again (1990)|\r\n20|Fargo (1996)|\r\n")
    assert read_ratings(hundred_k).titles == ("Nikita \x85 again (1990)", "Fargo (1996)")


def test_titles_are_those_of_the_folder_of_the_ratings(hundred_k):
    other = hundred_k / "old"
    other.mkdir()
    (hundred_k / "u.item").rename(other / "u.item")
    assert read_ratings(hundred_k).titles == ("10", "20")
    (other / "u.data").write_text("5\t10\t1\t0\n")
    check(read_ratings(hundred_k), ("10", "20"), (1.0, 5.0))


def test_of_several_data_sets_the_uppermost_is_read_or_one_must_be_named(hundred_k, tmp_path):
    (tmp_path / "another").mkdir()
    (tmp_path / "another" / "u.data").write_text("5\t10\t1\t0\n")
    with pytest.raises(ValueError, match="holds several data sets, another and ml-100k: name one of them"):
        read_ratings(tmp_path)
    (tmp_path / "u.data").write_text("7\t10\t1\t0\n")
    assert read_ratings(tmp_path).user_ids == (7,)


@pytest.mark.parametrize("prefix", ["./", "ml\\", "a/b/c/", ""])
def test_members_of_zips_are_found_however_they_are_written(hundred_k, tmp_path, prefix):
    path = tmp_path / "mine.zip"
    with zipfile.ZipFile(path, "w") as file:
        for name in ("u.data", "u.item"):
            file.write(hundred_k / name, prefix + name)
    check(read_ratings(path), ("Amélie (2001)", "Fargo (1996)"), (1.0, 5.0))


def test_scale_can_be_given(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("1,10,5\n")
    assert read_ratings(path, scale=(1, 10)).scale == (1, 10)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "user,rating\n1,5\n", "a.csv: the column item is missing among"),
        ("a.csv", "user,name\n1,5\n", "the columns item, rating are missing"),
        (
            "a.csv",
            "uid,mid,stars\n1,2,3\n",
            r"the columns user, item, rating are missing among \['uid', 'mid', 'stars'",
        ),
        ("a.csv", 'user,item,rating\n1,"10,5\n2,10,3\n', "a.csv, line 3: unexpected end of data"),
        ("a.csv", "user,item,rating\n1,7,3\n2,7,nan\n", "line 3: the rating must be a number, got 'nan'"),
        ("u.data", "1\t7\tinf\t0\n", "line 1: the rating must be a number, got 'inf'"),
        ("a.csv", "9007199254740993,7,3\n", "a.csv: users must be smaller than .* got 9007199254740993"),
        ("a.csv", "1,7_0,3\n", "line 1: the item must be an integer id, got '7_0'"),
        ("a.csv", "1,5\n", r"expected the columns user, item, rating, got 2 column\(s\)"),
        ("a.csv", "user,item,rating\n1,5\n", "line 2: expected 3 columns or more, got 2"),
        ("a.csv", "user,item,rating\nbob,5,3\n", "line 2: the user must be an integer id, got 'bob'"),
        ("a.csv", "1,x7,3\n", "line 1: the item must be an integer id, got 'x7'"),
        ("a.csv", "1,7,good\n", "line 1: the rating must be a number, got 'good'"),
        ("a.csv", "1,7,3\n1,7,4\n", "user 1 rated item 7 more than once"),
        ("a.csv", "", "is empty"),
        ("a.csv", "user,item,rating\n", "is empty"),
        ("a.csv", "1,7,-3\n", "must be positive"),
        ("u.data", "1\t7\t9\t0\n", r"u.data: ratings must lie in 1..5, got 9 \(user 1, item 7\)"),
        ("u.data", "1 7 3 0\n", r"u.data, line 1: expected user, item and rating separated by '\\t'"),
        ("u.data", "1.5\t7\t3\t0\n", "line 1: the user must be an integer id, got '1.5'"),
        ("u.data", "", "is empty"),
        ("ratings.dat", "1:7:3\n", "separated by '::'"),
    ],
)
def test_bad_files_are_named(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=message):
        read_ratings(tmp_path / name)


def test_wrong_zips_are_named(tmp_path, hundred_k):
    broken = tmp_path / "broken.zip"
    broken.write_bytes(b"PK no zip at all")
    with pytest.raises(ValueError, match=r"broken.zip is not a readable zip"):
        read_ratings(broken)
    other = tmp_path / "other.zip"
    with zipfile.ZipFile(other, "w") as file:
        file.writestr("readme.txt", "hello")
    with pytest.raises(ValueError, match=r"holds none of u.data, ratings.dat, ratings.csv"):
        read_ratings(other)
    damaged = tmp_path / "damaged.zip"
    with zipfile.ZipFile(damaged, "w") as file:
        file.write(hundred_k / "u.data", "ml-100k/u.data")
    raw = bytearray(damaged.read_bytes())
    raw[raw.index(b"881250949")] = ord("9")
    damaged.write_bytes(raw)
    with pytest.raises(ValueError, match=r"damaged.zip is damaged at ml-100k/u.data"):
        read_ratings(damaged)


LOCAL, CENTRAL = b"PK\x03\x04", b"PK\x01\x02"


@pytest.mark.parametrize(
    "spoil",
    [
        lambda raw: raw.__setitem__(slice(60, 80), b"\xff" * 20),  # what was deflated
        lambda raw: [raw.__setitem__(raw.index(mark) + at, 1) for mark, at in ((LOCAL, 6), (CENTRAL, 8))],  # encrypted
        lambda raw: [
            raw.__setitem__(raw.index(mark) + at, 99) for mark, at in ((LOCAL, 8), (CENTRAL, 10))
        ],  # packed how?
        lambda raw: [raw.__setitem__(raw.index(mark) + at, 14) for mark, at in ((LOCAL, 8), (CENTRAL, 10))],  # as LZMA
        lambda raw: [raw.__setitem__(raw.index(mark) + at, 12) for mark, at in ((LOCAL, 8), (CENTRAL, 10))],  # as bzip2
    ],
    ids=["deflated", "encrypted", "unknown", "lzma", "bzip2"],
)
def test_damaged_zips_are_named(tmp_path, spoil):
    path = tmp_path / "bad.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("u.data", "".join(f"{user}\t10\t{1 + user % 5}\t{user**3}\n" for user in range(500)))
    raw = bytearray(path.read_bytes())
    spoil(raw)
    path.write_bytes(raw)
    with pytest.raises(ValueError, match=r"bad.zip is damaged at u.data, or packed in a way not known"):
        read_ratings(path)
    path.write_bytes(raw[:-40])
    with pytest.raises(ValueError, match=r"bad.zip is not a readable zip"):
        read_ratings(path)


def test_wrong_places_are_named(tmp_path):
    with pytest.raises(ValueError, match="it is no MovieLens data set"):
        read_ratings(tmp_path)
    with pytest.raises(FileNotFoundError, match="there is no ratings file or folder"):
        read_ratings(tmp_path / "none.csv")
    binary = tmp_path / "binary.csv"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="is not utf-8-sig text"):
        read_ratings(binary)


@pytest.mark.data
def test_movielens_100k_has_the_counts_of_the_paper(nvgf_data):
    ratings = read_ratings(find_movielens(nvgf_data / "ml-100k"))
    assert (len(ratings), ratings.num_users, ratings.num_items) == (100_000, 943, 1682)
    assert (np.bincount(ratings.users) >= 20).all()
    top = ratings.most_rated(250)
    assert len(top) == 54_746
    assert len(np.unique(top.users)) == 943
    order = np.argsort(-top.counts(), kind="stable")[:5]
    assert [(top.titles[i], top.counts()[i]) for i in order] == [
        ("Star Wars (1977)", 583),
        ("Contact (1997)", 509),
        ("Fargo (1996)", 508),
        ("Return of the Jedi (1983)", 507),
        ("Liar Liar (1997)", 485),
    ]
