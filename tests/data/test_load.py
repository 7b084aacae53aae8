"""Rows for a model that is there already: nothing guessed, no label needed, one class enough."""

from __future__ import annotations

import numpy as np
import pytest

from untwin._errors import InputError
from untwin.data.columns import ColumnRoles
from untwin.data.load import load, load_for_model, typed_features
from untwin.data.read import read_table
from untwin.data.read.table import Places

ROLES = ColumnRoles(text=("body",), numeric=("price",), nominal=("shop",), label="topic", split="part")


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("shop,extra,topic,price,body\na,1,x,3.5,no signal\n,2,x,,\n")
    return path


def test_one_class_is_enough_and_absent_columns_without_use_do_not_matter(table):
    found = load_for_model(table, ROLES)
    assert found.frame.rows() == [("no signal", 3.5, "a", "x"), ("", None, None, "x")]
    assert found.frame.columns == ["body", "price", "shop", "topic"]
    with pytest.raises(InputError, match="only one class"):
        load(table, ROLES.__class__(label="topic"))


def test_features_need_no_label(table):
    raw = read_table(table)
    assert typed_features(raw, ColumnRoles(nominal=("shop",), numeric=("price",))).rows() == [(3.5, "a"), (None, None)]


@pytest.mark.parametrize(
    ("roles", "code"),
    [
        (ColumnRoles(text=("boddy",), label="topic"), "missing-column"),
        (ColumnRoles(text=("body",), label="topics"), "missing-column"),
        (ColumnRoles(numeric=("body",), label="topic"), "not-a-number"),
    ],
)
def test_what_a_model_cannot_read_is_refused(table, roles, code):
    with pytest.raises(InputError) as refused:
        load_for_model(table, roles)
    assert refused.value.code == code


def test_the_nearest_name_is_offered(table):
    with pytest.raises(InputError, match="Is it 'body' here"):
        load_for_model(table, ColumnRoles(text=("boddy",), label="topic"))


def test_rows_marked_as_test_are_a_part_with_its_own_names_labels_and_groups(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("id,text,label,split,who\nT-1,no signal,a,train,x\nT-2,low battery,b,TEST,\nT-3,no sim,a,,\n")
    parts = load(path, ColumnRoles(group="who", split="split", id="id", text=("text",))).parts()
    train, test = (part.labelled_rows() for part in parts)
    assert (train.rows, test.rows) == (["no signal", "no sim"], ["low battery"])
    assert (train.y.tolist(), test.y.tolist()) == (["a", "a"], ["b"])
    assert (train.ids, test.ids) == (["T-1", "T-3"], ["T-2"])
    assert train.groups[0] == "x"
    assert len(set(train.groups)) == 2


def test_without_a_split_column_no_row_is_marked_as_test(table):
    found = load_for_model(table, ROLES)  # which the model has, and the table has not
    train, test = found.parts()
    assert train is found
    assert (test.frame.height, test.y.tolist(), test.places.marks()) == (0, [], [])
    assert train.labelled_rows().groups is None


def test_rows_that_come_to_others_take_no_name_of_theirs():
    rows = np.array([1, 2])
    assert Places("new/more.csv", rows).marks_beside({"more.csv:2"}) == ["more.csv:1", "more.csv:2 #2"]
    known = Places("new/more.csv", rows, ids=["T-1", "T-9"])
    assert known.marks_beside({"T-1", "T-1 (more.csv:1)"}) == ["T-1 (more.csv:1) #2", "T-9"]
    assert Places("new", rows, files=["a/1.txt", "b/2.txt"]).marks_beside({"b/2.txt"}) == ["a/1.txt", "b/2.txt (new:2)"]
