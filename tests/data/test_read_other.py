from __future__ import annotations

import datetime
import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from untwin._errors import InputError
from untwin.data.read import ReadOptions, read_table
from untwin.data.read.batching import _together
from untwin.data.read.jsonl import read_jsonl


def read_json(data, name, skip, cut=1 << 30):
    pieces = [data[start : start + cut] for start in range(0, len(data), cut)]
    return _together([found.table for found in read_jsonl(pieces, name, skip)])


def test_json_values_stay_as_written():
    values = ["1", "1.0", "1e3", "01", "1_0", "true", "false", "NaN", '"1"', '" a"', "12345678901234567890123"]
    lines = [f'{{"label": {value}}}' for value in values if value not in {"01", "1_0"}]
    table = read_json("\n".join(lines).encode(), "t.jsonl", 0)
    expected = ["1", "1.0", "1e3", "true", "false", "NaN", "1", " a", "12345678901234567890123"]
    assert table.frame["label"].to_list() == expected


def test_json_columns_are_the_union_of_keys_and_blank_lines_are_passed_over():
    table = read_json(b'{"a": "1"}\n\n{"b": "2", "a": null, "c": [1, {"d": 2}]}\r\n{"b": ""}', "t.jsonl", 0)
    assert table.frame.columns == ["a", "b", "c"]
    assert table.frame["a"].to_list() == ["1", None, None]
    assert table.frame["b"].to_list() == [None, "2", None]
    assert table.places.say(1) == "t.jsonl, row 2 (line 3)"
    assert set(table.refused) == {"c"}


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1))
def test_json_texts_come_back(texts):
    lines = [json.dumps({"t": text}, ensure_ascii=bool(i % 2)) for i, text in enumerate(texts)]
    table = read_json("\n".join(lines).encode(), "t.jsonl", 0)
    assert table.frame["t"].to_list() == [text or None for text in texts]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"a": 1', "not valid JSON"),
        ("[1, 2]", "holds a JSON array, not an object"),
        ("3", "holds a single value"),
        ('{"a": 1, "a": 2}', "the key 'a' occurs twice"),
        ('{"a": ' + "[" * 100_000, "nested too deeply"),
    ],
)
def test_bad_json_lines_are_named_or_skipped(line, words):
    data = f'{{"a": "x"}}\n{line}\n{{"a": "y"}}\n'.encode()
    with pytest.raises(InputError, match=r"row 2 \(line 2\)") as caught:
        read_json(data, "t.jsonl", 0)
    assert words in caught.value.message
    table = read_json(data, "t.jsonl", 1)
    assert table.frame["a"].to_list() == ["x", "y"]
    assert table.places.rows.tolist() == [1, 3]
    assert table.notes[0].count == 1


def test_parquet_cells_become_text(tmp_path):
    frame = pl.DataFrame(
        {
            "int": [1, None],
            "float": [1.0, 0.1],
            "bool": [True, False],
            "day": [datetime.date(2020, 1, 2), None],
            "cat": pl.Series(["a", ""], dtype=pl.Categorical),
            "bytes": [b"text", b"more"],
            "binary": [b"\xff", None],
            "list": [[1], []],
        }
    )
    frame.write_parquet(tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet")
    assert table.frame.select("int", "float", "bool", "day", "cat", "bytes").rows() == [
        ("1", "1.0", "true", "2020-01-02", "a", "text"),
        (None, "0.1", "false", None, None, "more"),
    ]
    assert set(table.refused) == {"binary", "list"}
    assert table.places.say(1).endswith("t.parquet, row 2")


def test_damaged_parquet_is_refused_whatever_the_damage(tmp_path):
    path = tmp_path / "t.parquet"
    pl.DataFrame({"text": [f"word {i}" for i in range(500)], "label": ["x", "y"] * 250}).write_parquet(path)
    whole, rng = path.read_bytes(), np.random.default_rng(0)
    refused = 0
    for _ in range(60):
        damaged = bytearray(whole[: rng.integers(1, len(whole))] if rng.random() < 0.5 else whole)
        damaged[rng.integers(len(damaged))] = rng.integers(256)
        path.write_bytes(damaged)
        try:
            read_table(path)
        except InputError:
            refused += 1
    assert refused > 30


def write(folder, files):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def test_a_folder_is_a_table(tmp_path):
    write(
        tmp_path,
        {"b/2.txt": b"two", "a/x/1.txt": b"\xef\xbb\xbfone", "a/.hidden": b"no", "b/bin": b"\x89P\0", "c.md": b""},
    )
    (tmp_path / "b" / "link.txt").symlink_to(tmp_path / "b" / "2.txt")
    (tmp_path / "loop").symlink_to(tmp_path)
    table = read_table(tmp_path)
    assert table.frame.rows() == [("one", "a", "a/x/1.txt"), ("two", "b", "b/2.txt")]
    assert {note.code: note.count for note in table.notes} == {"links": 2, "binary-files": 1, "loose-files": 1}
    assert table.places.say(1) == f"{tmp_path}/b/2.txt"


def test_a_binary_file_is_skipped_whatever_the_encoding(tmp_path):
    write(tmp_path, {"a/1": b"one", "b/2": b"\xff\xd8\xff\xe0\0\x10JFIF"})
    assert read_table(tmp_path).frame.height == 1


def test_unreadable_and_undecodable_files_in_a_folder_are_named(tmp_path):
    write(tmp_path, {"a/1": b"one", "b/2": b"caf\xe9"})
    with pytest.raises(InputError, match=r"b/2, byte 3") as caught:
        read_table(tmp_path)
    assert "encoding='cp1252'" in caught.value.hint
    assert read_table(tmp_path, options=ReadOptions(encoding="latin-1")).frame["text"].to_list() == ["one", "café"]


def test_names_tell_the_format(tmp_path):
    for name in ("t.txt", "t", "t.csv.zip"):
        (tmp_path / name).write_text("a,b\n1,2\n")
        with pytest.raises(InputError, match="format cannot be told") as caught:
            read_table(tmp_path / name)
        assert "format= csv, tsv or jsonl" in caught.value.hint
        assert read_table(tmp_path / name, options=ReadOptions(format="csv")).frame.rows() == [("1", "2")]


def test_real_files_read(real_data):
    files = [*real_data.glob("tabular/*.csv*"), *real_data.glob("text/*.parquet")]
    assert len(files) > 10
    for path in files:
        table = read_table(path)
        assert table.frame.height > 100
        assert set(table.frame.dtypes) == {pl.String}
