"""Records as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from papers.experiment import PAPERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Record = dict[str, Any]

INTRODUCTION = (
    "Written by `python -m papers all`; nothing here is typed by hand. No figure of paper 1 is shown: our copy has "
    "lost them, so what it asserts in words is tested. Accuracies are of rows that nothing was chosen or learnt on, "
    "but for what is called a leak or a best on test rows."
)
LONG = 15  # rows; longer tables are folded


def markdown(records: Sequence[Record], facts: dict[str, str]) -> str:
    """Return the whole page."""
    parts = [
        "# The papers' experiments, repeated",
        INTRODUCTION,
        "\n".join(f"- {name}: {fact}" for name, fact in facts.items()),
    ]
    for paper, title in PAPERS.items():
        own = [record for record in records if record["paper"] == paper]
        if own:
            parts += [f"## {title}", *(part for record in own for part in _experiment(record))]
    return "\n\n".join(parts) + "\n"


def _experiment(record: Record) -> Iterable[str]:
    yield f"### {record['title']}"
    sample = " **Quick run: smaller samples and fewer repetitions than a full one.**" if record["quick"] else ""
    yield f"{record['about']}{sample}"
    yield f"`python -m papers {record['paper']}`, experiment `{record['name']}`, {record['seconds']:.0f} s."
    if record["claims"]:
        yield table(
            [{"asserted": c["assertion"], "here": c["verdict"], "figures": c["evidence"]} for c in record["claims"]]
        )
    if record["beside"]:
        yield _folded("Published and ours", [_beside(row) for row in record["beside"]])
    for found in record["tables"]:
        yield _folded(found["title"], found["rows"], found["note"])
    if record["figures"]:
        yield "Figures (in the HTML page): " + "; ".join(figure["title"] for figure in record["figures"]) + "."


def _beside(row: Record) -> Record:
    names = {"what": row["what"], "published": row["published"], "ours": row["ours"]}
    return {**names, "difference": row["ours"] - row["published"], "where": row["place"], "why": row["reason"]}


def _folded(title: str, rows: Sequence[Record], note: str = "") -> str:
    told = f"{note}\n\n" if note else ""
    if len(rows) <= LONG:
        return f"**{title}**\n\n{told}{table(rows)}"
    return f"<details><summary>{title} ({len(rows)} rows)</summary>\n\n{told}{table(rows)}\n\n</details>"


def table(rows: Sequence[Record]) -> str:
    r"""Return a table; the columns are those of the first row.

    >>> print(table([{"set": "a|b", "accuracy": 0.51234567}]))
    | set | accuracy |
    | --- | --- |
    | a\|b | 0.5123 |
    """
    header = list(rows[0])
    lines = [header, ["---"] * len(header), *([shown(row.get(name)) for name in header] for row in rows)]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def shown(value: Any) -> str:
    """Return a cell.

    >>> shown(1234567.0), shown(0.000123456), shown(None), shown(True)
    ('1,234,567', '0.0001235', '', 'yes')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"
    return str(value)
