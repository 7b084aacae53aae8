"""A way to turn what a user has into rows of numbers.

Glossary
--------
given    what the user hands over: texts, a frame, a matrix
rows     what the models of a view are trained on: counts of terms for texts, otherwise the given rows themselves
front    what each model fits on its own training rows before it classifies: for counts which terms it has seen, and
         last their weights; the encoder of a frame, which sees labels and so must never see those of held-out rows

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
from untwin.represent.growth import widened

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]
    Indices = NDArray[np.intp]

WORD = 6  # characters of a text for each word, about


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """One way to see the training rows: their terms counted by a fitted `encoder`, or as they are."""

    name: str
    rows: Any
    encoder: Any = None
    preprocessing: tuple[Any, ...] = ()

    @property
    def telling(self) -> bool:
        """Whether the terms mean something to a reader, as runs of characters do not."""
        counts = (
            getattr(self.preprocessing[0], "counts", None)
            if self.encoder is None and self.preprocessing
            else self.encoder
        )
        return getattr(counts[0] if isinstance(counts, Pipeline) else counts, "analyzer", "word") == "word"

    @property
    def text_columns(self) -> list[str]:
        """The columns of a frame that are counted."""
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
        """How many numbers a model of this view reads in a pass; of a frame one for each cell and word."""
        words = sum(int(text_cells(self.rows[name]).str.len_bytes().sum()) for name in self.text_columns) // WORD
        return words + (int(self.rows.nnz) if self.sparse else int(np.prod(np.shape(self.rows))))

    @property
    def unit_rows(self) -> bool:
        """Whether what a classifier sees has length one, as weighted counts and most sentence vectors have."""
        if self.encoder is not None:
            return True
        plain = not self.preprocessing and (self.sparse or isinstance(self.rows, np.ndarray))
        return plain and np.allclose(row_norms(self.rows), 1.0, atol=1e-3)

    def model(self, classifier: Any, *, weighted: bool = True) -> Any:
        """Return an untrained model of `rows`: what stands in front, then the classifier."""
        preprocessing = self.preprocessing if weighted or self.encoder is None else ()
        return make_pipeline(*map(clone, preprocessing), classifier) if preprocessing else classifier

    def seen(self, given: Any) -> Any:
        """Return new rows as the models of this view take them."""
        return given if self.encoder is None else self.encoder.transform(given)

    def grown(self, given: Any) -> View:
        """Return the view with more rows; words that are new to it become new columns."""
        if self.encoder is None:
            return replace(self, rows=stack_rows([self.rows, given]))
        encoder = copy(self.encoder).partial_fit(given)  # whatever fails later leaves the old one as it was
        new = encoder.transform(given)
        return replace(self, encoder=encoder, rows=stack_rows([widened(self.rows, new.shape[1]), new]))

    def without(self, kept: Indices) -> View:
        """Return the view of these rows only."""
        return replace(self, rows=rows_of(self.rows, kept))

    def term_names(self, fit_preprocessing: Any) -> Array | None:
        """Return the names of the columns behind the fitted front, if they have names."""
        source = self.encoder if self.encoder is not None else fit_preprocessing
        if source is None or not hasattr(source, "get_feature_names_out"):
            return None
        return np.asarray(source.get_feature_names_out())
