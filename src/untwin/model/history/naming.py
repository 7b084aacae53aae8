"""Labels of a model, which may be numbers, and names of classes, which are texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from untwin._errors import InputError

if TYPE_CHECKING:
    from untwin._types import Array

TRUTH = {"True": True, "False": False}


def names_of(labels: Array) -> list[str]:
    """Return the names of classes by their labels.

    >>> names_of(np.array([1, 2])), names_of(np.array(["a"]))
    (['1', '2'], ['a'])
    """
    return [str(label) for label in labels.tolist()]


def label_of(name: str, classes: Array) -> Any:
    """Return the label that a class of this name has in a model with such labels; raise InputError if it can have none.

    >>> label_of("3", np.array([1, 2])), label_of("c", np.array(["a", "b"]))
    (3, 'c')
    """
    kind = classes.dtype.kind
    try:
        if kind in "iu":
            return int(name)
        if kind == "f":
            return float(name)
        return TRUTH[name] if kind == "b" else name
    except (ValueError, KeyError):
        message = f"Labels of this model are like {classes[:1].tolist()[0]!r}. Got the name {name!r}."
        hint = "Use a name of that kind, or fit the model to labels that are texts."
        raise InputError(message, code="class-change", hint=hint) from None


def labels_of(names: list[str], classes: Array) -> Array:
    """Return an array of labels by names."""
    return np.array([label_of(name, classes) for name in names], dtype=None if names else classes.dtype)
