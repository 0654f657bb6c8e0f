import pytest

from nvgf.authorship import Entry, read_catalogue, scan_folder
from nvgf.authorship.catalogue import check_authors, unlisted


def write(folder, *files):
    for file in files:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text("x")


def test_a_folder_is_scanned(tmp_path):
    write(tmp_path, "bob/2.txt.gz", "ann/1-emma.txt", "ann/notes.md", "README.md", "ann/deep/3.txt")
    entries = scan_folder(tmp_path)
    assert [(entry.author, entry.title, entry.file) for entry in entries] == [
        ("ann", "1-emma", "ann/1-emma.txt"),
        ("bob", "2", "bob/2.txt.gz"),
    ]


def test_suffixes_in_capitals_are_books_too(tmp_path):
    write(tmp_path, "ann/EMMA.TXT", "ann/LETTERS.Txt.GZ")
    found = [(entry.title, entry.file) for entry in scan_folder(tmp_path)]
    assert found == [("EMMA", "ann/EMMA.TXT"), ("LETTERS", "ann/LETTERS.Txt.GZ")]


def test_books_that_are_not_listed_are_known(tmp_path):
    write(tmp_path, "ann/1.txt", "ann/deep/3.txt", "top.TXT", "notes.md", "bob/2.txt.gz")
    assert unlisted(tmp_path, scan_folder(tmp_path)) == ("ann/deep/3.txt", "top.TXT")
    assert unlisted(tmp_path, [Entry("a", "b", "./ann//1.txt")]) == ("ann/deep/3.txt", "bob/2.txt.gz", "top.TXT")


def test_two_folders_of_one_name(tmp_path):
    write(tmp_path, "Ann/1.txt", "ann/2.txt")
    with pytest.raises(ValueError, match="two authors have the same name: 'Ann' and 'ann'"):
        scan_folder(tmp_path)
    composed, decomposed = "bront\u00eb", "bronte\u0308"
    with pytest.raises(ValueError, match="two authors have the same name"):
        check_authors([Entry(composed, "A", "a.txt"), Entry(decomposed, "B", "b.txt")])


def test_a_folder_without_books(tmp_path):
    write(tmp_path, "ann/notes.md")
    with pytest.raises(ValueError, match="there are no books"):
        scan_folder(tmp_path)
    with pytest.raises(FileNotFoundError, match="is not a folder of books"):
        scan_folder(tmp_path / "none")


def test_a_catalogue_is_read(tmp_path):
    file = tmp_path / "c.csv"
    file.write_text(
        "\ufeffauthor,full_name,title,pg_id,year,file,work,extra\n"
        'b,Bob B.,"Red, Vol. 1",12,1850,b/1.txt,Red,x\n'
        "a,Ann A.,Emma,,,a/1.txt,,\n",
        encoding="utf-8",
    )
    assert read_catalogue(file) == (
        Entry("a", "Emma", "a/1.txt", "Ann A.", None, None, "Emma"),
        Entry("b", "Red, Vol. 1", "b/1.txt", "Bob B.", 12, 1850, "Red"),
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("author,title\n", "the catalogue has no column file; its header is 'author,title'"),
        ("author;title;file\na;b;c\n", "no column author, title, file; its header is 'author;title;file'"),
        ("author,title,file\na,b,x.txt\n\n\na,,y.txt\n", "line 5: title is empty"),
        (
            "author,title,file\na,b,ann/x.txt\na,c,./ann//x.txt\n",
            r"'./ann//x.txt' is listed .* \(also as 'ann/x.txt'\)",
        ),
        ("author,title,file\na,b,../x.txt\n", "line 2: the file '../x.txt' lies outside the folder of books"),
        ("author,title,file\na,b,ann/../../x.txt\n", "line 2: the file .* lies outside the folder of books"),
        ("author,title,file\na,b,/etc/x.txt\n", "line 2: the file '/etc/x.txt' lies outside the folder of books"),
        ("author,title,file\na,b,C:\\x.txt\n", "line 2: the file .* lies outside the folder of books"),
        ("author,title,file\na,b,..\\x.txt\n", "line 2: the file .* lies outside the folder of books"),
        ("", "the catalogue has no column author, title, file"),
        ("author,title,file\n", "there are no books"),
        ("author,title,file\na,,x.txt\n", "line 2: title is empty"),
        ("author,title,file\na,b\n", "line 2: file is empty"),
        ("author,title,file,year\na,b,x.txt,c. 1800\n", "line 2: year must be a whole number, got 'c. 1800'"),
        ("author,title,file,pg_id\na,b,x.txt,1.5\n", "line 2: pg_id must be a whole number, got '1.5'"),
        ("author,title,file\na,b,x.txt\na,c,x.txt\n", "the file 'x.txt' is listed more than once"),
        ("author,full_name,title,file\na,A,b,x\na,B,c,y\n", "author 'a' has two full names: 'A' and 'B'"),
        ("author,title,file\nA,b,x\na,c,y\n", "two authors have the same name: 'A' and 'a'"),
    ],
)
def test_bad_catalogues(tmp_path, text, message):
    file = tmp_path / "c.csv"
    file.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_catalogue(file)


def test_a_catalogue_in_another_encoding(tmp_path):
    file = tmp_path / "c.csv"
    file.write_bytes("author,title,file\nbrontë,b,x\n".encode("latin-1"))
    with pytest.raises(ValueError, match="the catalogue must be a CSV file in UTF-8"):
        read_catalogue(file)
