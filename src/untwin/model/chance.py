"""The accuracy of guessing: what a model must exceed before its accuracy means anything.

Glossary
--------
chance           share of rows that would be right if the same answers were dealt out at random: sum over classes of
                 share of the rows x share of the answers (the chance of Cohen's kappa)
largest_class    share of rows that would be right if the largest class were always answered
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from untwin.tables.confusion import Confusion

NO_BETTER = "No better than guessing"


def chance_of_guessing(confusion: Confusion) -> dict[str, float]:
    """Return the accuracy of both ways of guessing (glossary) for rows with this confusion.

    >>> from untwin.tables.confusion import Confusion
    >>> chance_of_guessing(Confusion([[4, 2], [1, 1]], ["cat", "dog"]))
    {'chance': 0.5625, 'largest_class': 0.75}
    """
    true, said = (rows / rows.sum() for rows in (confusion.support, confusion.predicted))
    return {"chance": float(true @ said), "largest_class": float(true.max())}


def verdict(scores: Mapping[str, Any]) -> str:
    """Return a warning if the interval of an accuracy includes that of a guess, else an empty string.

    >>> guess = {"chance": 0.5, "largest_class": 0.9}
    >>> verdict({"accuracy_low": 0.45, **guess})
    'No better than guessing: answers dealt out at random would be right in 50.0% of the rows.'
    >>> verdict({"accuracy_low": 0.88, **guess})
    'Right no more often than if the largest class were always answered (90.0% of the rows).'
    >>> verdict({"accuracy_low": 0.93, **guess})
    ''
    """
    if not scores:
        return ""
    chance, largest = scores["chance"], scores["largest_class"]
    if scores["accuracy_low"] <= chance:
        return f"{NO_BETTER}: answers dealt out at random would be right in {chance:.1%} of the rows."
    if scores["accuracy_low"] <= largest:
        return f"Right no more often than if the largest class were always answered ({largest:.1%} of the rows)."
    return ""
