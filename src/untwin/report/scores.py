"""What candidates were compared by, as people read it."""

from __future__ import annotations

SCORES = {
    "accuracy": "accuracy",
    "macro_f1": "macro F1",
    "mae": "mean absolute error",
    "kappa": "quadratic kappa",
}


def told_score(scoring: str, score: float | None) -> float | None:
    """Return the score of a candidate, of which more is better, as the measure that it is called by.

    >>> told_score("mae", -0.25), told_score("kappa", 0.5), told_score("mae", None)
    (0.25, 0.5, None)
    """
    return -score if scoring == "mae" and score is not None else score
