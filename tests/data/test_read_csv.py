from __future__ import annotations

import csv
import gzip
import io

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from untwin._errors import InputError
from untwin.data.read import ReadOptions, read_table
from untwin.data.read.batching import _together
from untwin.data.read.delimited import _DelimitedReader, read_delimited
from untwin.data.read.table import BadRows


def read(data: bytes | str, *, kind: str = "csv", separator: str | None = None, skip: int = 0, cut: int = 1 << 30):
    whole = data if isinstance(data, bytes) else data.encode()
    pieces = [whole[start : start + cut] for start in range(0, len(whole), cut)]
    tables = list(read_delimited(pieces, "t.csv", kind, separator, skip))
    return _together(tables) if tables else None


def reader_of(data: str) -> _DelimitedReader:
    """A reader that knows its columns, x and y, and has all the text."""
    reader = _DelimitedReader("t.csv", "csv", ",", BadRows(0))
    assert not list(reader.feed(b"x,y\n", final=False))
    reader.rest = data.encode()
    return reader


def refused(data: bytes | str, **options) -> InputError:
    with pytest.raises(InputError) as caught:
        read(data, **options)
    return caught.value


cells = st.text(st.sampled_from('ab ,;"\n\ré'), max_size=6)
tables = st.integers(1, 4).flatmap(lambda width: st.lists(st.lists(cells, min_size=width, max_size=width), max_size=6))


@settings(max_examples=150, deadline=None)
@given(rows=tables.filter(bool), ending=st.sampled_from(["\n", "\r\n"]), blank=st.integers(0, 2))
def test_whatever_csv_writes_comes_back(rows, ending, blank):
    header = [f"c{i}" for i in range(len(rows[0]))]
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator=ending, quoting=csv.QUOTE_ALL)
    writer.writerows([header, *rows])
    table = read(out.getvalue() + ending * blank)
    assert table.frame.rows() == [tuple(cell or None for cell in row) for row in rows]


@settings(max_examples=300, deadline=None)
@given(data=st.text(st.sampled_from('ab,"\n\r'), max_size=30))
@example(data=',"\r"\n,')  # a line ends inside a quoted cell
def test_fast_and_slow_reading_agree_on_any_text(data):
    """Whatever the fast path accepts is exactly what Python's csv module says; the rest is left to it."""
    for final in (True, False):
        quick, sure = reader_of(data), reader_of(data)
        fast = quick._read_fast(final=final)
        if fast is not None:
            slow = sure._read_slowly(final=final)
            assert fast.frame.rows() == slow.frame.rows()
            assert fast.places.rows.tolist() == slow.places.rows.tolist()
            assert fast.places.lines.tolist() == slow.places.lines.tolist()
            assert (quick.row, quick.line, quick.rest) == (sure.row, sure.line, sure.rest)


def outcome(data, **options):
    try:
        table = read(data, **options)
    except InputError as error:
        return error.code, error.message, error.hint
    return (
        None
        if table is None
        else (table.frame.rows(), table.places.rows.tolist(), table.places.lines.tolist(), table.notes)
    )


@settings(max_examples=400, deadline=None)
@given(
    data=st.text(st.sampled_from('ab,"\n\ré'), min_size=1, max_size=40), cut=st.integers(1, 9), skip=st.integers(0, 3)
)
@example(data='"a"b,"c\nd"\n1,2\n', cut=3, skip=2)  # a bad row ends with its line, whatever quotes it has opened
def test_nothing_depends_on_how_the_text_is_cut(data, cut, skip):
    text = "x,y\n" + data + "\n1,2"
    assert outcome(text, skip=skip, cut=cut) == outcome(text, skip=skip)
    assert outcome(data, skip=skip, cut=cut) == outcome(data, skip=skip)


def test_labels_stay_as_written():
    labels = ["NA", "null", "None", "nan", "01", "1", "1.0", " a", "a ", "A", "true"]
    table = read("text,label\n" + "".join(f"x,{label}\n" for label in labels))
    assert table.frame["label"].to_list() == labels


def test_an_empty_cell_is_missing_quoted_or_not():
    assert read('a,b\n"",x\n,y\n').frame["a"].to_list() == [None, None]


def test_lines_follow_embedded_newlines_and_blank_lines():
    table = read('a,b\n"x\ny",1\n\nz,2\n')
    assert table.frame.rows() == [("x\ny", "1"), ("z", "2")]
    assert [table.places.say(i) for i in range(2)] == ["t.csv, row 1 (line 2)", "t.csv, row 2 (line 5)"]


def test_large_cells_and_many_embedded_newlines():
    big = "long line\n" * 400_000
    rows = [[f'{i} "quoted"\nnext, line', f"c{i % 3}"] for i in range(30_000)]
    out = io.StringIO(newline="")
    csv.writer(out).writerows([["text", "label"], [big, "a"], *rows])
    before = csv.field_size_limit()
    table = read(out.getvalue())
    assert table.frame.rows() == [(big, "a"), *map(tuple, rows)]
    slow = reader_of(out.getvalue().partition("\n")[2])
    assert slow._read_slowly(final=True).frame.rows() == table.frame.rows()
    assert csv.field_size_limit() == before


def test_a_quote_inside_an_unquoted_cell_is_text():
    assert read('a,b\n5" pipe,x\nsay "no" twice,y\n').frame["a"].to_list() == ['5" pipe', 'say "no" twice']


def test_other_line_ends():
    assert read("a,b\r1,2\r3,4\r").frame.rows() == [("1", "2"), ("3", "4")]
    assert read("a,b\r\r\n1,2\r\r\n").frame.rows() == [("1", "2")]


@pytest.mark.parametrize(
    ("data", "code", "words"),
    [
        ("a,b\n1,2\n3\n", "ragged-row", "row 2 (line 3): 1 cell where the header has 2"),
        ("a,b\n1,2,3\n", "ragged-row", "row 1 (line 2): 3 cells"),
        ('a,b\n"x\ny",2\n"z,4\n', "unclosed-quote", "row 2 (line 4)"),
        ('a,b\n"x"y,2\n', "stray-quote", "row 1 (line 2)"),
        ('"a,b\n1,2\n', "unclosed-quote", "header (line 1)"),
        ("a;b;c\n1;2;3\n", "separator", 'separator=";"'),
        ("a\tb\n1\t2\n", "separator", "separator='tab'"),
        ("", "empty", "empty"),
        ("\n \n", "empty", "empty"),
    ],
)
def test_broken_tables_are_refused_with_the_row(data, code, words):
    error = refused(data)
    assert error.code == code
    assert words in str(error)


def test_bad_rows_are_skipped_up_to_a_number_and_counted():
    data = 'a,b\n1,2\n3\n"x"y,2\n5,6\n'
    table = read(data, skip=2)
    assert table.frame.rows() == [("1", "2"), ("5", "6")]
    assert table.places.say(1) == "t.csv, row 4 (line 5)"
    assert [(note.code, note.count) for note in table.notes] == [("bad-rows", 2)]
    assert "row 3 (line 4)" in refused(data, skip=1).message
    assert refused('a,b\n1,"2\n', skip=5).code == "unclosed-quote"
    assert refused('"a"x,b\n1,2\n', skip=5).code == "stray-quote"


def test_duplicate_and_empty_header_names():
    table = read("a,a,,a (2)\n1,2,3,4\n")
    assert table.frame.rows(named=True) == [{"a": "1", "a (2)'": "2", "column 3": "3", "a (2)": "4"}]
    assert set(table.refused) == {"a"}


@pytest.mark.parametrize("separator", ["ab", "", '"', "é"])
def test_impossible_separators_are_refused(separator):
    assert refused("a,b\n1,2\n", separator=separator).code == "separator"


def test_separators_by_name_and_format():
    assert read("a\tb\n1\t2\n", kind="tsv").frame.rows() == [("1", "2")]
    assert read("a\tb\n1\t2\n", separator="tab").frame.rows() == [("1", "2")]


TEXT = "text,label\nGrüße,ä\n日本,b\n"


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (TEXT.encode("utf-8-sig"), None),
        (TEXT.encode("utf-16"), None),
        (b"\xfe\xff" + TEXT.encode("utf-16-be"), None),
        (TEXT.encode("utf-32"), None),
        (TEXT.encode("utf-16-le"), "utf-16-le"),
        (TEXT.encode("gb18030"), "gb18030"),
        (gzip.compress(TEXT.encode(), mtime=0), None),
    ],
)
def test_encodings_and_gzip(tmp_path, data, encoding):
    path = tmp_path / "t.csv"
    path.write_bytes(data)
    table = read_table(path, options=ReadOptions(encoding=encoding))
    assert table.frame.rows() == [("Grüße", "ä"), ("日本", "b")]


@pytest.mark.parametrize("extra", [0, 1, 2, 3])
def test_wrong_bytes_are_found_at_their_offset_in_the_file(tmp_path, monkeypatch, extra):
    monkeypatch.setattr("untwin.data.read.source.PIECE", 4)
    start = b"a,b\n" + b"x" * extra + "é,".encode()
    for mark in (b"", b"\xef\xbb\xbf"):
        path = tmp_path / "t.csv"
        path.write_bytes(mark + start + b"\xff\n")
        with pytest.raises(InputError, match=rf"byte {len(mark + start)} \(line 2\).*not UTF-8"):
            read_table(path)


def test_limit_takes_the_first_rows(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n3,4\n5,6\n")
    table = read_table(path, options=ReadOptions(limit=2))
    assert table.frame["a"].to_list() == ["1", "3"]
    assert len(table.places.rows) == 2
