"""Names in Markdown: whatever they hold, a table keeps its cells and no HTML comes of them."""

from __future__ import annotations

import re
from html import unescape

from hypothesis import given
from hypothesis import strategies as st

from untwin._markdown import code, markdown_table

NAMES = st.text(alphabet=st.characters(codec="utf-8"), max_size=40)


@given(NAMES)
def test_a_name_is_code_and_nothing_else(name):
    shown = code(name)
    inner = re.fullmatch(r"`([^`]+)`|<code>([^<>|`*\[\]\\]*)</code>", shown)
    assert inner is not None
    assert shown.isprintable()
    if name.isprintable():
        assert (inner[1] or unescape(inner[2])) == name


@given(st.lists(NAMES, min_size=1, max_size=5))
def test_a_table_has_as_many_cells_as_names(names):
    lines = markdown_table([code(name) for name in names], [[code(name) for name in names]], numbers=1)
    assert len("\n".join(lines).splitlines()) == 3
    assert {line.count("|") for line in lines} == {len(names) + 1}


def test_what_a_page_would_link_or_mention():
    assert code("@team") == "`@team`"
    assert "www." not in code("<www.example.org>")
    assert "://" not in code("|http://example.org")
