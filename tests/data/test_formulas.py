"""Guard and undo are a pair: what was guarded comes back, and nothing guarded is a formula to a spreadsheet."""

from __future__ import annotations

import re
import unicodedata

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from untwin.data.formulas import guard, undo_guard
from untwin.data.load import load

SIGNS = "=+-@＝＋－＠﹦﹢﹣﹫"
NUMBER = re.compile(r"[+-](\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
CELLS = st.text(
    st.one_of(st.sampled_from("'=+-@＝＋－＠ \t\r\n1.e\u202e\ufeff"), st.characters(codec="utf-8")), max_size=6
)


def column(cells):
    return pl.DataFrame({"cell": cells}, schema={"cell": pl.String})


def runs(cell):
    """Say, by other means, what a spreadsheet might run."""
    if cell[:1] in ("\t", "\r", "\n"):
        return True
    shown = cell.lstrip()
    while shown and (unicodedata.category(shown[0]) in ("Cc", "Cf") or shown[0].isspace()):
        shown = shown[1:]
    return shown[:1] in SIGNS and shown != "" and not NUMBER.fullmatch(cell)


@given(st.lists(CELLS | st.none(), min_size=1, max_size=8))
@example(["'=", "''=", "'", "-1", "'-1", "''-1", "+", "-", "=", "\n=1", " =1", "＝1", "\ufeff=1", "-1\n", "-inf"])
def test_what_was_guarded_comes_back_and_is_safe(cells):
    guarded = guard(column(cells))
    assert not any(runs(cell) for cell in guarded["cell"] if cell is not None)
    assert undo_guard(guarded)["cell"].to_list() == cells
    kept = [cell for cell in cells if cell is not None and "'" not in cell and not runs(cell)]
    assert guard(column(kept))["cell"].to_list() == kept


@given(st.lists(CELLS, min_size=1, max_size=5, unique=True))
def test_column_names_are_guarded_too(names):
    frame = pl.DataFrame({name: ["x"] for name in names})
    guarded = guard(frame)
    assert not any(map(runs, guarded.columns))
    assert undo_guard(guarded).columns == names


@pytest.mark.parametrize("cell", ["-1.5", "+3", "-.5", "-5.", "+3.5e2", "1-2", "a=b", "fine", "'tis", ""])
def test_numbers_and_harmless_cells_stay(cell):
    assert guard(column([cell]))["cell"].to_list() == [cell] == undo_guard(column([cell]))["cell"].to_list()


@pytest.mark.parametrize(
    "cell", ["=1+1", "+x", "-x", "-", "@cmd", "\n=1", "\rx", "\tx", "＝1", "＠x", " =1", "\u200b=1", "-inf"]
)
def test_formulas_are_guarded(cell):
    assert guard(column([cell]))["cell"].to_list() == [f"'{cell}"]


def test_names_that_would_become_one_stay_as_they_are():
    assert undo_guard(pl.DataFrame({"'=x": ["'=y"], "=x": ["z"]})).to_dict(as_series=False) == {
        "'=x": ["=y"],
        "=x": ["z"],
    }


@pytest.mark.parametrize(("name", "undone"), [("t.csv", True), ("t.tsv", True), ("t.jsonl", False)])
def test_a_table_is_read_as_it_is_meant(tmp_path, name, undone):
    rows = [
        {"text": "yes please", "'-kind": "'+a", "label": "'+"},
        {"text": "'=no thanks", "'-kind": "b", "label": "-"},
    ] * 3
    path = tmp_path / name
    if undone:
        pl.DataFrame(rows).write_csv(path, separator="," if name == "t.csv" else "\t")
    else:
        pl.DataFrame(rows).write_ndjson(path)
    table = load(path)
    assert table.labels.unique().sort().to_list() == (["+", "-"] if undone else ["'+", "-"])
    assert table.roles.nominal == (("-kind",) if undone else ("'-kind",))
    assert table.frame[table.roles.nominal[0]][0] == ("+a" if undone else "'+a")
