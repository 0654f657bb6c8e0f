import io
import json
import zipfile

import numpy as np
import pytest

from nvgf.authorship import Book, Corpus, FunctionWords, load_corpus
from nvgf.authorship.corpus import parse_corpus
from nvgf.files import write_atomically

AUTHORS = {"ann": [3, 2], "bob": [4]}


def members(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(contents: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in contents.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def npy(array: np.ndarray, allow_pickle: bool = False) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=allow_pickle)
    return buffer.getvalue()


@pytest.fixture
def saved(make_corpus, tmp_path):
    corpus = make_corpus(AUTHORS)
    corpus.save(tmp_path / "corpus.npz")
    return corpus, (tmp_path / "corpus.npz").read_bytes()


def test_a_corpus_file_holds_everything(saved, tmp_path):
    corpus, _ = saved
    again = load_corpus(tmp_path / "corpus.npz")
    assert again.words == corpus.words
    assert again.books == corpus.books
    assert again.full_names == corpus.full_names
    assert again.excerpt_size == corpus.excerpt_size
    assert np.array_equal(again.symbols, corpus.symbols)
    assert again.symbols.dtype == corpus.symbols.dtype
    assert np.array_equal(again.sizes, corpus.sizes)
    assert again.digest == corpus.digest
    assert [path.name for path in tmp_path.iterdir()] == ["corpus.npz"]


def test_the_same_corpus_gives_the_same_bytes(saved, make_corpus, tmp_path):
    make_corpus(AUTHORS).save(tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == saved[1]


def test_the_file_is_plain_numpy(saved):
    with np.load(io.BytesIO(saved[1]), allow_pickle=False) as archive:
        assert sorted(archive) == ["bytes", "digest", "lengths", "meta", "sizes", "stream"]
        assert json.loads(archive["meta"].tobytes())["format"] == "nvgf-corpus"


def test_excerpts_know_author_book_and_position(saved):
    corpus, _ = saved
    assert corpus.authors == ("ann", "bob")
    assert corpus.author_of.tolist() == [0] * 5 + [1] * 4
    assert corpus.book_of.tolist() == [0, 0, 0, 1, 1, 2, 2, 2, 2]
    assert corpus.position.tolist() == [0, 1, 2, 0, 1, 0, 1, 2, 3]
    assert corpus.excerpts("bob").tolist() == [5, 6, 7, 8]
    assert len(corpus) == 9
    assert np.array_equal(corpus.take([2, 0]), np.concatenate((corpus.excerpt(2), corpus.excerpt(0))))
    assert len(corpus.take([])) == 0


def test_counts_are_those_of_each_excerpt(saved):
    corpus, _ = saved
    for index in range(len(corpus)):
        tally = [(corpus.excerpt(index) == word + 1).sum() for word in range(len(corpus.words))]
        assert corpus.counts[index].tolist() == tally


def test_a_corpus_is_read_only(saved):
    with pytest.raises(ValueError, match="read-only"):
        saved[0].symbols[0] = 1


def test_an_unknown_author(saved):
    with pytest.raises(ValueError, match="author 'Ann' is not in the corpus; it has ann, bob"):
        saved[0].excerpts("Ann")


@pytest.mark.parametrize("length", [0, 1, 100, 2000, -1, -30])
def test_a_truncated_file_is_refused(saved, length):
    with pytest.raises(ValueError, match=r"a.npz: not a corpus file, or a truncated or damaged one"):
        parse_corpus(saved[1][:length], "a.npz")


@pytest.mark.parametrize("method", [99, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA, zipfile.ZIP_DEFLATED])
def test_members_packed_otherwise_are_refused_with_the_reason(saved, method):
    data = bytearray(saved[1])
    for signature, offset in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        at = data.find(signature)
        while at >= 0:
            data[at + offset : at + offset + 2] = method.to_bytes(2, "little")
            at = data.find(signature, at + 4)
    with pytest.raises(ValueError, match=r"^a.npz: not a corpus file, or a truncated or damaged one \(.+\)"):
        parse_corpus(bytes(data), "a.npz")


def outcome(data: bytes) -> str:
    try:
        parse_corpus(data, "a.npz")
    except ValueError as error:
        return str(error)
    return "a.npz: read"


def test_any_damage_to_the_frame_is_refused_by_name(saved):
    for position in range(saved[1].index(b"PK\x01\x02"), len(saved[1])):
        for flip in (0x01, 0x80, 0xFF):
            broken = bytearray(saved[1])
            broken[position] ^= flip
            assert outcome(bytes(broken)).startswith("a.npz: ")


def test_a_broken_header_of_a_member_is_refused(saved):
    contents = members(saved[1])
    broken = contents["sizes.npy"].replace(b"}", b"(", 1)
    with pytest.raises(ValueError, match=r"a.npz: the corpus file is damaged or tampered with"):
        parse_corpus(packed({**contents, "sizes.npy": broken}), "a.npz")


def test_every_flipped_byte_of_the_stream_is_noticed(saved):
    contents = members(saved[1])
    stream = contents["stream.npy"]
    for position in range(128, len(stream), 7):
        broken = bytearray(stream)
        broken[position] ^= 0x10
        with pytest.raises(ValueError, match="damaged or tampered with"):
            parse_corpus(packed({**contents, "stream.npy": bytes(broken)}))


def test_a_flipped_byte_of_the_file_is_noticed(saved):
    broken = bytearray(saved[1])
    broken[len(broken) // 2] ^= 1
    with pytest.raises(ValueError, match="damaged"):
        parse_corpus(bytes(broken))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda meta: meta["books"][0].update(author="bob"), "the check sum does not fit the contents"),
        (lambda meta: meta.update(format="zip"), "its format is 'zip', expected 'nvgf-corpus'"),
        (lambda meta: meta.update(version=2), "its version is 2, this nvgf reads up to 1"),
        (lambda meta: meta.pop("words"), "'words'"),
        (lambda meta: meta["words"].append("a"), "13 words have 12 categories"),
    ],
)
def test_a_tampered_description_is_refused(saved, change, message):
    contents = members(saved[1])
    meta = json.loads(np.load(io.BytesIO(contents["meta.npy"])).tobytes())
    change(meta)
    contents["meta.npy"] = npy(np.frombuffer(json.dumps(meta).encode(), np.uint8))
    with pytest.raises(ValueError, match="tampered") as caught:
        parse_corpus(packed(contents))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "member",
    [
        {"sizes.npy": npy(np.array([3], np.uint32))},
        {"sizes.npy": npy(np.full(9, 2**31, np.uint32))},
        {"bytes.npy": npy(np.array([3] * 9, np.uint32))},
        {"lengths.npy": npy(np.zeros(14, np.uint8))},
        {"lengths.npy": npy(np.full(14, 40, np.uint8))},
        {"digest.npy": npy(np.zeros(32, np.uint8))},
        {"stream.npy": b"no array"},
        {"meta.npy": npy(np.frombuffer(b"no json", np.uint8))},
        {"meta.npy": npy(np.frombuffer(b"[]", np.uint8))},
    ],
)
def test_tampered_members_are_refused(saved, member):
    with pytest.raises(ValueError, match="damaged"):
        parse_corpus(packed({**members(saved[1]), **member}))


def test_a_pickle_is_never_loaded(saved):
    evil = npy(np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="damaged"):
        parse_corpus(packed({**members(saved[1]), "meta.npy": evil}))


def test_other_files_are_no_corpus(tmp_path):
    np.savez(tmp_path / "other.npz", x=np.ones(3))
    with pytest.raises(ValueError, match=r"other.npz: not a corpus file \(its members are x.npy\)"):
        load_corpus(tmp_path / "other.npz")
    (tmp_path / "text.npz").write_text("hello")
    with pytest.raises(ValueError, match=r"text.npz: not a corpus file"):
        load_corpus(tmp_path / "text.npz")
    with pytest.raises(FileNotFoundError):
        load_corpus(tmp_path / "none.npz")


WORDS = FunctionWords(("the",), ("",))
BOOK = Book("ann", "T", "ann/t.txt", "T", 2, 1)


@pytest.mark.parametrize(
    ("books", "names", "symbols", "sizes", "message"),
    [
        ((), {}, [1, 2], [2], "a corpus needs at least one book"),
        ((BOOK,), {"bob": "Bob"}, [1, 2], [2], "full_names must name exactly the authors"),
        ((BOOK,), {"ann": "Ann"}, [1, 2, 1, 2], [2, 2], "the books announce other than the 2 excerpts"),
        ((BOOK,), {"ann": "Ann"}, [1, 2], [3], "sizes must be positive and add up"),
        ((BOOK,), {"ann": "Ann"}, [1, 3], [2], "symbols must be at most 2"),
        ((BOOK,), {"ann": "Ann"}, [2, 1], [2], "each excerpt must end with it"),
        (
            (Book("b", "", "b", "", 1, 1), Book("a", "", "a", "", 1, 1)),
            {"a": "", "b": ""},
            [2, 2],
            [1, 1],
            "must be in the order",
        ),
    ],
)
def test_parts_that_do_not_fit(books, names, symbols, sizes, message):
    with pytest.raises(ValueError, match=message):
        Corpus(WORDS, books, names, 1000, np.array(symbols, np.uint8), np.array(sizes))


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    file = tmp_path / "a.bin"
    file.write_bytes(b"old")

    def fail(descriptor: int) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        write_atomically(file, b"new")
    assert file.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["a.bin"]
