"""`Evidence`: the data that findings are made from, measured once by the model and out of fold.

Glossary
--------
n rows, C classes, m terms, k neighbours, u unlabelled rows
y               n        labels of the training rows
codes           n        their places in `classes`
probabilities   n x C    calibrated, by a model not trained on the row; NaN where a row was never held out
predictions     n        predictions of that model; ignored where a row was never held out
folds           n        the fold that held the row out; -1 never
confusion       C x C    true x predicted of the rows that were held out
X               n x m    the rows as the model gets them: counts, weights, vectors
cells           m        which columns of X say that a cell of a table holds a value, or a number of an interval
neighbours      n x k    rows of *other* folds nearest to each row; -1 where there are fewer
unlabelled      u x C    calibrated probabilities of rows without a label
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array, issparse

from untwin._values import freeze, positions
from untwin._wording import cut
from untwin.structure.hierarchy import Hierarchy
from untwin.tables.contingency import Contingency

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from untwin._types import Array, Flags, Floats, Indices
    from untwin.tables.confusion import Confusion


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Evidence:
    """Measurements of a model on its training rows; made once, used by every kind of finding.

    Parameters
    ----------
    confusion : Confusion
        Out of fold. Its classes are the columns of all probabilities.
    y, predictions, folds : (n,) arrays
    probabilities : (n, C) array
    X : (n, m) CSR or dense
    terms : (m,) names, optional
        None where columns have no meaning of their own (embeddings): evidence then names no terms.
    cells : (m,) bool, optional
        None where no column does: texts and vectors.
    neighbours : (n, k) array of rows, optional
    ids : (n,) array, optional
        Names of the rows in findings; their positions if None.
    texts : (n,) str, optional
    test_texts, test_labels, test_ids : optional
        A test set, to find texts that are in both; never used for anything else. Without ids, positions name its rows.
    unlabelled : (u, C) array, optional
    parents : mapping from class to parent, or to a tuple of ancestors, optional

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from untwin.crossfit import out_of_fold
    >>> X, y = load_iris(return_X_y=True)
    >>> said = out_of_fold(GaussianNB(), X, y)
    >>> Evidence(confusion=said.confusion, y=y, predictions=said.predictions, folds=said.folds,
    ...          probabilities=said.scores, X=X)
    Evidence(150 rows, 3 classes, 150 held out)
    """

    confusion: Confusion
    y: Array
    predictions: Array
    probabilities: Floats
    folds: Indices
    X: Any
    terms: Array | None = None
    cells: Flags | None = None
    neighbours: Array | None = None
    ids: Array | None = None
    texts: Sequence[str] | None = None
    test_texts: Sequence[str] | None = None
    test_labels: Array | None = None
    test_ids: Array | None = None
    unlabelled: Floats | None = None
    parents: Mapping[Any, object] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "predictions", np.asarray(self.predictions))  # `folds` say which of them count
        sparse: bool = issparse(self.X)
        object.__setattr__(self, "X", csr_array(self.X) if sparse else np.asarray(self.X))
        n_rows, n_classes = len(self.y), self.confusion.n_classes
        shapes = {
            "predictions": (np.shape(self.predictions), (n_rows,)),
            "folds": (np.shape(self.folds), (n_rows,)),
            "probabilities": (np.shape(self.probabilities), (n_rows, n_classes)),
            "X": (self.X.shape[:1], (n_rows,)),
            "cells": (None if self.cells is None else np.shape(self.cells), self.X.shape[1:]),
            "ids": (None if self.ids is None else np.shape(self.ids), (n_rows,)),
            "texts": (None if self.texts is None else (len(self.texts),), (n_rows,)),
            "neighbours": (None if self.neighbours is None else self.neighbours.shape[:1], (n_rows,)),
            "unlabelled": (None if self.unlabelled is None else self.unlabelled.shape[1:], (n_classes,)),
        }
        for name, (given, wanted) in shapes.items():
            if given is not None and given != wanted:
                raise ValueError(f"{name} must have shape {wanted} (rows, classes). Got {given} instead.")
        if self.neighbours is not None and (self.folds[self.neighbours] == self.folds[:, None])[self._asked()].any():
            raise ValueError("neighbours must be rows of other folds. Got a row of the same fold instead.")

    def _asked(self) -> Flags:
        """Return which entries of `neighbours` are rows near a row that was held out."""
        return (np.asarray(self.neighbours) >= 0) & self.held_out[:, None]

    def __repr__(self) -> str:
        return f"Evidence({len(self.y)} rows, {len(self.classes)} classes, {self.held_out.sum()} held out)"

    @property
    def classes(self) -> Array:
        """Names of the classes, in the order of the columns of probabilities."""
        return self.confusion.classes

    @property
    def held_out(self) -> Flags:
        """Whether each row was predicted by a model not trained on it."""
        return np.asarray(self.folds >= 0)

    @cached_property
    def codes(self) -> Indices:
        """Return the place of each row's label among the classes."""
        return freeze(positions(self.y, self.classes))

    @cached_property
    def sizes(self) -> Indices:
        """Return the number of training rows of each class."""
        return freeze(np.bincount(self.codes, minlength=len(self.classes)))

    @cached_property
    def contingency(self) -> Contingency | None:
        """Return in how many rows of each class each term occurs (weights may be anything); None without terms."""
        if self.terms is None:
            return None
        present = csr_array(self.X != 0).astype(np.int64)
        return Contingency.from_counts(present, self.y, classes=self.classes, terms=self.terms)

    @cached_property
    def hierarchy(self) -> Hierarchy:
        """Return the tree of classes made from the confusion."""
        return Hierarchy.from_confusion(self.confusion)

    def ids_of(self, rows: Indices) -> list[Any]:
        """Return the names of some rows."""
        named: list[Any] = (rows if self.ids is None else self.ids[rows]).tolist()
        return named

    def texts_of(self, rows: Indices) -> list[str | None]:
        """Return the beginnings of some rows' texts; None for each where there are no texts."""
        return [None if self.texts is None else beginning(self.texts[row]) for row in rows.tolist()]


LONGEST = 80


def beginning(text: str) -> str:
    """Return a text short enough for a table.

    >>> len(beginning("word " * 100))
    80
    """
    return cut(text, LONGEST)
