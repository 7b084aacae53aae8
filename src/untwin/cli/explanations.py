"""Why a row is answered as it is, as one record with the documents that speak for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from untwin.cli.documents import document_of
from untwin.model.features.inputs import in_words

if TYPE_CHECKING:
    from untwin.answer.reasons import Reason
    from untwin.classify.knn.explain import Neighbour
    from untwin.export.model import AnswerModel
    from untwin.model import UntwinClassifier


def explanation_record(
    model: UntwinClassifier | AnswerModel, rows: Any, top: int, *, itself: Any = None
) -> dict[str, Any]:
    """Explain one row; `itself` is its id if it is a training row, which does not speak for itself."""
    named = {} if itself is None else {"ids": [itself]}
    (reason,) = model.explain(rows, top=top, **named)
    return {
        "document": in_words(rows),
        "row": itself,
        "own_label": reason.own_label,
        "label": reason.label,
        "against": reason.evidence.against,
        "unsure": reason.unsure,
        "no_evidence": reason.no_evidence,
        "probabilities": [{"class": name, "probability": share} for name, share in reason.probabilities],
        "neighbours": _neighbours(model, reason),
        "evidence": [
            {"class": name, "terms": [{"term": term, "log_odds": abs(number)} for term, number in terms]}
            for name, terms in reason.evidence.sides()
        ],
    }


def _neighbours(model: UntwinClassifier | AnswerModel, reason: Reason) -> list[dict[str, Any]]:
    """Return similar training rows; none of a model that only answers."""
    from untwin.export.model import AnswerModel

    return [] if isinstance(model, AnswerModel) else [_neighbour(model, one) for one in reason.neighbours.neighbours]


def _neighbour(model: UntwinClassifier, near: Neighbour) -> dict[str, Any]:
    return {
        "row": near.row,
        "label": near.label,
        "similarity": near.value,
        "document": document_of(model, near.row),
        "terms": [{"term": term, "weight": weight} for term, weight in near.terms],
    }
