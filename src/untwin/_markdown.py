"""Markdown in which no name can be anything but text: no mention, no HTML, no cell more than there are.

Names go into code: GitHub and others look for mentions outside of it only.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from untwin._wording import ELLIPSIS, cut

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LONGEST = 200  # characters of a name or a quoted text
_PLAIN = " ,;()=+%?!'\"-#."  # beside letters and digits, what Markdown takes for itself inside of a line
_TAME = re.compile(r"[\w /.,:;()+=%!?#@'\"{}-]*\S", re.ASCII)


def code(name: object, longest: int = LONGEST) -> str:
    r"""Return a name, or a text, as code on one line; the characters that Markdown or HTML read become entities.

    >>> code("late_fee"), code("a|b"), code("<b>\n")
    ('`late_fee`', '<code>a&#124;b</code>', '<code>&#60;b&#62;&#92;n</code>')
    """
    shown = cut(str(name), longest, ELLIPSIS)
    if not shown.isprintable():
        shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in shown)
    if _TAME.fullmatch(shown) and not shown.startswith(" "):
        return f"`{shown}`"
    kept = _PLAIN.replace(".", "") if "www" in shown.lower() else _PLAIN
    return f"<code>{''.join(c if c.isalnum() or c in kept else f'&#{ord(c)};' for c in shown)}</code>"


def codes(names: Iterable[object], longest: int = LONGEST) -> str:
    """Return several names, with commas between them."""
    return ", ".join(code(name, longest) for name in names)


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: int = 0) -> list[str]:
    """Return the lines of a table whose cells are Markdown already; the last `numbers` columns stand on the right.

    >>> print(*markdown_table(["class", "rows"], [["`a`", "3"]], numbers=1), sep=" / ")
    | class | rows | / | --- | ---: | / | `a` | 3 |
    """
    left = len(header) - numbers
    rule = ["---" if place < left else "---:" for place in range(len(header))]
    return [f"| {' | '.join(cells)} |" for cells in (header, rule, *rows)]
