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
    ],
    ids=["named", "reordered", "no header", "byte order mark"],
)
def test_any_csv(tmp_path, text):
    path = tmp_path / "mine.csv"
    path.write_text(text, "utf-8")
    check(read_ratings(path), ("10", "20"), (1.0, 5.0))


def test_scale_can_be_given(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("1,10,5\n")
    assert read_ratings(path, scale=(1, 10)).scale == (1, 10)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "user,rating\n1,5\n", "a.csv: the column item is missing among"),
        ("a.csv", "user,name\n1,5\n", "the columns item, rating are missing|the columns item, rating is missing"),
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
    with pytest.raises(ValueError, match=r"is damaged at u.data"):
        read_ratings(damaged)


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
