"""How well a model answers labelled rows that it has not learnt, as one record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from untwin._plain import plain
from untwin._wording import format_count
from untwin.calibrate.kept import kept_on
from untwin.calibrate.reliability import calibration_error
from untwin.cli.output import put, put_table
from untwin.model.chance import chance_of_guessing, verdict
from untwin.model.selection.comparison import binomial_interval
from untwin.tables.confusion import Confusion

if TYPE_CHECKING:
    from untwin._types import Array, Flags
    from untwin.answer.predictions import Predictions
    from untwin.answer.promises import Promises
    from untwin.calibrate.kept import Kept
    from untwin.model import UntwinClassifier

TOP_PAIRS = 10
SHOWN_CLASSES = 20


def scores_on(
    model: UntwinClassifier, rows: Any, labels: Array, *, target_error: float | None = None
) -> dict[str, Any]:
    """Answer the rows and compare; a class that the model does not know is always answered wrong."""
    found, promises = model.predict_all(rows, target_error=target_error), model.promises_
    labels = model.present_labels(labels)
    predicted, sure = found.labels, ~found.unsure
    right, confidence = predicted == labels, found.probabilities.max(axis=1)
    low, high = binomial_interval(right)
    confusion = Confusion.from_predictions(labels, predicted)
    return {
        "rows": len(labels),
        "accuracy": float(right.mean()),
        "accuracy_low": low,
        "accuracy_high": high,
        "macro_f1": confusion.macro_f1,
        **chance_of_guessing(confusion),
        "calibration_error": calibration_error(confidence, right),
        "sure": {
            "share": float(sure.mean()),
            "accuracy": float(right[sure].mean()) if sure.any() else None,
            "target_error": model.target_error_ if target_error is None else target_error,
        },
        "promises": plain(_promises_kept(promises, found, model.classes_, labels)),
        "without_evidence": int(found.no_evidence.sum()),
        "unknown_classes": np.setdiff1d(labels, model.classes_).tolist(),
        **_on_scale(model, labels, predicted),
        "confused": pair_records(confusion, TOP_PAIRS),
        "per_class": _per_class(confusion, labels, promises.shortlists(found, model.classes_).hold(labels)),
    }


def _promises_kept(promises: Promises, found: Predictions, classes: Array, labels: Array) -> Kept:
    places = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
    return kept_on(promises, found, classes, np.where(classes[places] == labels, places, -1))


def put_promises(scores: dict[str, Any]) -> None:
    """Print what became of the promises."""
    kept = scores["promises"]
    put("The surest answers, by the share of the rows that is answered:")
    shown = [point for point in kept["shares"] if round(20 * point["share"]) in (10, 14, 16, 18, 20)] or kept["shares"]
    lines = [[f"{one['share']:.0%}", f"{1 - one['error']:.4f}", f"{one['threshold']:.3f}"] for one in shown]
    put_table(["answered", "accuracy", "from probability"], lines)
    put()
    put("Sets of classes (predict --coverage):")
    lines = [[f"{one['coverage']:.0%}", f"{one['held']:.1%}", f"{one['size']:.2f}"] for one in kept["sets"]]
    put_table(["promised", "hold the right class", "classes a row"], lines)
    put()
    put("Answers at the right height (predict --height auto), as shares of the rows:")
    names = ("at_class", "at_group", "at_larger_group", "cannot_say", "error")
    lines = [[f"{one['target']:.0%}", *(f"{one[name]:.1%}" for name in names)] for one in kept["heights"]]
    put_table(["target error", "class", "group", "larger group", "cannot say", "error"], lines)


def pair_records(confusion: Confusion, top: int) -> list[dict[str, Any]]:
    """Return the pairs of classes that are confused most often, as JSON keeps them."""
    return [dict(zip(row.dtype.names, row.tolist(), strict=True)) for row in confusion.pairs(top)]


def put_pairs(pairs: list[dict[str, Any]]) -> None:
    """Print confused pairs of rows that were answered."""
    if not pairs:
        put("No two classes were confused.")
        return
    put("Most often confused, either way:")
    lines = [[pair["errors"], pair["a"], pair["b"], f"{pair['share']:.1%}"] for pair in pairs]
    put_table(["rows", "class", "and", "of all errors"], lines)


def put_scores(scores: dict[str, Any]) -> None:
    """Print the figures of one set of rows, and the classes that fare worst."""
    rows = format_count(scores["rows"], "row", "rows")
    put(f"accuracy {interval(scores)} on {rows}, macro-F1 {scores['macro_f1']:.4f}")
    put_verdict(scores)
    put(f"calibration error {scores['calibration_error']:.4f}")
    put_grades(scores)
    sure = scores["sure"]
    said = "" if sure["accuracy"] is None else f", {1 - sure['accuracy']:.1%} of them wrong"
    put(f"sure of {sure['share']:.1%} of the rows{said} (target: {sure['target_error']:.1%})")
    if scores["without_evidence"]:
        put(f"{format_count(scores['without_evidence'], 'row holds', 'rows hold')} no known word")
    if scores["unknown_classes"]:
        put(f"classes the model does not know: {', '.join(scores['unknown_classes'][:SHOWN_CLASSES])}")


def put_verdict(scores: dict[str, Any]) -> None:
    """Print whether it could all be a guess."""
    if told := verdict(scores):
        put(told)


def put_grades(scores: dict[str, Any]) -> None:
    """Print how far answers lie from the truth, if the classes have an order."""
    if "mae" in scores:
        put(f"mean absolute error {scores['mae']:.4f}, quadratic kappa {scores['quadratic_kappa']:.4f}")


def put_classes(per_class: list[dict[str, Any]]) -> None:
    """Print the classes that fare worst."""
    worst = sorted(per_class, key=lambda line: line["f1"])[:SHOWN_CLASSES]
    left = len(per_class) - len(worst)
    put(f"Class by class, the worst first{f' ({left:,} more with --json)' if left else ''}:")
    figures = ("precision", "recall", "f1")
    lines = [[line["class"], *(f"{line[name]:.3f}" for name in figures), line["rows"]] for line in worst]
    put_table(["class", *figures, "rows"], lines)


def interval(scores: dict[str, float]) -> str:
    """Return an accuracy with its interval, in words."""
    return f"{scores['accuracy']:.4f} ({scores['accuracy_low']:.4f} to {scores['accuracy_high']:.4f})"


def _per_class(confusion: Confusion, labels: Array, held: Flags) -> list[dict[str, Any]]:
    """Return the figures of each class; `covered`: how many of its rows are in their set at the usual coverage."""
    names, places = np.unique(labels, return_inverse=True)
    covered = dict(zip(names.tolist(), (np.bincount(places, held) / np.bincount(places)).tolist(), strict=True))
    figures = confusion.precision, confusion.recall, confusion.f1, confusion.support
    columns = zip(confusion.classes.tolist(), *(one.tolist() for one in figures), strict=True)
    return [
        {
            **dict(zip(("class", "precision", "recall", "f1", "rows"), line, strict=True)),
            "covered": covered.get(line[0]),
        }
        for line in columns
    ]


def _on_scale(model: UntwinClassifier, labels: Array, predicted: Array) -> dict[str, float]:
    """Return how far answers lie from the truth on the scale of the classes, if they have one."""
    if model.order is None or not np.isin(labels, model.order).all():
        return {}
    ordered = Confusion.from_predictions(labels, predicted, classes=model.order)
    return {"mae": ordered.mean_absolute_error(), "quadratic_kappa": ordered.quadratic_kappa()}
