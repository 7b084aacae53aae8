"""`View`: how the user's rows become numbers.

Glossary
--------
given           rows as the user hands them over: texts, a frame, a matrix
rows            what models are trained on: counts of terms for texts, otherwise the given rows themselves
preprocessing   untrained transformer that each fold fits to its own training rows before it classifies, or None. For
                counts: term weights. For a frame: its encoder, which uses labels and must never see held-out ones

Counting words needs no labels, so texts are counted once for all folds.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import clone

from untwin._compat import rows_of
from untwin.classify.experts import columns_of
from untwin.model.features.inputs import stack_rows
from untwin.represent.incremental import stack_matrices, widen_matrix

if TYPE_CHECKING:
    from untwin._types import Array, Flags, Indices


class PreparedRows(NamedTuple):
    """A fitted preprocessing, or None, and the rows that it was fitted to, after it: what classifiers train on."""

    preprocessing: Any
    rows: Any


def apply_preprocessing(fitted: Any, rows: Any) -> Any:
    """Return rows after a fitted preprocessing, as new rows: training rows may be weighted by their labels instead."""
    return rows if fitted is None else fitted.transform(rows)


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """The training rows as models see them: counted by a fitted `encoder`, or as given if it is None."""

    name: str
    rows: Any
    encoder: Any = None
    preprocessing: Any = None

    def prepare(self, y: Array) -> PreparedRows:
        """Return all rows after the preprocessing, which is fitted to them and their labels."""
        if self.preprocessing is None:
            return PreparedRows(None, self.rows)
        fitted = clone(self.preprocessing)
        return PreparedRows(fitted, fitted.fit_transform(self.rows, y))

    def encode(self, given: Any) -> Any:
        """Return new rows as the models of this view take them."""
        return given if self.encoder is None else self.encoder.transform(given)

    def grow(self, given: Any) -> View:
        """Return the view with more rows; new words become new columns."""
        if self.encoder is None:
            return replace(self, rows=stack_rows([self.rows, given]))
        encoder = copy(self.encoder).partial_fit(given)  # a copy, so that a failure later leaves the old one unchanged
        new = encoder.transform(given)
        rows = stack_matrices([widen_matrix(self.rows, new.shape[1]), new])
        weights = clone(self.preprocessing).set_params(block_of=encoder.block_of_)
        return replace(self, encoder=encoder, rows=rows, preprocessing=weights)

    def take(self, kept: Indices) -> View:
        """Return the view of these rows only."""
        return replace(self, rows=rows_of(self.rows, kept))

    def term_names(self, fitted: Any) -> tuple[Array | None, Flags | None]:
        """Return the names of the columns after the fitted preprocessing, or None if they have no names.

        And which of them a person can read: words, not runs of characters; None: all.
        """
        source = fitted if self.encoder is None else self.encoder
        named = source is not None and hasattr(source, "get_feature_names_out")
        names = np.asarray(source.get_feature_names_out()) if named else None
        return names, getattr(source, "readable_", None)

    def readable_terms(self, X: Any, fitted: Any) -> tuple[Any, Array | None]:
        """Return rows after the fitted preprocessing by the terms that a person can read, and their names, if any."""
        names, readable = self.term_names(fitted)
        if readable is None or readable.all():
            return X, names
        kept = np.flatnonzero(readable)
        return columns_of(csr_array(X), kept), None if names is None else names[kept]
