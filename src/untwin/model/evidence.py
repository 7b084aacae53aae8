"""What findings are drawn from, as the model knows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array, issparse

from untwin._compat import rows_of
from untwin._values import freeze
from untwin.classify.knn.classifier import KNNClassifier
from untwin.data.encode import TableEncoder
from untwin.model.features.inputs import as_one_text
from untwin.model.findings.evidence import Evidence
from untwin.model.selection.sampling import stratified_sample

if TYPE_CHECKING:
    from untwin._types import Array, Flags, Floats
    from untwin.model.out_of_fold import OutOfFoldAnswers
    from untwin.model.state import FittedState

NEIGHBOURS = 20  # wrong labels are found better by twenty neighbours than by ten (bench/labels.py)
# Comparing all rows with all takes minutes beyond so many. Then only rows whose label is in doubt, since the model
# answered otherwise, are compared, with a sample of so many; a row without neighbours is believed as the model says.
MANY_ROWS = 50_000


def collect_evidence(
    known: FittedState,
    *,
    neighbours: Array | None = None,
    test: tuple[Any, Array, Array] | None = None,
    unlabelled: Floats | None = None,
    parents: Mapping[Any, object] | None = None,
) -> Evidence:
    """Return all that is known about the rows that were asked about.

    `neighbours` are searched for if None; `test` are rows as given, their labels and ids.
    """
    if parents is not None and not isinstance(parents, Mapping):
        raise ValueError(f"parents must map classes to their parents. Got {type(parents).__name__} instead.")
    answers, view = known.answers, known.explaining_view
    texts = None if known.documents is None else as_one_text(rows_of(known.documents, answers.rows))
    X = known.terms(rows_of(view.rows, answers.rows))
    sparse: bool = issparse(X)
    X = csr_array(X) if sparse else np.asarray(X)
    return Evidence(
        confusion=answers.confusion(known.y),
        y=known.y[answers.rows],
        predictions=answers.predicted,
        # Trust would spread wrong labels over all rows, as if their classes were hard to tell apart.
        probabilities=np.exp(known.ensemble.top_class.inverse(answers.log_p).astype(np.float64)),
        folds=answers.folds,
        X=X,
        terms=view.term_names(known.preprocessing),
        cells=_cells(known.preprocessing, X.shape[1]),
        neighbours=neighbours_of_other_folds(X, answers, known.y[answers.rows]) if neighbours is None else neighbours,
        ids=known.ids[answers.rows],
        texts=texts,
        test_texts=None if test is None or texts is None else as_one_text(test[0]),
        test_labels=None if test is None or texts is None else test[1],
        test_ids=None if test is None or texts is None else test[2],
        unlabelled=unlabelled,
        parents=parents,
    )


def _cells(preprocessing: Any, n_terms: int) -> Flags | None:
    """Return which terms come from the numbers and names of a table; None where there is no table."""
    encoder = None if preprocessing is None else preprocessing[-1]
    if not isinstance(encoder, TableEncoder):
        return None
    cells = np.zeros(n_terms, dtype=np.bool_)
    for use in encoder.columns_:
        if use.role in ("numeric", "nominal"):
            cells[encoder.blocks_[use.name]] = True
    return cells


def neighbours_of_other_folds(X: Any, answers: OutOfFoldAnswers, y: Array) -> Array:
    """Return for each row the nearest rows of other folds by their terms; -1 where nobody was asked."""
    n = len(answers.rows)
    in_doubt, searched = answers.held, np.arange(n)
    if n > MANY_ROWS:
        in_doubt = in_doubt & (answers.predicted != y)
        searched = stratified_sample(np.unique(y, return_inverse=True)[1], MANY_ROWS, 0)
    found = np.full((n, NEIGHBOURS), -1, dtype=np.int32)  # they are saved: half the bytes of numbers of rows
    for fold in np.unique(answers.folds[in_doubt]):
        asked, others = np.flatnonzero(in_doubt & (answers.folds == fold)), searched[answers.folds[searched] != fold]
        reach = min(NEIGHBOURS, len(others))
        if not reach:
            continue
        knn = KNNClassifier(n_neighbors=reach).fit(X[others], np.zeros(len(others), dtype=np.intp))
        found[asked, :reach] = others[knn.kneighbors(X[asked])[1]]
    return freeze(found)
