"""Rows for a model that is there already: nothing guessed, no label needed, one class enough."""

from __future__ import annotations

import pytest

from untwin._errors import InputError
from untwin.data.columns import ColumnRoles
from untwin.data.load import load, load_for_model, typed_features
from untwin.data.read import read_table

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
