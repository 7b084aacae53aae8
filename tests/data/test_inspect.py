from __future__ import annotations

from collections import defaultdict
from itertools import chain

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from untwin.data.columns import ColumnRoles
from untwin.data.inspect import inspect
from untwin.data.load import load
from untwin.data.repeats import Repeats


def found(tmp_path, rows, header="text,label", **given):
    (tmp_path / "t.csv").write_text("\n".join([header, *rows]) + "\n")
    return {finding.code: finding for finding in inspect(load(tmp_path / "t.csv", ColumnRoles(**given)))}


CLEAN = ["one cat,a", "two dogs,b", "three birds,a", "four fish,b"]


def test_a_clean_table_has_no_findings(tmp_path):
    assert found(tmp_path, CLEAN) == {}


def test_classes_with_one_document(tmp_path):
    finding = found(tmp_path, [*CLEAN, "five,c"])["single-document-class"]
    assert (finding.severity, finding.count, finding.evidence) == ("warning", 1, ({"label": "c"},))


def test_no_class_with_two_documents(tmp_path):
    assert found(tmp_path, ["one,a", "two,b"])["no-repeated-class"].severity == "error"


def test_id_like_label(tmp_path):
    rows = [f"text number {i},id{i // 2 if i < 4 else i}" for i in range(30)]
    findings = found(tmp_path, rows)
    assert findings["id-like-label"].severity == "error"
    assert "single-document-class" not in findings


def test_look_alike_labels(tmp_path):
    alike = [
        ["Caf\u00e9", "cafe\u0301", "\uff43AF\u00c9 "],
        ["tea  room", "Tea\u00a0Room"],
        ["tea", "t\u200bea"],
        ["stra\u00dfe", "STRASSE"],
        ["1", "01", "1.0", "+1", "1.", "\uff11"],
        ["0.5", ".50"],
        ["NA", "n/a", "N.A.", "#N/A"],
        ["late-fee", "late_fee", "Late Fee", "late\u2013fee"],
        ["Level 1", "level-01"],
        ["12345678901234567890123456789", "12345678901234567890123456789.0"],
    ]
    rows = [f"{word} {label},{label}" for label in [*chain(*alike), "alone"] for word in ("aa", "bb")]
    evidence = found(tmp_path, rows)["look-alike-labels"].evidence
    assert {frozenset(example["labels"]) for example in evidence} == set(map(frozenset, alike))


@pytest.mark.parametrize(
    "labels",
    [
        ["1", "10", "100", "-1", "0.1", "1.5", "1.05"],
        ["B", "B-", "B+", "A-B", "AB"],
        ["C", "C++", "C#"],
        ["-", "_", "+", "?", "."],
        ["1.0.0", "1.0.1", "10.0"],
        ["12345678901234567890123456788", "12345678901234567890123456789"],
        ["NA", "NaN", "null", "none", "na na"],
    ],
)
def test_labels_that_do_not_look_alike(tmp_path, labels):
    rows = [f"{word} text,{label}" for label in labels for word in ("aa", "bb")]
    assert "look-alike-labels" not in found(tmp_path, rows)
    assert load(tmp_path / "t.csv").class_counts().height == len(labels)


def test_zeros_and_missing_values_in_labels_are_told_and_kept(tmp_path):
    rows = [f"{word} text {label},{label}" for label in ("01", "1", "1.0", "NA", "n/a") for word in ("aa", "bb")]
    finding = found(tmp_path, rows)["look-alike-labels"]
    assert finding.evidence == ({"labels": ["01", "1", "1.0"]}, {"labels": ["NA", "n/a"]})
    assert finding.title.startswith("2 groups of labels differ only in case")
    assert load(tmp_path / "t.csv").class_counts().height == 5


def test_empty_cells_are_counted_by_column(tmp_path):
    rows = ["one cat,,3,a,", ",x,,b,", "three birds,y,,a,", "four fish,z,4,b,"]
    finding = found(tmp_path, rows, header="text,kind,price,label,nothing")["empty-cells"]
    assert (finding.severity, finding.count) == ("note", 4)
    assert finding.title == "4 cells are empty, in 3 columns of 5."
    assert [(line["column"], line["empty"], line["rows"]) for line in finding.evidence] == [
        ("text", 1, 4),
        ("kind", 1, 4),
        ("price", 2, 4),
    ]


def test_repeated_rows_are_counted_with_and_without_texts(tmp_path):
    numbers = ["1,2,a", "3,4,b", "1,2,a", "1,2,b", "1,,a", "1,,a", "3,4,b", "3,4,b"]
    finding = found(tmp_path, numbers, header="x,y,label")["repeated-rows"]
    assert finding.title == "4 rows repeat an earlier row in every column that is used."
    assert [line["row"] for line in finding.evidence] == [3, 6, 7, 8]
    findings = found(tmp_path, [*CLEAN, "one cat,a"])
    assert findings["repeated-rows"].title == "1 row repeats an earlier row in every column that is used."
    assert findings["duplicate-text"].title == "1 text occurs more than once with the same label (2 rows)."


def test_labels_with_spaces_at_an_end(tmp_path):
    finding = found(tmp_path, [*CLEAN, "xx yy, ", "zz,b ", "ww,b "])["label-spaces"]
    assert finding.evidence == ({"label": " "}, {"label": "b "})


def test_duplicates_with_same_and_with_different_labels(tmp_path):
    findings = found(tmp_path, [*CLEAN, "One  CAT,a", "TWO dogs ,a", "one cat,a"])
    same, different = findings["duplicate-text"], findings["conflicting-text"]
    assert same.evidence == ({"rows": [1, 5, 7], "labels": ["a"], "text": "one cat"},)
    assert different.evidence == ({"rows": [2, 6], "labels": ["b", "a"], "text": "two dogs"},)
    assert (same.severity, different.severity) == ("note", "warning")


def test_texts_shared_between_the_parts_of_a_split(tmp_path):
    rows = [f"{row},{part}" for row, part in zip(CLEAN, ["train", "train", "test", "train"], strict=True)]
    finding = found(tmp_path, [*rows, "ONE cat,a,test"], header="text,label,split")["split-leak"]
    assert finding.severity == "error"
    assert finding.evidence == ({"rows": [1, 5], "labels": ["a"], "text": "one cat", "parts": ["train", "test"]},)


def test_a_few_texts_shared_by_both_parts_are_no_error(tmp_path):
    many = [f"word{number} and more,{'ab'[number % 2]},train" for number in range(300)]
    finding = found(tmp_path, [*many, "word0 and more,a,test"], header="text,label,split")["split-leak"]
    assert (finding.severity, finding.count) == ("warning", 1)


@pytest.mark.parametrize("texts", ["今天天气很好", "สวัสดีครับ", "こんにちは"])
def test_scripts_without_spaces(tmp_path, texts):
    finding = found(tmp_path, [*CLEAN, f"{texts},a", f"{texts}二,b"])["unspaced-text"]
    assert finding.count == 2
    assert "`untwin fit` counts runs of characters" in finding.advice


def test_empty_texts_constant_and_telling_columns(tmp_path):
    rows = [f"text number {i},{'ab'[i % 2]},x,{i % 2}" for i in range(100)]
    findings = found(tmp_path, ["!,a,x,0", *rows], header="text,label,site,code")
    assert findings["empty-text"].evidence == ({"row": 1},)
    assert [example["column"] for example in findings["constant-column"].evidence] == ["site"]
    assert [example["column"] for example in findings["tells-label-column"].evidence] == ["code"]
    named = found(tmp_path, rows, header="text,label,site,code", text=("text",), nominal=("site",))
    assert [example["column"] for example in named["constant-column"].evidence] == ["site"]


@settings(max_examples=40, deadline=None)
@given(
    rows=st.lists(st.tuples(st.sampled_from(["ab", "AB", " ab", "cd", "c d", ""]), st.sampled_from("xyz")), min_size=2)
)
def test_repeats_are_those_of_a_plain_loop(tmp_path_factory, rows):
    rows = [*rows, ("word", "x"), ("other", "y")]
    path = tmp_path_factory.mktemp("repeats") / "t.csv"
    path.write_text("text,label\n" + "".join(f'"{text}",{label}\n' for text, label in rows))
    groups = defaultdict(list)
    for text, label in rows:
        groups[" ".join(text.lower().split())].append(label)
    repeated = [labels for text, labels in groups.items() if text and len(labels) > 1]
    repeats = Repeats.of(load(path))
    same, different = repeats.groups("labels", most=1), repeats.groups("labels", least=2)
    assert same.count == sum(len(set(labels)) == 1 for labels in repeated)
    assert different.count == sum(len(set(labels)) > 1 for labels in repeated)
    assert same.rows + different.rows == sum(map(len, repeated))


def test_real_tables_say_what_is_known_of_them(real_data):
    def codes(name):
        return {finding.code: finding.count for finding in inspect(load(real_data / name))}

    assert codes("text/banking77.parquet") == {"duplicate-text": 12, "split-leak": 7}
    assert codes("text/clinc150.parquet")["conflicting-text"] == 4
    reuters = codes("text/reuters21578.parquet")
    assert (reuters["conflicting-text"], reuters["split-leak"]) == (17, 6)
    assert codes("tabular/mushroom.csv") == {"constant-column": 1, "empty-cells": 2480}
    assert codes("tabular/iris.csv") == {"repeated-rows": 3}
