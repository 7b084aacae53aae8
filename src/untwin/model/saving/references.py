"""What must agree between the objects of a model, by their kinds: of classifiers, of columns, of trees and spaces.

`shapes` says what each instance must be by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from untwin.model.saving.agreement import same
from untwin.model.saving.classifier_references import OF_CLASSIFIERS
from untwin.model.saving.column_references import OF_COLUMNS
from untwin.store.refusal import require
from untwin.structure.linkage import SCIPY_METHODS
from untwin.tables.distances import Metric

if TYPE_CHECKING:
    from collections.abc import Callable


def _check_hierarchy(tree: Any) -> None:
    known = tree.linkage in SCIPY_METHODS and (tree.metric is None or tree.metric in get_args(Metric))
    require(known, "A tree must be grown in a known way")
    confusion = tree.confusion
    fits = confusion is None or same(np.sort(confusion.classes), tree.classes)
    require(fits, "A tree must be of the classes of its confusion")


def _check_sprinkled(space: Any) -> None:
    learnt: Any = getattr(space, "_learnt", None)
    if learnt is None:
        return
    (n, m), waiting = learnt.X.shape, [rows for rows, _ in learnt.waiting]
    U, S, V = learnt.svd
    require(m == space.n_features_in_ == space.components_.shape[1], "A space must be of the terms of its rows")
    late = sum(rows.shape[0] for rows in waiting)
    require(len(learnt.ids) == n + late and int(learnt.is_document.sum()) == n, "Each document must have an id")
    require(U.shape[0] == len(learnt.is_document) and U.shape[1] == V.shape[1] == len(S), "Triples must be triples")
    require(V.shape[0] == m + learnt.F.shape[1], "Triples must be of terms and sprinkled columns")
    require(learnt.k <= len(S) and space._turn.shape[0] <= learnt.k, "A space must be made of its triples")


REFERENCES: dict[str, Callable[[Any], None]] = {
    **OF_CLASSIFIERS,
    **OF_COLUMNS,
    "hierarchy": _check_hierarchy,
    "sprinkled-lsi": _check_sprinkled,
}
