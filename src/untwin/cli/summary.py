"""What `untwin fit` prints: the winner and what it beat, what to expect, confused pairs, first findings."""

from __future__ import annotations

from typing import Any

from untwin.cli.output import put, put_table
from untwin.cli.scoring import interval, put_grades, put_pairs, put_scores
from untwin.report.scores import SCORES, told_score

SHOWN_CANDIDATES = 8
SHOWN_PAIRS = 5
SHOWN_LINKS = 5
SHOWN_FINDINGS = 4


def show_fit(record: dict[str, Any]) -> None:
    """Print the record of a fit."""
    put(f"{record['source']}: {record['rows']:,} rows, {record['classes']:,} classes")
    put(f"Chosen: {record['chosen']}")
    if record["scores"]:
        put(f"Expect accuracy {interval(record['scores'])} on new rows, macro-F1 {record['scores']['macro_f1']:.4f}")
        put_grades(record["scores"])
        put(f"calibration error {record['calibration_error']:.4f}")
    put()
    _show_candidates(record["candidates"], record["scoring"])
    put()
    put_pairs(record["confused"][:SHOWN_PAIRS])
    if record["test"] is not None:
        put()
        put("Rows marked as test, answered once:")
        put_scores(record["test"])
    if record["known_tree"] is not None:
        put()
        _show_links(record["known_tree"])
    put()
    show_findings(record["findings"])


def put_report(record: dict[str, Any]) -> None:
    """Print where the report is: people would rather look."""
    put()
    put(f"Report: {record['report']}")


def show_findings(findings: list[dict[str, Any]]) -> None:
    """Print the first findings, one paragraph each."""
    for finding in findings[:SHOWN_FINDINGS]:
        put(f"{finding['severity']} [{finding['code']}] {finding['title']}")
        put(f"  {finding['advice']}")
    left = len(findings) - SHOWN_FINDINGS
    if left > 0:
        put(f"... and {left} more (--json, or the report)")


def _show_candidates(candidates: list[dict[str, Any]], scoring: str) -> None:
    judged = [line for line in candidates if line["accuracy"] is not None]
    chosen_by = [] if scoring == "accuracy" else [SCORES[scoring]]  # accuracy is shown anyway
    lines = [
        [
            "*" if line["chosen"] else "",
            line["name"],
            *(f"{told_score(scoring, line['score']):.4f}" for _ in chosen_by),
            f"{line['accuracy']:.4f}",
            f"{100 * line['gain']:+.1f} ({100 * line['gain_low']:+.1f} to {100 * line['gain_high']:+.1f})",
            f"{line['seconds']:.1f}",
        ]
        for line in judged[:SHOWN_CANDIDATES]
    ]
    if lines:
        put_table(["", "candidate", *chosen_by, "accuracy", "points against the linear SVM", "seconds"], lines)
    for line in candidates:
        if line["note"]:
            put(f"{line['name']}: {line['note']}")


def _show_links(tree: dict[str, Any]) -> None:
    agreement = tree["agreement"]
    put(
        f"Your tree and the tree of confusion: adjusted Rand {agreement['adjusted_rand']:.2f}, "
        f"purity {agreement['purity']:.2f}"
    )
    links = [[f"{link['mutual_complexity']:.1%}", link["a"], link["b"]] for link in tree["also_see"][:SHOWN_LINKS]]
    if links:
        put("Also see (confused, although your tree keeps them apart):")
        put_table(["confused", "class", "and"], links)
