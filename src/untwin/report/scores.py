"""What candidates were compared by, as people read it."""

from __future__ import annotations

SCORES = {
    "accuracy": "accuracy",
    "macro_f1": "macro F1",
    "mae": "mean absolute error",
    "kappa": "quadratic kappa",
}


def shown_score(scoring: str, score: float | None) -> float | None:
    """Return the score of a candidate, of which more is better, as the measure that it is called by.

    >>> shown_score("mae", -0.25), shown_score("kappa", 0.5), shown_score("mae", None)
    (0.25, 0.5, None)
    """
    return -score if scoring == "mae" and score is not None else score
