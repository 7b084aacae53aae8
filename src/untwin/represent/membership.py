"""Membership of documents in classes as one matrix, from labels in any of three forms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.utils import check_array, column_or_1d

from untwin._compat import require_classes
from untwin._labels import label_array
from untwin._values import class_names
from untwin.tables._input import membership as members_of_classes

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from untwin._types import Array


def membership(y: Any, columns: ArrayLike | None = None) -> tuple[csr_array, Array]:
    """Return Y (n x C, sparse) and the classes of its columns.

    One-dimensional `y` holds labels. With several columns it is a table of ones and zeros (several labels a row) or of
    probabilities (soft labels), and `columns` names the classes; without names they are 0, 1, 2, ...

    >>> Y, classes = membership(["cat", "owl", "cat"])
    >>> Y.toarray(), classes.tolist()
    (array([[1., 0.], [0., 1.], [1., 0.]]), ['cat', 'owl'])
    >>> membership([[0.25, 0.75], [1, 0]], ["cat", "owl"])[0].toarray()
    array([[0.25, 0.75], [1. , 0. ]])
    """
    if issparse(y):
        return _table(y, columns)
    given = label_array(y)
    if given.ndim == 2 and given.shape[1] > 1:
        return _table(given, columns)
    labels = column_or_1d(given, warn=True)
    require_classes(labels)
    members, classes = members_of_classes(labels, None)
    return members.astype(np.float64), classes


def _table(y: Any, columns: ArrayLike | None) -> tuple[csr_array, Array]:
    Y = csr_array(check_array(y, accept_sparse="csr", dtype=np.float64, input_name="y"))
    Y.eliminate_zeros()
    if Y.nnz and Y.data.min() < 0:
        raise ValueError(f"A y with several columns must hold no negative numbers. Got {Y.data.min()} instead.")
    classes = np.arange(Y.shape[1]) if columns is None else class_names(columns)
    if Y.shape[1] != len(classes):
        raise ValueError(
            f"A y with several columns must have one for each of the plan's {len(classes)} classes, in the order of "
            f"plan.classes. Got {Y.shape[1]} columns instead."
        )
    return Y, classes
