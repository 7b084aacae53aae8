"""A table is read in one way: whole or batch by batch, from a file or from standard input, by every command."""

from __future__ import annotations

import codecs
import gzip
import io
import json
import zipfile
from dataclasses import replace

import polars as pl
import pytest

from untwin._errors import InputError
from untwin.data.read import ReadOptions, limits, read_batches, read_table, source

GOOD = "text,label\nno signal,a\nlow battery,b\n"
LONG = "a very long text " * 30


def zipped():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("t.csv", GOOD)
    return file.getvalue()


def parquet(**columns):
    file = io.BytesIO()
    pl.DataFrame(columns or {"text": ["a b"] * 500, "label": ["x", "y"] * 250}).write_parquet(file)
    return file.getvalue()


def changed(data, place, byte):
    return data[:place] + byte + data[place + 1 :]


OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)
PACKED = gzip.compress(GOOD.encode() * 50, mtime=0)
CODED = {name: "text,label\nété,a\nà,b\n".encode(name) for name in ("cp1252", "gb18030", "utf-16-le", "utf-7")}

# file, content, options, the code of the refusal ("" if the file can be read)
FILES = [
    ("t.csv", GOOD.encode(), {}, ""),
    ("t.csv", GOOD.encode().replace(b"\n", b"\r\n"), {}, ""),
    ("t.csv", GOOD.encode().replace(b"\n", b"\r"), {}, ""),
    ("t.csv", GOOD.encode().removesuffix(b"\n"), {}, ""),
    ("t.csv", b"\n\n  \n" + GOOD.encode() + b"\n\n", {}, ""),
    ("t.csv", b'text,label\n"two\nlines, one cell",a\n"say ""no""",b\n5" pipe,c\n', {}, ""),
    ("t.csv", b'text,label\nxx,a\nyy\n,\n\n"z"z,b\nww,c\n', {"skip_bad_rows": 3}, ""),
    ("t.csv", b"text,label\nxx,a\nyy\nzz\n", {"skip_bad_rows": 1}, "ragged-row"),
    ("t.csv", b"text,label\nxx\nyy\n", {"skip_bad_rows": 2}, "no-rows"),
    ("t.csv", b"text,label,label,,\nxx,a,b,c,d\n", {}, ""),
    ("t.csv", b'"te\nxt\x1b[31m",label\nxx,a\n', {}, ""),
    ("t.csv", GOOD.encode() * 30, {"limit": 5, "skip_bad_rows": 99}, ""),
    ("t.tsv", GOOD.replace(",", "\t").encode(), {}, ""),
    ("t.csv", GOOD.replace(",", ";").encode(), {"separator": ";"}, ""),
    ("t.csv", GOOD.replace(",", ";").encode(), {}, "separator"),
    ("t.csv", GOOD.encode(), {"separator": "::"}, "separator"),
    ("t.csv", codecs.BOM_UTF8 + GOOD.encode(), {}, ""),
    ("t.csv", codecs.BOM_UTF8 + GOOD.encode(), {"encoding": "utf-8"}, ""),
    ("t.csv", GOOD.encode("utf-16"), {}, ""),
    ("t.csv", codecs.BOM_UTF16_BE + GOOD.encode("utf-16-be"), {}, ""),
    ("t.csv", GOOD.encode("utf-32"), {}, ""),
    ("t.csv", GOOD.encode("utf-16-le"), {}, "binary"),
    ("t.csv", GOOD.encode("utf-16-be"), {}, "binary"),
    ("t.csv", GOOD.encode("utf-16") + b"\0", {}, "encoding"),
    *(("t.csv", content, {"encoding": name}, "") for name, content in CODED.items()),
    ("t.csv", CODED["cp1252"], {}, "encoding"),
    ("t.csv", CODED["cp1252"], {"encoding": "ascii"}, "encoding"),
    ("t.csv", CODED["gb18030"] + b"\x81", {"encoding": "gb18030"}, "encoding"),
    ("t.csv", b"text,label\nx,a\n+2AA-,b\n", {"encoding": "utf-7"}, "lone-surrogate"),
    ("t.csv", b"text,label\nx,a\n\xed\xa0\x80,b\n", {}, "lone-surrogate"),
    ("t.csv", GOOD.encode(), {"encoding": "klingon"}, "encoding"),
    ("t.csv", GOOD.encode(), {"encoding": "base64"}, "encoding"),
    ("t.csv", GOOD.encode(), {"encoding": "undefined"}, "encoding"),
    ("t.csv", b"", {}, "empty"),
    ("t.csv", b"\n \n", {}, "empty"),
    ("t.csv", codecs.BOM_UTF8, {}, "empty"),
    ("t.csv", b"text,label\n", {}, "no-rows"),
    ("t.csv", b"text,label\nxx,a\nyy,b,c\n", {}, "ragged-row"),
    ("t.csv", b'text,label\nxx,a\n"yy,b\nzz,c\n', {}, "unclosed-quote"),
    ("t.csv", b'"text,label\nxx,a\n', {}, "unclosed-quote"),
    ("t.csv", b'text,label\n"x"y,a\n', {}, "stray-quote"),
    ("t.csv", b"text,label\nx\0y,a\nzz,b\n", {}, "binary"),
    ("t.csv", b"text,label\nxx,a\nyy,b,c\nz\0z,b\n", {}, "ragged-row"),
    ("t.csv", b"text,label\nxx,a\nz\0z,b\nyy,b,c\n", {}, "binary"),
    ("t.csv", b"text,label\nxx,a\nz\xffz,b\nyy\0,b\n", {}, "encoding"),
    ("t.csv", b"\x7fELF\0\0\0", {}, "binary"),
    ("t.csv", zipped(), {}, "spreadsheet"),
    ("t.csv.gz", gzip.compress(zipped()), {}, "spreadsheet"),
    ("t.csv", OLE, {}, "spreadsheet"),
    ("t.jsonl", OLE, {}, "spreadsheet"),
    ("t.csv.gz", gzip.compress(OLE), {}, "spreadsheet"),
    ("t.xls", OLE, {}, "spreadsheet"),
    ("t.doc", OLE, {"format": "csv"}, "spreadsheet"),
    ("t.csv", parquet(), {}, "format"),
    ("t.csv", PACKED, {"skip_bad_rows": 99}, ""),
    ("t.csv.gz", PACKED[:40], {}, "gzip"),
    ("t.csv.gz", changed(PACKED, -6, b"\xaa"), {}, "gzip"),
    ("t.csv.gz", PACKED + b"garbage", {}, "gzip"),
    ("t.csv.gz", b"\x1f\x8b\x08cut", {}, "gzip"),
    ("t.csv", ("text,label\nxx,a\n" + LONG + ",b\nyy,c\n").encode(), {}, "long-record"),
    ("t.csv", ("text,label\nxx,a\n" + LONG + ",b\n").encode().removesuffix(b"\n"), {}, "long-record"),
    ("t.csv", ('text,label\nxx,a\n"' + LONG.replace(" ", "\n") + '",b\nyy,c\n').encode(), {}, "long-record"),
    ("t.csv.gz", gzip.compress(("text,label\nxx,a\n" + LONG * 99).encode()), {}, "long-record"),
    ("t.csv", (LONG + ",label\nxx,a\n").encode(), {}, "long-record"),
    ("t.csv", (",".join("abcdefghi") + "\n" + ",".join("abcdefghi") + "\n").encode(), {}, "many-columns"),
    ("t.csv", ("text," + "n" * 50 + "\nxx,a\n").encode(), {}, "long-name"),
    (
        "t.jsonl",
        b'{"text": "xx", "label": 1.50}\n\n{"text": "yy", "label": null, "m": [1]}\r\n{"m": "z"}',
        {},
        "",
    ),
    ("t.jsonl", b'{"text": "xx"}\n{bad\n{"text": "yy"}\n[1]\n', {"skip_bad_rows": 2}, ""),
    ("t.jsonl", b'{"text": "xx"}\n{bad\n{"text": "yy"}\n[1]\n', {"skip_bad_rows": 1}, "bad-json"),
    ("t.jsonl", b"{bad\n", {"skip_bad_rows": 1}, "no-rows"),
    ("t.jsonl", b"\n \n", {}, "empty"),
    ("t.jsonl", b'{"text": "x", "text": "y"}\n', {}, "bad-json"),
    ("t.jsonl", b'{"text": "x \\ud800"}\n', {}, "lone-surrogate"),
    ("t.jsonl", b'{"text": "x"}\n{"text": "\0"}\n', {}, "binary"),
    ("t.jsonl", b'{"text": "x"}\n{"text": "\xff"}\n', {}, "encoding"),
    ("t.jsonl", json.dumps({"text": "x"}).encode("utf-16"), {}, ""),
    ("t.jsonl", f'{{"text": "x"}}\n{{"text": "{LONG}"}}\n'.encode(), {}, "long-record"),
    ("t.jsonl", f'{{"text": "x"}}\n{{"text": "{LONG * 99}'.encode(), {}, "long-record"),
    ("t.jsonl", b"".join(b'{"key %d": 1}\n' % i for i in range(9)), {}, "many-columns"),
    ("t.jsonl", b'{"text": "x"}\n{"%s": 1}\n' % (b"n" * 50), {}, "long-name"),
    ("t.parquet", parquet(), {}, ""),
    ("t[1].parquet", parquet(), {}, ""),
    ("t.parquet", parquet(text=["x", "y"], label=[1, None], list=[[1], []], bytes=[b"\xff", b"x"]), {}, ""),
    ("t.parquet", parquet()[:-20], {}, "parquet"),
    ("t.parquet", GOOD.encode(), {}, "parquet"),
    ("t.parquet", b"", {}, "parquet"),
    ("t.parquet", gzip.compress(parquet()), {}, "parquet"),
    ("t.parquet", parquet(text=pl.Series([], dtype=pl.String)), {}, "no-rows"),
    ("t.parquet", parquet(text=["x", "y", LONG], label=["a", "b", "c"]), {}, "long-record"),
    ("t.parquet", parquet(**{name: ["x"] for name in "abcdefghi"}), {}, "many-columns"),
    ("t.parquet", parquet(**{"n" * 50: ["x"]}), {}, "long-name"),
    ("t.txt", GOOD.encode(), {}, "format"),
]


@pytest.fixture(autouse=True)
def low_limits(monkeypatch):
    """Small limits, and pieces of a few bytes: limits above pieces, as they are."""
    monkeypatch.setattr(limits, "LONGEST_RECORD", 400)
    monkeypatch.setattr(limits, "LONGEST_NAME", 40)
    monkeypatch.setattr(limits, "MOST_COLUMNS", 8)
    monkeypatch.setattr(source, "PIECE", 64)


def outcome(read):
    """What reading yields: cells, places and notes; or why there is nothing."""
    try:
        tables = list(read())
    except InputError as error:
        return error.code, error.message, error.hint
    frame = pl.concat([table.frame for table in tables], how="diagonal")
    rows = [row for table in tables for row in table.places.rows.tolist()]
    lines = [line for table in tables if table.places.lines is not None for line in table.places.lines.tolist()]
    notes = sum(note.count for table in tables for note in table.notes)
    return frame.columns, frame.rows(), rows, lines, notes, {name for table in tables for name in table.refused}


@pytest.mark.parametrize(("name", "content", "given", "code"), FILES, ids=range(len(FILES)))
def test_whole_and_in_batches_and_from_standard_input(tmp_path, monkeypatch, name, content, given, code):
    path, options = tmp_path / name, ReadOptions(**given)
    path.write_bytes(content)
    kind = name.removesuffix(".gz").rpartition(".")[2]
    piped = options if options.format or kind in ("txt", "xls") else replace(options, format=kind)

    def stdin():
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
        return (batch.raw for batch in read_batches("-", piped, 2))

    whole = outcome(lambda: [read_table(path, options=options)])
    assert (whole[0] if len(whole) == 3 else "") == code
    for most_rows in (1, 3, 1000):
        found = outcome(lambda rows=most_rows: (batch.raw for batch in read_batches(str(path), options, rows)))
        assert found == whole
    if piped.format:
        assert _renamed(outcome(stdin), "stdin", path) == whole
    monkeypatch.setattr(source, "PIECE", 1 << 20)
    assert outcome(lambda: [read_table(path, options=options)]) == whole


def _renamed(found, name, path):
    return tuple(part.replace(name, str(path)) if isinstance(part, str) else part for part in found)


REFUSED = [case for case in FILES if case[3]]


@pytest.mark.parametrize(("name", "content", "given", "code"), REFUSED, ids=range(len(REFUSED)))
def test_every_command_refuses_the_same(command, fitted, tmp_path, monkeypatch, name, content, given, code):
    monkeypatch.setattr(source, "PIECE", 1 << 20)
    path = tmp_path / name
    path.write_bytes(content)
    options = [word for key, value in given.items() for word in (f"--{key.replace('_', '-')}", value)]
    model = fitted.folder
    calls = [["check", path], ["fit", path, "-o", tmp_path / "m"], ["predict", model, path], ["evaluate", model, path]]
    calls += [["explain", model, path, "--id", "1"], ["add", model, path]]
    said = []
    for call in calls:
        done = command(*call, "--json", *options)
        assert done.code == 2, (call, done.err)
        said.append(done.json()["error"])
    assert said[0]["code"] == code
    assert said == [said[0]] * len(said)
    assert said[0]["hint"]
