"""`View`: one way to turn the user's data into rows of numbers.

Glossary
--------
given           rows as the user hands them over: texts, a frame, a matrix
rows            what the models of a view are trained on: counts of terms for texts, otherwise the given rows themselves
preprocessing   transformers that each model fits on its own training rows before it classifies. For counts: drop terms
                without a training row, then tf-idf. For a frame: its encoder, which uses labels and so must never see
                those of held-out rows

Counting words needs no labels, so texts are counted once for all folds.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils.extmath import row_norms

from untwin._compat import rows_of
from untwin.data.frames import text_cells
from untwin.model.features.inputs import stack_rows
from untwin.represent.incremental import widen_matrix

if TYPE_CHECKING:
    from untwin._types import Array, Indices

WORD = 6  # average characters of a word


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """The training rows in one encoding: terms counted by a fitted `encoder`, or the given rows if it is None."""

    name: str
    rows: Any
    encoder: Any = None
    preprocessing: tuple[Any, ...] = ()

    @property
    def telling(self) -> bool:
        """Whether a person can read the terms: words, not runs of characters."""
        counts = (
            getattr(self.preprocessing[0], "counts", None)
            if self.encoder is None and self.preprocessing
            else self.encoder
        )
        return getattr(counts[0] if isinstance(counts, Pipeline) else counts, "analyzer", "word") == "word"

    @property
    def text_columns(self) -> list[str]:
        """The columns of a frame whose texts are counted."""
        named = (
            getattr(self.preprocessing[0], "text", ())
            if self.preprocessing and isinstance(self.rows, pl.DataFrame)
            else ()
        )
        return [named] if isinstance(named, str) else list(named)

    @property
    def sparse(self) -> bool:
        """Whether the rows are a sparse matrix."""
        found: bool = issparse(self.rows)
        return found

    @property
    def n_numbers(self) -> int:
        """How many stored numbers a model of this view reads in one pass; for a frame one for each cell and word."""
        words = sum(int(text_cells(self.rows[name]).str.len_bytes().sum()) for name in self.text_columns) // WORD
        return words + (int(self.rows.nnz) if self.sparse else int(np.prod(np.shape(self.rows))))

    @property
    def unit_rows(self) -> bool:
        """Whether the rows that a classifier gets have length one, like tf-idf rows and most sentence vectors."""
        if self.encoder is not None:
            return True
        plain = not self.preprocessing and (self.sparse or isinstance(self.rows, np.ndarray))
        return plain and np.allclose(row_norms(self.rows), 1.0, atol=1e-3)

    def model(self, classifier: Any, *, weighted: bool = True) -> Any:
        """Return an untrained model of `rows`: the preprocessing, then the classifier."""
        preprocessing = self.preprocessing if weighted or self.encoder is None else ()
        return make_pipeline(*map(clone, preprocessing), classifier) if preprocessing else classifier

    def seen(self, given: Any) -> Any:
        """Return new rows encoded for the models of this view."""
        return given if self.encoder is None else self.encoder.transform(given)

    def grown(self, given: Any) -> View:
        """Return the view with more rows; new words become new columns."""
        if self.encoder is None:
            return replace(self, rows=stack_rows([self.rows, given]))
        encoder = copy(self.encoder).partial_fit(given)  # a copy, so that a failure later leaves the old one unchanged
        new = encoder.transform(given)
        return replace(self, encoder=encoder, rows=stack_rows([widen_matrix(self.rows, new.shape[1]), new]))

    def take(self, kept: Indices) -> View:
        """Return the view of these rows only."""
        return replace(self, rows=rows_of(self.rows, kept))

    def term_names(self, fitted_preprocessing: Any) -> Array | None:
        """Return the names of the columns after the fitted preprocessing, or None if they have no names."""
        source = self.encoder if self.encoder is not None else fitted_preprocessing
        if source is None or not hasattr(source, "get_feature_names_out"):
            return None
        return np.asarray(source.get_feature_names_out())
