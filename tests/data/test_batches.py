"""A stream is read as a whole file is, wherever it is cut."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import threading
from dataclasses import replace

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from untwin.data.read import ReadOptions, jsonl, limits, read_batches, read_table, source

CELLS = st.text(st.sampled_from('ab"\n,\t =é日'), max_size=6)


def as_read(path, most_rows, options=ReadOptions()):  # noqa: B008  (it is frozen)
    found = list(read_batches(str(path), options, most_rows))
    columns = found[-1].raw.frame.columns
    frames = [
        batch.raw.frame.with_columns(
            pl.lit(None, pl.String).alias(c) for c in columns if c not in batch.raw.frame.columns
        )
        for batch in found
    ]
    rows = [row for batch in found for row in batch.raw.places.rows.tolist()]
    lines = [line for batch in found for line in batch.raw.places.lines.tolist()]
    return pl.concat([frame.select(columns) for frame in frames]), rows, lines


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=12),
    st.integers(1, 5),
    st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_csv(tmp_path_factory, rows, most_rows, quoting, end):
    path = tmp_path_factory.mktemp("stream") / "t.csv"
    text = io.StringIO(newline="")
    csv.writer(text, quoting=quoting, lineterminator=end).writerows([("x", "y"), *rows])
    path.write_bytes(text.getvalue().encode())
    whole = read_table(path)
    frame, numbers, lines = as_read(path, most_rows)
    assert frame.equals(whole.frame)
    assert numbers == whole.places.rows.tolist()
    assert lines == whole.places.lines.tolist()


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.dictionaries(st.sampled_from("abc"), CELLS | st.integers() | st.none()), min_size=1, max_size=12),
    st.integers(1, 5),
    st.sampled_from(["\n", "\r\n", "\n\n"]),
)
def test_json_lines(tmp_path_factory, rows, most_rows, end):
    path = tmp_path_factory.mktemp("stream") / "t.jsonl"
    rows = [{"a": "first"}, *rows]
    path.write_bytes("".join(json.dumps(row) + end for row in rows).encode())
    whole = read_table(path)
    frame, numbers, lines = as_read(path, most_rows)
    assert frame.select(sorted(frame.columns)).equals(whole.frame.select(sorted(whole.frame.columns)))
    assert numbers == whole.places.rows.tolist()
    assert lines == whole.places.lines.tolist()


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16", "utf-32", "cp1252"])
def test_encodings(tmp_path, codec):
    (tmp_path / "t.csv").write_bytes("x\nété\nà\n".encode(codec))
    options = ReadOptions(encoding="cp1252" if codec == "cp1252" else None)
    assert as_read(tmp_path / "t.csv", 1, options)[0]["x"].to_list() == ["été", "à"]


def test_quotes_inside_a_plain_cell_do_not_hide_the_end_of_a_record(tmp_path):
    (tmp_path / "t.csv").write_text('x,y\n5" disk,a\n"3"" disk",b\n')
    assert as_read(tmp_path / "t.csv", 1)[0]["x"].to_list() == ['5" disk', '3" disk']


def test_long_cells(tmp_path):
    (tmp_path / "t.csv").write_text("x\n" + "word " * 100_000 + "\nshort\n")
    assert as_read(tmp_path / "t.csv", 5)[0]["x"].str.len_chars().to_list() == [500_000, 5]


def test_a_record_without_an_end_is_not_read_forever(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "LONGEST_RECORD", 100)
    monkeypatch.setattr(source, "PIECE", 50)
    (tmp_path / "t.csv").write_text('x\n"' + "long line\n" * 1000)
    with pytest.raises(ValueError, match=r"row 1 \(line 2\): the record is longer than 100 bytes"):
        as_read(tmp_path / "t.csv", 10)


def test_parquet_in_batches(tmp_path):
    columns = {"x": [f"row {i}" for i in range(100)], "n": range(100), "many": [[i] for i in range(100)]}
    frame = pl.DataFrame(columns).with_columns(text=pl.lit(b"text"), bytes=pl.lit(b"\xff"))
    frame.write_parquet(tmp_path / "t.parquet", row_group_size=30)
    found = list(read_batches(str(tmp_path / "t.parquet"), ReadOptions(), 16))
    assert max(batch.cells.height for batch in found) <= 16
    assert pl.concat([batch.cells for batch in found]).equals(frame)
    assert [row for batch in found for row in batch.raw.places.rows.tolist()] == list(range(1, 101))
    with pytest.raises(ValueError, match="type List"):
        found[0].raw.require_usable("many")
    assert found[0].raw.refused.keys() == {"many", "bytes"}


def test_a_folder_and_a_limit(tmp_path):
    for name in ("a/1", "a/2", "b/3"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"text of {name}")
    options = ReadOptions()
    found = [batch.cells["id"].to_list() for batch in read_batches(str(tmp_path), options, 2)]
    assert found == [["a/1", "a/2"], ["b/3"]]
    limited = list(read_batches(str(tmp_path), replace(options, limit=1), 2))
    assert [batch.cells.height for batch in limited] == [1]


def written(tmp_path, kind):
    """The same 40 rows as a file of some kind."""
    path, frame = tmp_path / f"t.{kind}", pl.DataFrame({"x": [f"text number {i}" for i in range(40)]})
    match kind:
        case "csv":
            frame.write_csv(path)
        case "csv.gz":
            path.write_bytes(gzip.compress(frame.write_csv().encode()))
        case "jsonl":
            frame.write_ndjson(path)
        case "parquet":
            frame.write_parquet(path)
        case _:
            (path / "a").mkdir(parents=True)
            for i, text in enumerate(frame["x"]):
                (path / "a" / f"{i:02}").write_text(text)
    return path


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "jsonl", "parquet", "folder"])
def test_a_table_that_memory_cannot_hold_is_refused_whole_and_read_in_batches(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(limits, "most_in_memory", lambda: 500)
    monkeypatch.setattr(source, "PIECE", 64)
    path = written(tmp_path, kind)
    with pytest.raises(ValueError, match="an eighth of the memory") as refused:
        read_table(path)
    assert refused.value.code == "too-large"
    assert "limit=N" in refused.value.hint
    if kind in ("csv", "csv.gz", "jsonl"):
        assert read_table(path, options=ReadOptions(limit=3)).frame.height == 3
    if kind != "folder":
        assert sum(batch.cells.height for batch in read_batches(str(path), ReadOptions(), 8)) == 40


def test_the_memory_that_a_table_may_take(monkeypatch, tmp_path):
    installed = limits.most_in_memory() * limits.MEMORY_SHARE
    assert installed > 1e8
    monkeypatch.setattr(limits, "_CGROUP", tmp_path / "memory.max")
    (tmp_path / "memory.max").write_text("80000000\n")
    assert limits.most_in_memory() == 10_000_000
    (tmp_path / "memory.max").write_text("max\n")
    assert limits.most_in_memory() > 10_000_000


def test_objects_with_many_keys_come_in_small_batches(tmp_path, monkeypatch):
    monkeypatch.setattr(jsonl, "MOST_CELLS", 100)
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps({f"key {i}": "x"}) + "\n" for i in range(50)))
    found = [batch.cells.height * batch.cells.width for batch in read_batches(str(path), ReadOptions())]
    assert max(found) < 160
    assert read_table(path).frame.shape == (50, 50)


def test_a_closed_standard_input_is_no_crash(monkeypatch):
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(ValueError, match="stdin: cannot be read: it is closed"):
        read_table("-", options=ReadOptions(format="csv"))


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_pipe_with_a_name(tmp_path, kind):
    content, pipe = written(tmp_path, kind).read_bytes(), tmp_path / f"pipe.{kind}"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(content,))
    writer.start()
    assert read_table(pipe).frame.height == 40
    writer.join()
