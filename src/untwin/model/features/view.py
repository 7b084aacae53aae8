"""`View`: how the user's rows become numbers.

Glossary
--------
given           rows as the user hands them over: texts, a frame, a matrix; None where texts are not kept
counted         counts of the terms of texts, by `encoder`; None for other rows, or until texts are counted again
rows            what models are trained on: the counts of texts, otherwise the given rows themselves
preprocessing   untrained transformer that each fold fits to its own training rows before it classifies, or None. For
                counts: term weights. For a frame: its encoder, which uses labels and must never see held-out ones

Counting words needs no labels, so texts are counted once for all folds.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl
from scipy.sparse import csr_array
from sklearn.base import clone

from untwin._compat import rows_of
from untwin.classify.experts import columns_of
from untwin.model.features.inputs import stack_rows
from untwin.represent.incremental import stack_matrices, widen_matrix

if TYPE_CHECKING:
    from untwin._types import Array, Flags, Indices

NEARLY_ALL = 0.9  # of the texts


class PreparedRows(NamedTuple):
    """A fitted preprocessing, or None, and the rows that it was fitted to, after it: what classifiers train on."""

    preprocessing: Any
    rows: Any


def apply_preprocessing(fitted: Any, rows: Any) -> Any:
    """Return rows after a fitted preprocessing, as new rows: training rows may be weighted by their labels instead."""
    return rows if fitted is None else fitted.transform(rows)


@dataclass(frozen=True, eq=False)
class View:
    """The training rows as models see them: counted by a fitted `encoder`, or as given if it is None.

    `recounts`: counting the texts again would give the same counts. It does not where some of them were counted before
    later texts brought new terms.
    """

    name: str
    given: Any
    counted: Any = None
    encoder: Any = None
    preprocessing: Any = None
    recounts: bool = True

    @cached_property
    def rows(self) -> Any:
        """What models are trained on."""
        if self.encoder is None:
            return self.given
        return self.encoder.transform(self.given) if self.counted is None else self.counted

    @property
    def documents(self) -> Any:
        """The given rows if a person can read them (texts, a frame), else None."""
        return self.given if isinstance(self.given, list | pl.DataFrame) else None

    @property
    def n_columns(self) -> int:
        """Number of columns of the rows, without counting texts."""
        return int(self.rows.shape[1]) if self.encoder is None else len(self.encoder.block_of_)

    def to_store(self, *, texts: bool) -> View:
        """Return what is to be stored: texts, or else their counts, or both if one does not follow from the other."""
        if self.encoder is None or not (texts and self.given is not None):
            counted = None if self.encoder is None else self.rows
            return replace(self, given=None if self.encoder is not None else self.given, counted=counted)
        return replace(self, counted=None if self.recounts else self.rows)

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
        all_given = None if self.given is None else stack_rows([self.given, given])
        if self.encoder is None:
            return replace(self, given=all_given)
        encoder = copy(self.encoder).partial_fit(given)  # a copy, so that a failure later leaves the old one unchanged
        new = encoder.transform(given)
        rows = stack_matrices([widen_matrix(self.rows, new.shape[1]), new])
        weights = clone(self.preprocessing).set_params(block_of=encoder.block_of_)
        return View(self.name, all_given, rows, encoder, weights, recounts=False)

    def take(self, kept: Indices) -> View:
        """Return the view of these rows only."""
        given = None if self.given is None else rows_of(self.given, kept)
        return replace(self, given=given, counted=None if self.encoder is None else rows_of(self.rows, kept))

    def shares_words(self) -> bool:
        """Tell whether nearly all texts hold a word that another one holds, too."""
        if self.encoder is None or not hasattr(self.encoder, "readable_"):
            return False
        rows = csr_array(self.rows)
        common = self.encoder.readable_ & (np.bincount(rows.indices, minlength=rows.shape[1]) > 1)
        return bool((rows @ common.astype(np.float64) > 0).mean() >= NEARLY_ALL)

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
