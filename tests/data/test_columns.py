from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from untwin._errors import InputError
from untwin.data.columns import ColumnRoles, settle_roles
from untwin.data.load import load
from untwin.data.read import ReadOptions
from untwin.data.read.table import Places, RawTable, Refusal

SENTENCES = [f"sentence number {i} of the text" for i in range(200)]


def raw(columns, refused=None):
    frame = pl.DataFrame(columns)
    return RawTable(frame, Places("t.csv", np.arange(1, frame.height + 1)), "csv", refused=refused or {})


def roles_of(columns, **given):
    return {use.name: use.role for use in settle_roles(raw(columns), ColumnRoles(**given))[1]}


def table_of(tmp_path, text, name="t.csv", options=None, missing_label="error", **given):
    (tmp_path / name).write_text(text)
    return load(tmp_path / name, ColumnRoles(**given), options, missing_label=missing_label)


def test_roles_by_content():
    rng = np.random.default_rng(0)
    label = rng.choice(["a", "b"], 200)
    columns = {
        "remark": SENTENCES,
        "price": [f"{x:.2f}" for x in rng.normal(size=200)],
        "colour": rng.choice(["red", "dark blue"], 200),
        "code": [f"X{i}" for i in range(200)],
        "site": ["one"] * 200,
        "nothing": [None] * 200,
        "customer_id": [str(i) for i in range(200)],
        "order_id": ["1", "2"] * 100,
        "chinese": [f"{chr(0x4E00 + i)}天气很好" for i in range(200)],
        "Class": label,
        "copy": [f"is {x}" for x in label],
        "almost": ["?", *map(str, range(199))],
        "split": rng.choice(["Train", "test"], 200),
        "title": rng.choice(["yes", "no"], 200),
    }
    assert roles_of(columns) == {
        "remark": "text",
        "price": "numeric",
        "colour": "nominal",
        "code": "unused",
        "site": "unused",
        "nothing": "unused",
        "customer_id": "id",
        "order_id": "numeric",
        "chinese": "text",
        "Class": "label",
        "copy": "unused",
        "almost": "unused",
        "split": "split",
        "title": "text",
    }


def test_reasons_are_given():
    columns = {"n": ["1", "x"] * 2 + ["3"] * 96, "label": ["a", "b"] * 50, "t": ["w w"] * 50 + ["v v"] * 50}
    uses = {use.name: use for use in settle_roles(raw(columns), ColumnRoles())[1]}
    assert uses["label"].reason == "its name; label= chooses another"
    assert uses["n"].code == "almost-numeric"
    assert "2 of 100 cells are not numbers ('x' in row 2)" in uses["n"].reason


def reason_of(cells, name="n"):
    labels = ["a", "b"] * (len(cells) // 2) + ["a"] * (len(cells) % 2)
    columns = {name: cells, "label": labels, "more": [f"sentence number {i}" for i in range(len(cells))]}
    return next(use.reason for use in settle_roles(raw(columns), ColumnRoles())[1] if use.name == name)


@pytest.mark.parametrize(
    ("cells", "name", "reason"),
    [
        (["1", "2", "3"], "n", "every cell is a number (3 different)"),
        ([None] * 67 + ["1", "2"] * 44, "n", "88 of 155 cells are numbers, the others empty (2 different)"),
        ([None, "nan", "1", "2"], "n", "2 of 4 cells are numbers, the others empty or nan (2 different)"),
        (["NaN", "1", "2", "2"], "n", "3 of 4 cells are numbers, the others nan (2 different)"),
        (["1", "2", "x", None], "n", "1 of 3 cells is not a number ('x' in row 3); 1 of 4 cells is empty"),
        (["no signal", None, "low"], "text", "its name; 1 of 3 cells is empty"),
        (["x", None, "x", None], "n", "is constant; 2 of 4 cells are empty"),
        (["x", None, "y", "x"], "n", "2 different values; 1 of 4 cells is empty"),
    ],
)
def test_reasons_are_true_of_empty_cells_too(cells, name, reason):
    assert reason_of(cells, name).startswith(reason)


CATEGORIES, INTENTS = ["card", "loan"] * 100, ["lost", "late", "fee", "new"] * 50


def test_two_columns_that_could_be_the_label_are_asked_about():
    columns = {"text": SENTENCES, "category": CATEGORIES, "Intent": INTENTS}
    with pytest.raises(InputError) as caught:
        settle_roles(raw(columns), ColumnRoles())
    found = "'category' (2 different values in 200 rows), 'Intent' (4 different values in 200 rows)"
    assert caught.value.code == "several-labels"
    assert caught.value.message == f"t.csv: 2 columns could be the label: {found}."
    assert caught.value.hint == "Say which: label='category' or label='Intent'."
    assert roles_of(columns, label="Intent")["Intent"] == "label"
    assert roles_of(columns, nominal=("category",), text=("text",))["Intent"] == "label"


@pytest.mark.parametrize(
    ("columns", "label"),
    [
        ({"category": CATEGORIES, "label": INTENTS}, "label"),
        ({"topic": INTENTS, "class": CATEGORIES}, "class"),
        ({"category": ["all"] * 200, "intent": INTENTS}, "intent"),
        ({"category": [None] * 200, "y": INTENTS}, "y"),
    ],
)
def test_the_one_column_that_can_be_the_label_is_taken(columns, label):
    assert roles_of({"text": SENTENCES, **columns})[label] == "label"


def test_label_and_class_are_asked_about():
    with pytest.raises(InputError, match=r"2 columns could be the label: 'class' .*, 'label' "):
        roles_of({"text": SENTENCES, "class": CATEGORIES, "label": INTENTS})


def test_a_parent_of_the_label_is_not_used_by_guess():
    label = [f"c{i % 10}" for i in range(200)]
    parent = [f"p{i % 5}" for i in range(200)]
    columns = {"text": SENTENCES, "label": label, "area": parent}
    assert roles_of(columns)["area"] == "unused"
    assert roles_of(columns, parent="area")["area"] == "parent"
    assert roles_of({**columns, "area": [*parent[:-1], "p0"]})["area"] == "nominal"


def test_what_tells_some_classes_from_the_others_is_used():
    label = [f"c{i % 10}" for i in range(200)]
    columns = {"text": SENTENCES, "label": label, "one": [str(i % 10 == 3) for i in range(200)]}
    columns["half"] = ["01"[i % 10 > 4] for i in range(200)]
    used = {name: role for name, role in roles_of(columns).items() if name in ("one", "half")}
    assert used == {"one": "nominal", "half": "numeric"}
    twins = {"text": SENTENCES, "label": [f"c{i % 2}" for i in range(200)], "copy": ["01"[i % 2] for i in range(200)]}
    assert roles_of(twins)["copy"] == "unused"  # of two classes it tells all there is to tell


def test_naming_features_turns_guessing_off():
    columns = {"text": ["a b", "c d"], "n": ["1", "2"], "label": ["x", "y"]}
    assert roles_of(columns, text=("text",)) == {"text": "text", "n": "unused", "label": "label"}
    assert roles_of(columns, nominal=("n",)) == {"text": "unused", "n": "nominal", "label": "label"}


def test_an_unnamed_index_is_an_id():
    assert roles_of({"column 1": ["0", "1"], "text": ["a b", "c d"], "y": ["x", "z"]})["column 1"] == "id"


@pytest.mark.parametrize(
    ("given", "code", "words"),
    [
        ({"label": "lable"}, "missing-column", "Did you mean 'label'?"),
        ({"text": ("zzz",)}, "missing-column", "Columns: 'text', 'label', 'twice', 'list'"),
        ({"text": ("label",), "label": "label"}, "two-roles", "text= and by label="),
        ({"text": ("twice",)}, "duplicate-column", "occurs 2 times"),
        ({"nominal": ("list",)}, "nested-column", "holds lists"),
        ({}, "duplicate-column", "'twice'"),
    ],
)
def test_unusable_roles(given, code, words):
    refused = {
        "twice": Refusal("duplicate-column", "occurs 2 times", ""),
        "list": Refusal("nested-column", "holds lists", ""),
    }
    columns = {name: ["a", "b"] for name in ("text", "label", "twice", "list")}
    with pytest.raises(InputError) as caught:
        settle_roles(raw(columns, refused), ColumnRoles(**given))
    assert caught.value.code == code
    assert words in str(caught.value)


def test_no_label_and_no_features():
    with pytest.raises(InputError, match="which column is the label"):
        roles_of({"text": ["a", "b"]})
    with pytest.raises(InputError, match="'site' is constant"):
        roles_of({"site": ["a", "a"], "label": ["a", "b"]})


def test_typed_columns(tmp_path):
    table = table_of(tmp_path, "text,n,kind,label\n,1,u,01\nxx yy, 2.5 ,,1\nzz zz,NaN,v,NA\nzz,,w, 1\n")
    assert table.frame["text"].to_list() == ["", "xx yy", "zz zz", "zz"]
    assert table.frame["n"].to_list() == [1.0, 2.5, None, None]
    assert table.frame["kind"].to_list() == ["u", None, "v", "w"]
    assert table.labels.to_list() == ["01", "1", "NA", " 1"]
    assert not any(math.isnan(x) for x in table.frame["n"].drop_nulls())


@pytest.mark.parametrize("cell", ["inf", "-Infinity", "1e999", "n/a", '"1,5"'])
def test_numeric_cells_must_be_finite(tmp_path, cell):
    with pytest.raises(InputError, match=r"t.csv, row 2 \(line 3\), column 'n'") as caught:
        table_of(tmp_path, f"n,label\n1,a\n{cell},b\n", numeric=("n",))
    assert caught.value.code == "not-a-number"


def test_missing_labels(tmp_path):
    text = 'text,label\nxx,a\nyy,""\nzz,b\n'
    with pytest.raises(InputError, match=r"row 2 \(line 3\), column 'label': the label is empty \(1 of 3"):
        table_of(tmp_path, text)
    table = table_of(tmp_path, text, missing_label="drop")
    assert table.labels.to_list() == ["a", "b"]
    assert table.places.say(1).endswith("row 3 (line 4)")
    assert [(note.code, note.count) for note in table.notes] == [("missing-label", 1)]


def test_several_labels_only_when_asked(tmp_path):
    text = "text,label\nxx,a;b\nyy,b;\nzz,;\n"
    assert table_of(tmp_path, text).class_counts()["class"].to_list() == [";", "a;b", "b;"]
    several = table_of(tmp_path, text, label_separator=";", missing_label="drop")
    assert several.class_counts().rows() == [("b", 2), ("a", 1)]


def test_one_class_ordinal_and_limit(tmp_path):
    text = "text,label\nxx,1\nyy,1\nzz,2\n"
    with pytest.raises(InputError, match="first 2 rows hold only one class, '1'") as caught:
        table_of(tmp_path, text, options=ReadOptions(limit=2))
    assert "limit=" in caught.value.hint
    with pytest.raises(InputError, match=r"row 3 \(line 4\), column 'label': the label '2' is not on the scale"):
        table_of(tmp_path, text, ordinal=("1", "3"))
    assert table_of(tmp_path, text, ordinal=("1", "2")).frame.height == 3


def test_texts_without_words(tmp_path):
    with pytest.raises(InputError, match="every document is empty after tokenising"):
        table_of(tmp_path, "text,label\n!,a\nx y,b\n")
    assert table_of(tmp_path, "text,n,label\n!,1,a\nx y,2,b\n").frame.height == 2
