"""Why a row is answered as it is, as one record with the documents that speak for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from untwin.cli.documents import document_of, in_words

if TYPE_CHECKING:
    from untwin.classify.knn.explain import Explanation, Neighbour
    from untwin.model import UntwinClassifier


def explanation_record(model: UntwinClassifier, rows: Any, top: int, *, itself: Any = None) -> dict[str, Any]:
    """Explain one row; `itself` is its id if it is a training row, which does not speak for itself."""
    (reason,) = model.explain(rows, top=top)
    near = [line for line in reason.neighbours.neighbours if line.row != itself]
    return {
        "document": in_words(rows),
        "row": itself,
        "label": reason.label,
        "unsure": reason.unsure,
        "no_evidence": bool(model.without_evidence(rows)[0]),
        "probabilities": [{"class": name, "probability": share} for name, share in reason.probabilities],
        "neighbours": [_neighbour(model, line) for line in near],
        "evidence": _sides(reason.neighbours),
    }


def _neighbour(model: UntwinClassifier, near: Neighbour) -> dict[str, Any]:
    return {
        "row": near.row,
        "label": near.label,
        "similarity": near.value,
        "document": document_of(model, near.row),
        "terms": [{"term": term, "weight": weight} for term, weight in near.terms],
    }


def _sides(explanation: Explanation) -> list[dict[str, Any]]:
    """Return the terms that speak for the best and for the second-best class among the neighbours."""
    sides = []
    for (name, _), sign in zip(explanation.shares, (1, -1), strict=False):
        terms = [{"term": term, "weight": sign * weight} for term, weight in explanation.evidence if sign * weight > 0]
        if terms:
            sides.append({"class": name, "terms": terms})
    return sides
