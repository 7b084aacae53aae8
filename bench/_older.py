"""Cells of a comparison that was written before, for what there was no time to run again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    Row = dict[str, Any]

NOT_RUN, OLDER = "not run", "†"


def read_tables(page: Path) -> dict[tuple[str, str], list[Row]]:
    """Return the tables of a page by the heading that they stand under and the line above them."""
    tables: dict[tuple[str, str], list[Row]] = {}
    heading = above = ""
    names: list[str] = []
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            heading = line.removeprefix("## ")
        elif not line.startswith("|"):
            above, names = line or above, []
        elif not names:
            names = cells_of(line)
        elif not line.startswith("| ---"):
            tables.setdefault((heading, above), []).append(dict(zip(names, cells_of(line), strict=True)))
    return tables


def cells_of(line: str) -> list[str]:
    """Return the cells of a row.

    >>> cells_of("| banking77 | **91.5** |")
    ['banking77', '**91.5**']
    """
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def fill_in(rows: list[Row], older: list[Row], *, left_out: str) -> list[Row]:
    """Return rows with older figures, marked, where a rival was not run; `left_out` begins the names of others.

    >>> now = [{"set": "arxiv", "kNN": "not run", "untwin": "not run"}]
    >>> fill_in(now, [{"set": "arxiv", "kNN": "**46.2**", "untwin": "54.2"}], left_out="untwin")
    [{'set': 'arxiv', 'kNN': '46.2 †', 'untwin': 'not run'}]
    """
    known = {row["set"]: row for row in older}

    def filled(name: str, peer: str, cell: Any) -> Any:
        before = known.get(name, {}).get(peer, NOT_RUN).replace("**", "")
        if cell != NOT_RUN or before == NOT_RUN or peer.startswith(left_out):
            return cell
        return before if before.endswith(OLDER) else f"{before} {OLDER}"

    return [{peer: filled(row["set"], peer, cell) for peer, cell in row.items()} for row in rows]
