"""Helpers for `partial_fit`: new columns and new classes."""

from __future__ import annotations

from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings, filterwarnings

import numpy as np
from scipy.sparse import block_diag, csr_array, eye_array, issparse, vstack
from sklearn.utils.validation import validate_data

from untwin._compat import as_dense
from untwin._values import positions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike

    from untwin._types import Array, Indices
    from untwin.structure.plan import SprinklingPlan


@contextmanager
def any_batch() -> Iterator[None]:
    """Suppress scikit-learn's warning about a batch with nearly as many classes as rows."""
    with catch_warnings():
        filterwarnings("ignore", "The number of unique classes is greater than 50%", UserWarning)
        yield


def validate_growth(estimator: Any, X: Any, *y: Any, **checks: Any) -> Any:
    """Check X (and y) as `validate_data` does for a fitted estimator, but let X be wider than before.

    Old columns keep their meaning, so that the names known so far must come first. `n_features_in_` grows.
    """
    seen = copy(estimator)  # a copy, since validate_data writes to it
    checked = validate_data(seen, X, *y, **checks)
    if seen.n_features_in_ <= estimator.n_features_in_:
        validate_data(estimator, X, reset=False, skip_check_array=True)  # scikit-learn's own messages
        return checked
    old, new = (getattr(each, "feature_names_in_", None) for each in (estimator, seen))
    if old is not None and (new is None or not np.array_equal(new[: len(old)], old)):
        raise ValueError(
            f"The columns of a wider X must begin with the {len(old)} names known so far, in their order. "
            f"Got {'no names' if new is None else list(new[: len(old)])} instead."
        )
    estimator.n_features_in_ = seen.n_features_in_
    if old is not None:
        estimator.feature_names_in_ = new
    return checked


def widen_matrix(matrix: Any, width: int) -> Any:
    """Return a matrix with columns of zeros added on the right.

    >>> widen_matrix(csr_array([[1, 2]]), 3).toarray()
    array([[1, 2, 0]])
    """
    sparse: bool = issparse(matrix)
    if sparse:
        rows = csr_array(matrix)
        return csr_array((rows.data, rows.indices, rows.indptr), shape=(rows.shape[0], width))
    return np.pad(matrix, ((0, 0), (0, width - matrix.shape[1])))


def stack_matrices(parts: list[Any]) -> Any:
    """Return the matrices stacked row by row, sparse or dense like the first."""
    sparse: bool = issparse(parts[0])
    if len(parts) == 1:
        return parts[0]
    return csr_array(vstack(parts)) if sparse else np.vstack([as_dense(part) for part in parts])


def places_of(ids: ArrayLike, known: Array) -> Indices:
    """Return the positions of ids among the ascending ids `known`; raise ValueError for an unknown or repeated one.

    >>> places_of([7, 2], np.array([0, 2, 7])).tolist()
    [2, 1]
    """
    wanted = np.atleast_1d(np.asarray(ids))
    found = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    unknown = wanted[known[found] != wanted]
    if unknown.size:
        raise ValueError(f"ids must be numbers of rows in order of arrival, not yet removed. Got {unknown[0]} instead.")
    distinct, counts = np.unique(wanted, return_counts=True)
    if len(distinct) < len(wanted):
        raise ValueError(f"ids must be distinct. Got {distinct[counts > 1][0]} more than once instead.")
    return np.asarray(found)


def merge_classes(known: Array, classes: ArrayLike) -> Array:
    """Return the classes in order of arrival: those known, then the new ones among `classes`.

    >>> merge_classes(np.array(["owl", "cat"]), np.array(["bee", "owl"])).tolist()
    ['owl', 'cat', 'bee']
    """
    given = np.asarray(classes)
    if len(known) and (known.dtype.kind in "biuf") != (given.dtype.kind in "biuf"):
        raise ValueError(f"Labels must be of one kind. Got {given[0]!r} where labels such as {known[0]!r} are known.")
    return np.concatenate([known, given[~np.isin(given, known)]]) if len(known) else given


def move_columns(Y: csr_array, classes: Array, wanted: Array) -> csr_array:
    """Return the membership Y (n x C) of `classes` as columns for all of `wanted`."""
    place = positions(classes, wanted)
    return csr_array((Y.data, place[Y.indices], Y.indptr), shape=(Y.shape[0], len(wanted)))


def join_members(Y: csr_array, classes: Array, new: csr_array, new_classes: Array) -> tuple[csr_array, Array]:
    """Return the membership of old rows and new ones in the classes of both, and these classes, sorted."""
    together = np.sort(merge_classes(classes, new_classes))
    parts = [move_columns(Y, classes, together), move_columns(new, new_classes, together)]
    return stack_matrices(parts), together


def extend_plan(plan: SprinklingPlan, classes: Array) -> SprinklingPlan:
    """Return a plan for these classes; a class new to a bound plan gets the mean of the others' columns."""
    if plan.kernel is None or plan.classes is None:
        return plan.bound(classes)
    new = classes[~np.isin(classes, plan.classes)]
    if not len(new):
        return plan.aligned(classes)
    kernel = block_diag([plan.kernel, eye_array(len(new)) * plan.per_class.mean()], format="csr")
    return replace(plan, kernel=kernel, classes=np.concatenate([plan.classes, new])).aligned(classes)
