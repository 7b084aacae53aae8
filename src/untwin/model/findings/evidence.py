"""`Evidence`: the data that findings and the report are made from: out-of-fold answers, and the rows behind them.

Glossary
--------
n rows, C classes, m terms, k neighbours, u unlabelled rows
answers         n        labels, and answers of models not trained on the row (`out_of_fold`)
probabilities   n x C    the same answers before their top class was calibrated; NaN where a row was never held out
X               n x m    the rows as the model gets them: counts, weights, vectors
cells           m        which columns of X say that a cell of a table holds a value, or a number of an interval
neighbours      n x k    rows of *other* folds nearest to each row; -1 where there are fewer
unlabelled      u x C    calibrated probabilities of rows without a label
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array, issparse

from untwin._compat import rows_of
from untwin._wording import cut
from untwin.data.encode import TableEncoder
from untwin.model.features.inputs import as_one_text
from untwin.model.findings.nearest import neighbours_of_other_folds
from untwin.model.findings.spelling import spell, spelling_of, stemmer_of
from untwin.model.findings.telling import ASKED, telling_terms
from untwin.structure.hierarchy import Hierarchy
from untwin.tables.contingency import Contingency

if TYPE_CHECKING:
    from collections.abc import Sequence

    from untwin._types import Array, Flags, Floats, Indices
    from untwin.calibrate.top_class import TopClassCalibration
    from untwin.model.out_of_fold import OutOfFoldAnswers
    from untwin.model.state import FittedState
    from untwin.tables.term_evidence import TermEvidence

LONGEST = 80


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Evidence:
    """What a model knows about the rows that it was asked about; made once, used by every kind of finding.

    Parameters
    ----------
    answers : OutOfFoldAnswers
    top_class : TopClassCalibration, optional
        The calibration of the answers that `probabilities` are without.
    X : (n, m) CSR or dense
    terms : (m,) names, optional
        None where columns have no meaning of their own (embeddings): evidence then names no terms.
    cells : (m,) bool, optional
        None where no column does: texts and vectors.
    neighbours : (n, k) array of rows, optional
    ids : (n,) array, optional
        Names of the rows in findings; their positions if None.
    texts : (n,) str, optional
    stemmer : str, optional
        The language whose stems the terms are, if they are stems: people are shown words.
    test_texts, test_labels, test_ids : optional
        A test set, to find texts that are in both; never used for anything else. Without ids, positions name its rows.
    unlabelled : (u, C) array, optional
    parents : mapping from class to parent, or to a tuple of ancestors, optional
    """

    answers: OutOfFoldAnswers
    top_class: TopClassCalibration | None = None
    X: Any
    terms: Array | None = None
    cells: Flags | None = None
    neighbours: Array | None = None
    ids: Array | None = None
    texts: Sequence[str] | None = None
    stemmer: str | None = None
    test_texts: Sequence[str] | None = None
    test_labels: Array | None = None
    test_ids: Array | None = None
    unlabelled: Floats | None = None
    parents: Mapping[Any, object] | None = None

    def __post_init__(self) -> None:
        sparse: bool = issparse(self.X)
        object.__setattr__(self, "X", csr_array(self.X) if sparse else np.asarray(self.X))
        n_rows, n_classes = len(self.answers.rows), len(self.answers.classes)
        shapes = {
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
        if self.neighbours is not None:
            folds, near = self.answers.folds, self.neighbours
            if ((folds[near] == folds[:, None]) & (near >= 0) & self.answers.held[:, None]).any():
                raise ValueError("neighbours must be rows of other folds. Got a row of the same fold instead.")

    @classmethod
    def of_state(
        cls,
        known: FittedState,
        *,
        neighbours: Array | None = None,
        test: tuple[Any, Array, Array] | None = None,
        unlabelled: Floats | None = None,
        parents: Mapping[Any, object] | None = None,
    ) -> Evidence:
        """Return all that a model knows about the rows it was asked about.

        `neighbours` are those found before: the rest is searched for; `test` are rows as given, their labels and ids.
        """
        if parents is not None and not isinstance(parents, Mapping):
            raise ValueError(f"parents must map classes to their parents. Got {type(parents).__name__} instead.")
        answers = known.answers
        texts = None if known.documents is None else as_one_text(rows_of(known.documents, answers.rows))
        X, terms = known.readable_terms(rows_of(known.view.rows, answers.rows))
        test = None if texts is None else test
        return cls(
            answers=answers,
            top_class=known.ensemble.top_class,
            X=X,
            terms=terms,
            cells=_cells(known.preprocessing),
            neighbours=neighbours_of_other_folds(X, answers, neighbours),
            ids=known.ids[answers.rows],
            texts=texts,
            stemmer=stemmer_of(known.view.encoder),
            test_texts=None if test is None else as_one_text(test[0]),
            test_labels=None if test is None else test[1],
            test_ids=None if test is None else test[2],
            unlabelled=unlabelled,
            parents=parents,
        )

    @property
    def probabilities(self) -> Floats:
        """Probabilities of all rows, which may be many (`probabilities_of`)."""
        return self.probabilities_of(np.arange(len(self.answers.rows)))

    def probabilities_of(self, rows: Indices) -> Floats:
        """Return those of some rows. Calibrated, label errors would spread over all rows as if classes were hard."""
        log_p = self.answers.scores.take(rows).dense()
        return np.exp((log_p if self.top_class is None else self.top_class.inverse(log_p)).astype(np.float64))

    @cached_property
    def contingency(self) -> Contingency | None:
        """In how many rows of each class each term occurs (weights may be anything); None without terms."""
        if self.terms is None:
            return None
        present = csr_array(self.X != 0).astype(np.int64)
        return Contingency.from_counts(present, self.answers.y, classes=self.answers.classes, terms=self.terms)

    def terms_between(self, a: Any, b: Any, n: int) -> tuple[list[TermEvidence], list[TermEvidence]]:
        """Return the terms that tell a person what `a` has and `b` lacks, and the other way round; none without terms.

        Each of the two is a class, or a list of classes.
        """
        if self.contingency is None:
            return [], []
        one, other = self.contingency.between(a, b, ASKED * n)
        return telling_terms(one, n), telling_terms(other, n)

    def spell(self, term: Any) -> Any:
        """Return a term as people write it."""
        return spell(term, self._written)

    @cached_property
    def _written(self) -> dict[str, str]:
        if self.texts is None or self.stemmer is None:
            return {}
        return spelling_of(self.texts, self.stemmer)

    @cached_property
    def hierarchy(self) -> Hierarchy:
        """The tree of classes made from the confusion."""
        return Hierarchy.from_confusion(self.answers.confusion)

    def ids_of(self, rows: Indices) -> list[Any]:
        """Return the names of some rows."""
        named: list[Any] = (rows if self.ids is None else self.ids[rows]).tolist()
        return named

    def texts_of(self, rows: Indices) -> list[str | None]:
        """Return the beginnings of some rows' texts; None for each where there are no texts."""
        return [None if self.texts is None else beginning(self.texts[row]) for row in rows.tolist()]


def beginning(text: str) -> str:
    """Return a text short enough for a table.

    >>> len(beginning("word " * 100))
    80
    """
    return cut(text, LONGEST)


def _cells(encoder: Any) -> Flags | None:
    """Return which readable terms come from the numbers and names of a table; None where there is no table."""
    if not isinstance(encoder, TableEncoder):
        return None
    readable = encoder.readable_
    cells = np.zeros(len(readable), dtype=np.bool_)
    for use in encoder.columns_:
        if use.role in ("numeric", "nominal"):
            cells[encoder.blocks_[use.name]] = True
    return np.asarray(cells[readable])
