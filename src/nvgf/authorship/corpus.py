"""A corpus: the skeletons of all excerpts with author, book and position, and the file that holds them."""

from __future__ import annotations

import hashlib
import io
import json
import lzma
import tokenize
import zipfile
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property, lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvgf.authorship.coding import check_lengths, code_lengths, decode, encode
from nvgf.authorship.skeletons import Symbols, count_words, end_symbol, symbol_type
from nvgf.authorship.words import FunctionWords
from nvgf.files import write_atomically

FORMAT = "nvgf-corpus"
VERSION = 1
_MEMBERS = ("meta", "lengths", "sizes", "bytes", "stream", "digest")


@dataclass(frozen=True)
class Book:
    """One book of a corpus; its excerpts follow one another in the corpus, in the order of the text."""

    author: str
    title: str
    file: str
    work: str
    num_words: int
    num_excerpts: int
    pg_id: int | None = None
    year: int | None = None


@dataclass(frozen=True, eq=False)
class Corpus:
    """The skeletons of the excerpts of many books.

    ``symbols`` holds all excerpts one after the other (0 another word, i + 1 function word i, ``len(words) + 1`` the
    end of a sentence), ``sizes`` the number of symbols of each. Everything is read-only.

    Shapes:
        - ``symbols``: ``(sizes.sum(),)``
        - ``sizes``, ``author_of``, ``book_of``: ``(excerpts,)``
        - ``counts``: ``(excerpts, words)``

    Example:
        >>> from nvgf.authorship import load_corpus
        >>> corpus = load_corpus()
        >>> len(corpus.authors), corpus.full_names["austen"]
        (21, 'Jane Austen')
    """

    words: FunctionWords
    books: tuple[Book, ...]
    full_names: dict[str, str]
    excerpt_size: int
    symbols: Symbols = field(repr=False)
    sizes: NDArray[np.int64] = field(repr=False)

    def __post_init__(self) -> None:
        if not self.books:
            raise ValueError("a corpus needs at least one book")
        if list(self.books) != sorted(self.books, key=lambda book: (book.author, book.file)):
            raise ValueError("the books of a corpus must be in the order of their authors and files")
        if set(self.full_names) != {book.author for book in self.books}:
            raise ValueError("full_names must name exactly the authors of the books")
        if len(self.sizes) != sum(book.num_excerpts for book in self.books):
            raise ValueError(f"the books announce other than the {len(self.sizes)} excerpts there are")
        if self.sizes.sum() != len(self.symbols) or (self.sizes < 1).any():
            raise ValueError("sizes must be positive and add up to the number of symbols")
        end = end_symbol(len(self.words))
        if self.symbols.max(initial=0) > end or (self.symbols[np.cumsum(self.sizes) - 1] != end).any():
            raise ValueError(f"symbols must be at most {end}, and each excerpt must end with it")
        self.symbols.flags.writeable = False
        self.sizes.flags.writeable = False

    def __len__(self) -> int:
        return len(self.sizes)

    @cached_property
    def authors(self) -> tuple[str, ...]:
        """The keys of the authors, sorted."""
        return tuple(sorted(self.full_names))

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Where each excerpt starts in ``symbols``, and where the last ends: shape ``(excerpts + 1,)``."""
        return np.concatenate((np.zeros(1, np.int64), np.cumsum(self.sizes)))

    @cached_property
    def book_of(self) -> NDArray[np.int64]:
        """The index of the book of each excerpt."""
        return np.repeat(np.arange(len(self.books)), [book.num_excerpts for book in self.books])

    @cached_property
    def position(self) -> NDArray[np.int64]:
        """The place of each excerpt in its book, from 0."""
        return np.concatenate([np.arange(book.num_excerpts) for book in self.books])

    @cached_property
    def author_of(self) -> NDArray[np.int64]:
        """The index, in ``authors``, of the author of each excerpt."""
        of_book = np.array([self.authors.index(book.author) for book in self.books])
        return of_book[self.book_of]

    @cached_property
    def counts(self) -> NDArray[np.int32]:
        """How often each function word occurs in each excerpt: shape ``(excerpts, words)``."""
        return count_words(self.symbols, self.sizes, len(self.words))

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of everything that the corpus holds, as 64 hexadecimal digits."""
        return _digest(self._meta(), self.sizes, self.symbols)

    def excerpts(self, author: str) -> NDArray[np.int64]:
        """Return the indices of the excerpts of one author."""
        return np.flatnonzero(self.author_of == self.author_index(author))

    def without(self, files: Iterable[str]) -> Corpus:
        """Return the corpus without some books, by their files: to attribute them as if they were new."""
        left_out = set(files)
        if unknown := left_out - {book.file for book in self.books}:
            raise ValueError(f"files has books that are not in the corpus: {', '.join(sorted(unknown))}")
        keep = np.array([book.file not in left_out for book in self.books])[self.book_of]
        books = tuple(book for book in self.books if book.file not in left_out)
        authors = {book.author for book in books}
        return Corpus(
            self.words,
            books,
            {author: name for author, name in self.full_names.items() if author in authors},
            self.excerpt_size,
            self.symbols[np.repeat(keep, self.sizes)],
            self.sizes[keep],
        )

    def author_index(self, author: str) -> int:
        """Return the index of an author in ``authors``."""
        try:
            return self.authors.index(author)
        except ValueError:
            raise ValueError(f"author {author!r} is not in the corpus; it has {', '.join(self.authors)}") from None

    def excerpt(self, index: int) -> Symbols:
        """Return the skeleton of one excerpt."""
        return self.symbols[self.starts[index] : self.starts[index + 1]]

    def take(self, excerpts: Sequence[int] | NDArray[np.int64]) -> Symbols:
        """Return the skeletons of several excerpts, one after the other."""
        chosen = [self.excerpt(int(index)) for index in excerpts]
        return np.concatenate(chosen) if chosen else self.symbols[:0]

    def _meta(self) -> bytes:
        meta = {
            "format": FORMAT,
            "version": VERSION,
            "excerpt_size": self.excerpt_size,
            "words": self.words.words,
            "categories": self.words.categories,
            "full_names": self.full_names,
            "books": [asdict(book) for book in self.books],
        }
        return json.dumps(meta, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()

    def save(self, path: str | Path) -> None:
        """Write the corpus file, whole or not at all. The same corpus gives the same bytes everywhere."""
        lengths = code_lengths(np.bincount(self.symbols, minlength=end_symbol(len(self.words)) + 1))
        stream, num_bytes = encode(self.symbols, self.sizes, lengths)
        members: dict[str, NDArray[Any]] = {
            "meta": np.frombuffer(self._meta(), np.uint8),
            "lengths": lengths,
            "sizes": self.sizes.astype("<u4"),
            "bytes": num_bytes.astype("<u4"),
            "stream": stream,
            "digest": np.frombuffer(bytes.fromhex(self.digest), np.uint8),
        }
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
            for name in _MEMBERS:
                info = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
                info.create_system = 3  # the same on Windows
                data = io.BytesIO()
                np.lib.format.write_array(data, members[name], version=(1, 0), allow_pickle=False)
                archive.writestr(info, data.getvalue())
        write_atomically(Path(path), buffer.getvalue())


def _digest(meta: bytes, sizes: NDArray[np.int64], symbols: Symbols) -> str:
    digest = hashlib.sha256(len(meta).to_bytes(8, "little") + meta)
    digest.update(sizes.astype("<u4").tobytes())
    digest.update(symbols.astype(symbols.dtype.newbyteorder("<")).tobytes())
    return digest.hexdigest()


def load_corpus(path: str | Path | None = None) -> Corpus:
    """Load a corpus file; without a path, the 21 authors that come with the package.

    Nothing is unpickled. The check sum over all contents is verified.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if the file is no corpus file, is of a newer version, or is truncated or tampered with.

    Example:
        >>> corpus = load_corpus()
        >>> len(corpus.books), len(corpus.words)
        (151, 214)
    """
    if path is None:
        return _embedded()
    path = Path(path)
    return parse_corpus(path.read_bytes(), str(path))


@lru_cache(maxsize=1)
def _embedded() -> Corpus:
    file = resources.files("nvgf.authorship") / "data" / "corpus.npz"
    return parse_corpus(file.read_bytes(), "the embedded corpus")


def parse_corpus(data: bytes, name: str = "corpus") -> Corpus:
    """Return the corpus held by the bytes of a corpus file; ``name`` is used in messages."""
    expected = {f"{member}.npy" for member in _MEMBERS}
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
            contents = {member: archive.read(member) for member in names} if set(names) == expected else {}
    except (zipfile.BadZipFile, ValueError, RuntimeError, OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise ValueError(f"{name}: not a corpus file, or a truncated or damaged one ({error})") from error
    if not contents:
        raise ValueError(f"{name}: not a corpus file (its members are {', '.join(names[:8])})")
    try:
        arrays = {
            member: np.lib.format.read_array(io.BytesIO(contents[f"{member}.npy"]), allow_pickle=False)
            for member in _MEMBERS
        }
        meta = json.loads(arrays["meta"].tobytes())
        if meta["format"] != FORMAT:
            raise ValueError(f"its format is {meta['format']!r}, expected {FORMAT!r}")
        if meta["version"] > VERSION:
            raise ValueError(f"its version is {meta['version']}, this nvgf reads up to {VERSION}")
        words = FunctionWords(tuple(meta["words"]), tuple(meta["categories"]))
        sizes, num_bytes = arrays["sizes"].astype(np.int64), arrays["bytes"].astype(np.int64)
        lengths, stream = arrays["lengths"].astype(np.uint8), arrays["stream"]
        if stream.dtype != np.uint8 or num_bytes.sum() != len(stream) or len(num_bytes) != len(sizes):
            raise ValueError("the sizes do not fit the stream")
        if (sizes > 8 * num_bytes).any():  # a code word has a bit at least; without this a forged size costs hours
            raise ValueError("an excerpt has more symbols than bits")
        if len(lengths) != end_symbol(len(words)) + 1:
            raise ValueError(f"there are {len(lengths)} code words for {len(words)} function words")
        check_lengths(lengths)
        symbols = decode(stream, num_bytes, sizes, lengths, symbol_type(len(words)))
        if _digest(arrays["meta"].tobytes(), sizes, symbols) != arrays["digest"].tobytes().hex():
            raise ValueError("the check sum does not fit the contents")
        books = tuple(Book(**book) for book in meta["books"])
        return Corpus(words, books, meta["full_names"], meta["excerpt_size"], symbols, sizes)
    except (ValueError, LookupError, TypeError, OverflowError, MemoryError, tokenize.TokenError) as error:
        raise ValueError(f"{name}: the corpus file is damaged or tampered with ({error})") from error
