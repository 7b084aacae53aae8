"""What `untwin fit` prints: the winner and what it beat, what to expect, confused pairs, first findings."""

from __future__ import annotations

from typing import Any

from untwin._wording import format_count
from untwin.cli.output import put, put_table
from untwin.cli.scoring import interval, put_grades, put_pairs, put_scores, put_verdict
from untwin.report.scores import SCORES, shown_score

SHOWN_CANDIDATES = 8
SHOWN_PAIRS = 5
SHOWN_LINKS = 5
SHOWN_FINDINGS = 4
SHOWN_COLUMNS = 8  # of a role
LEFT_OUT = "unused"


def show_fit(record: dict[str, Any]) -> None:
    """Print the record of a fit."""
    rows, classes = format_count(record["rows"], "row", "rows"), format_count(record["classes"], "class", "classes")
    put(f"{record['source']}: {rows}, {classes}")
    _show_columns(record["columns"])
    put(f"Chosen: {record['chosen']}")
    scores = record["scores"]
    if scores:
        put(f"Expect accuracy {interval(scores)} on new rows, macro-F1 {scores['macro_f1']:.4f}")
        put_verdict(scores)
        put_grades(scores)
        put(f"calibration error {record['calibration_error']:.4f}")
        _show_sure(record)
        if record["judged"] < record["rows"]:
            alone = format_count(record["rows"] - record["judged"], "row was", "rows were")
            put(f"Measured on {record['judged']:,} of {rows}: {alone} not held out, for want of others of the class")
    put()
    _show_candidates(record["candidates"], record["scoring"])
    put()
    if scores:
        put_pairs(record["confused"][:SHOWN_PAIRS])
    else:
        put("Which classes are confused is not known: nothing could be held out.")
    if record["test"] is not None:
        put()
        put("Rows marked as test, answered once:")
        put_scores(record["test"])
    if record["known_tree"] is not None:
        put()
        _show_links(record["known_tree"])
    put()
    show_findings(record["findings"])


def _show_sure(record: dict[str, Any]) -> None:
    """Print how many answers are sure, and what that means."""
    sure, target = record["sure"], f"{record['target_error']:.1%}"
    if sure["error"] is None:
        put(f"No answer is sure: in no part of the rows were only {target} of the answers wrong (--target-error)")
        return
    put(
        f"sure of {sure['share']:.1%} of held-out rows, {sure['error']:.1%} of them wrong: from probability "
        f"{record['threshold']:.3f} on, so that at most {target} are (--target-error)"
    )


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
        put(f"... and {format_count(left, 'more finding', 'more findings')} (--json, or the report)")


def _show_columns(columns: list[dict[str, Any]]) -> None:
    """Print what each column was taken for, the reason where it is left out; `untwin check` gives all reasons."""
    by_role: dict[str, list[str]] = {}
    for use in columns:
        by_role.setdefault(use["role"], []).append(repr(use["name"]))
    left_out = [f"{use['name']!r} ({use['reason']})" for use in columns if use["role"] == LEFT_OUT]
    used = [f"{role} {', '.join(names[:SHOWN_COLUMNS])}" for role, names in by_role.items() if role != LEFT_OUT]
    if used:
        put(f"Columns: {'; '.join(used)}")
    if left_out:
        more = f"; and {len(left_out) - SHOWN_COLUMNS} more" if len(left_out) > SHOWN_COLUMNS else ""
        put(f"Left out: {'; '.join(left_out[:SHOWN_COLUMNS])}{more}")


def _show_candidates(candidates: list[dict[str, Any]], scoring: str) -> None:
    judged = [line for line in candidates if line["accuracy"] is not None]
    chosen_by = [] if scoring == "accuracy" else [SCORES[scoring]]  # accuracy is shown anyway
    lines = [
        [
            "*" if line["chosen"] else "",
            line["name"],
            *(f"{shown_score(scoring, line['score']):.4f}" for _ in chosen_by),
            f"{line['accuracy']:.4f}",
            f"{100 * line['gain']:+.1f} ({100 * line['gain_low']:+.1f} to {100 * line['gain_high']:+.1f})",
            f"{line['seconds']:.1f}",
        ]
        for line in judged[:SHOWN_CANDIDATES]
    ]
    if lines:
        put("Candidates, measured on the rows that chose between them: the best of several looks better than it is,")
        put("so that what to expect of the chosen one (*) is the figure above.")
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
    links = [[f"{link['rate']:.1%}", link["a"], link["b"]] for link in tree["also_see"][:SHOWN_LINKS]]
    if links:
        put("Also see (confused, although your tree keeps them apart):")
        put_table(["confused", "class", "and"], links)
