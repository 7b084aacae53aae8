"""A stream is read as a whole file is, wherever it is cut."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from untwin.data.read import ReadOptions, batches, limits, read_table, source

CELLS = st.text(st.sampled_from('ab"\n,\t =é日'), max_size=6)


def as_read(path, most_rows, options=ReadOptions()):  # noqa: B008  (it is frozen)
    found = list(batches(str(path), options, most_rows))
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
    found = list(batches(str(tmp_path / "t.parquet"), ReadOptions(), 16))
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
    found = [batch.cells["id"].to_list() for batch in batches(str(tmp_path), options, 2)]
    assert found == [["a/1", "a/2"], ["b/3"]]
    limited = list(batches(str(tmp_path), replace(options, limit=1), 2))
    assert [batch.cells.height for batch in limited] == [1]
