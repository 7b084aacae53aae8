"""Sentences are made in one place: cutting texts, guessing which name was meant, naming options."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import untwin
from untwin._errors import InputError
from untwin._wording import ELLIPSIS, close_match, cut, options_as_flags
from untwin.cli.options import column_flag_of, flag_of
from untwin.data.columns import ColumnRoles
from untwin.data.load import load, load_for_model
from untwin.data.read import ReadOptions

PACKAGE = Path(untwin.__file__).parent
SOURCES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize(("width", "shown"), [(11, "not arrived"), (10, "not arr..."), (4, "n...")])
def test_a_cut_text_is_as_long_as_allowed(width, shown):
    assert cut("not arrived", width) == shown
    assert len(cut("not arrived", width, ELLIPSIS)) == width


def test_the_name_that_was_meant_may_be_empty_or_none():
    assert close_match("labl", ["text", "label"]) == "label"
    assert close_match("label", []) is None


@pytest.mark.parametrize("once", [r"get_close_matches\(", r"\[: *\w+ - (1|3)\] \+ \"|- 3\]\}\.\.\.\""])
def test_nobody_else_guesses_names_or_cuts_texts(once):
    users = [path.name for path in SOURCES if re.search(once, path.read_text(encoding="utf-8"))]
    assert [name for name in users if name != "_wording.py"] == []


def spoken(path):
    """Return the strings of a module, without its docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    described = [node for node in ast.walk(tree) if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)]
    docstrings = {id(node.body[0].value) for node in described if ast.get_docstring(node, clean=False) is not None}
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings
    ]


@pytest.mark.parametrize(
    "room", ["data", "model", "classify", "represent", "crossfit", "structure", "tables", "linalg"]
)
def test_only_the_command_knows_flags(room):
    sources = [path for path in SOURCES if path.relative_to(PACKAGE).parts[0] == room]
    assert sources
    assert [text for path in sources for text in spoken(path) if re.search(r"(^|[^\w-])--[a-z]", text)] == []


REFUSED = {
    "no-label": ("a,b\n1,2\n", {}, "Name it with label=COLUMN.", "Name it with --label COLUMN."),
    "several-labels": (
        "text,label,class\nx,a,b\ny,b,a\n",
        {},
        "Say which: label='label' or label='class'.",
        "Say which: --label label or --label class.",
    ),
    "empty-label": (
        "text,label\nno signal,\nlow battery,b\n",
        {},
        "Fill them in, or leave them out: missing_label='drop'.",
        "Fill them in, or leave them out: --missing-label drop.",
    ),
    "separator": ("text;label\nx;y\n", {}, 'Say separator=";".', 'Say --separator ";".'),
    "ragged-row": (
        "text,label\nx,y,z\n",
        {},
        "choose another separator=. Or leave out up to N such rows with skip_bad_rows=N.",
        "choose another --separator. Or leave out up to N such rows with --skip-bad-rows N.",
    ),
    "not-a-number": (
        "text,label\nx,a\ny,b\n",
        {"numeric": ("text",)},
        "write decimals with a point, or use nominal=.",
        "write decimals with a point, or use --nominal.",
    ),
    "two-roles": (
        "text,label\nx,a\ny,b\n",
        {"text": ("text",), "nominal": ("text",)},
        "named by text= and by nominal=. Give each",
        "named by --text and by --nominal. Give each",
    ),
    "not-ordinal": (
        "text,label\nno sim,a\nlow battery,b\n",
        {"ordinal": ("a", "c")},
        "Complete ordinal= 'a,c'.",
        "Complete --ordinal 'a,c'.",
    ),
}


@pytest.mark.parametrize("code", REFUSED)
def test_an_error_names_parameters_in_python_and_flags_in_the_command(tmp_path, code):
    content, roles, by_parameter, by_flag = REFUSED[code]
    path = tmp_path / "t.csv"
    path.write_text(content)

    def refusal():
        with pytest.raises(InputError) as caught:
            load(path, ColumnRoles(**roles), ReadOptions())
        assert caught.value.code == code
        return str(caught.value)

    assert by_parameter in refusal()
    with options_as_flags(flag_of):
        assert by_flag in refusal()
    assert by_parameter in refusal()


def test_the_columns_of_explain_have_flags_of_their_own(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("text,label\nx,a\n")
    with options_as_flags(column_flag_of), pytest.raises(InputError) as refused:
        load_for_model(path, ColumnRoles(text=("body",), label="label"))
    assert (
        refused.value.hint == "Rename the column, or name yours with --text-column, --numeric-column, --nominal-column."
    )
