"""What records of noted findings must hold: the report, `untwin findings` and dismissals read them by these names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from untwin.store.refusal import require

if TYPE_CHECKING:
    from collections.abc import Collection

    from untwin.model.findings.finding import Finding

FIELDS = {
    "split-leak": {"training rows": "rows", "test rows": "list"},
    "label-error": {
        "row": "row",
        "label": "class",
        "rather": "class",
        "belief in label": "number",
        "belief in other": "number",
    },
    "conflicting-text": {"rows": "rows", "labels": "classes"},
    "twins": {"a": "class", "b": "class", "rate": "number", "rate at least": "number"},
    "indistinguishable-classes": {"kind": "text", "classes": "classes", "taken for each other": "number"},
    "tiny-class": {"class": "class", "rows": "number"},
    "split-class": {
        "class": "class",
        "rows of one": "count",
        "rows of other": "count",
        "some of one": "rows",
        "some of other": "rows",
    },
    "also-see": {"a": "class", "b": "class", "rate": "number"},
    "group-names": {"classes": "classes"},
    "label-next": {"row": "number"},
}
ONE_OF = {"rows": "row", "classes": "class"}
TYPES = {"list": list, "text": str}


def check_findings(findings: list[Finding], rows: Collection[Any], classes: Collection[Any]) -> None:
    """Refuse findings of no known kind, or about rows and classes that the model has not."""
    for finding in findings:
        require(finding.code in FIELDS, "A finding must be of a known kind")
        for record in finding.evidence:
            for key, kind in FIELDS[finding.code].items():
                told = f"{finding.code}: {key!r} must be {_KINDS[kind]}"
                require(key in record and _is(record[key], kind, rows, classes), told)


_KINDS = {
    "row": "a row of the model",
    "rows": "rows of the model",
    "class": "a class of the model",
    "classes": "classes of the model",
    "list": "a list",
    "number": "a number",
    "count": "a number above zero",
    "text": "a text",
}


def _is(value: Any, kind: str, rows: Collection[Any], classes: Collection[Any]) -> bool:
    if kind in ONE_OF:
        return isinstance(value, list) and all(_is(one, ONE_OF[kind], rows, classes) for one in value)
    if kind in TYPES:
        return isinstance(value, TYPES[kind])
    if kind in ("row", "class"):
        return isinstance(value, str | int | float) and value in (rows if kind == "row" else classes)
    number = isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
    return number and (kind != "count" or value > 0)
