from __future__ import annotations

import polars as pl
import pytest

from untwin._errors import InputError
from untwin.data.corrections import Correction, read_corrections
from untwin.data.formulas import guard

NOW = {"T-1": "cat", "T-2": "dog", "T-3": "=dog", "": "none"}


def written(folder, text):
    path = folder / "suspects.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_only_other_labels_are_corrections(tmp_path):
    path = written(tmp_path, "label,id,note,author,text\nlynx,T-1,looks it,ann,x\ndog,T-2,,,y\n,T-3,,,z\n")
    assert read_corrections(path, NOW) == [Correction("T-1", "lynx", "ann", "looks it")]


def test_a_row_of_several_findings_is_edited_in_one_line(tmp_path):
    path = written(tmp_path, "id,label\nT-1,cat\nT-1,lynx\nT-1,lynx\nT-1,cat\n")
    assert read_corrections(path, NOW) == [Correction("T-1", "lynx")]


@pytest.mark.parametrize(
    ("text", "code", "told"),
    [
        ("id,label\nT-1,lynx\nT-1,dog\n", "two-labels", r"row 2 \(line 3\): the row 'T-1' is to be 'dog', but 'lynx'"),
        ("id,label\nT-9,lynx\n", "unknown-id", r"row 1 \(line 2\): the model has no training row 'T-9'"),
        ("id,text\nT-1,x\n", "no-column", "no column 'label'"),
        ("row,label\n1,x\n", "no-column", "no column 'id'"),
    ],
)
def test_a_mistake_is_refused_with_its_row(tmp_path, text, code, told):
    with pytest.raises(InputError, match=told) as caught:
        read_corrections(written(tmp_path, text), NOW)
    assert caught.value.code == code


@pytest.mark.parametrize("label", ["=1+1", "@x", "-x", "'=x", "NA", "null", "01", 'a,"b"\nc', "\u202e"])
@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_any_label_comes_back_as_it_was_written(tmp_path, label, kind):
    frame, path = pl.DataFrame({"id": ["T-1"], "label": [label], "more": [1.5]}), tmp_path / f"s.{kind}"
    match kind:
        case "csv":
            guard(frame).write_csv(path)
        case "jsonl":
            frame.write_ndjson(path)
        case "parquet":
            frame.write_parquet(path)
    assert read_corrections(path, NOW) == [Correction("T-1", label)]


def test_a_label_that_is_a_formula_is_not_taken_for_another_one(tmp_path):
    path = tmp_path / "s.csv"
    guard(pl.DataFrame({"id": ["T-3"], "label": ["=dog"]})).write_csv(path)
    assert read_corrections(path, NOW) == []
