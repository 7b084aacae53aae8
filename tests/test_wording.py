"""Sentences are made in one place: cutting texts, guessing which name was meant."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import untwin
from untwin._wording import ELLIPSIS, close_match, cut

SOURCES = sorted(Path(untwin.__file__).parent.rglob("*.py"))


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
