"""Ordinal classes (grades): which class to answer with when a small error is better than a large one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from untwin._errors import InputError
from untwin._values import class_names, positions
from untwin._wording import option
from untwin.answer.predictions import ORDERED, answer_codes

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from untwin._types import Array, Indices

SCORINGS = ("accuracy", "macro_f1", "mae", "kappa")


def class_order(order: ArrayLike | None, classes: Array, scoring: str) -> Indices | None:
    """Return the numbers of the classes from low to high; None where they have no order.

    >>> class_order(["low", "middle", "high"], np.array(["high", "low"]), "mae").tolist()
    [1, 0]
    """
    if order is None:
        if scoring in ORDERED:
            raise ValueError(f"order must name the classes from low to high for scoring={scoring!r}. Got None.")
        return None
    names = class_names(order)
    absent = np.setdiff1d(classes, names)
    if absent.size:
        raise ValueError(f"order must name all classes. Got none for {absent[0].item()!r} instead; add it.")
    return positions(names[np.isin(names, classes)], classes)


def require_ordered_classes(labels: Array, order: ArrayLike | None) -> None:
    """Raise InputError if a label of new rows has no place in the order."""
    if order is None:
        return
    unknown = labels[~np.isin(labels, np.asarray(order))]
    if unknown.size:
        message = f"y must hold classes of the order that fit was given. Got {unknown[:1].tolist()[0]!r} instead."
        hint = f"Fit again with an order ({option('order')}) that names it too."
        raise InputError(message, code="class-not-in-order", hint=hint)


def answers(log_p: Any, classes: Array, *, scoring: str, order: ArrayLike | None) -> Array:
    """Return the names of the predicted classes."""
    return np.asarray(classes[answer_codes(log_p, scoring, class_order(order, classes, scoring))])
