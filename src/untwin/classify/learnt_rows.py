"""The rows that a model was trained on, kept so that `partial_fit` trains only what new rows concern."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.utils import column_or_1d

from untwin._compat import require_classes
from untwin.represent.incremental import merge_classes, stack_matrices, validate_growth, widen_matrix

if TYPE_CHECKING:
    from untwin._types import Array


class LearntRows(NamedTuple):
    """Rows X (n x m) and their labels y, in order of arrival: a reference to what `fit` was given, not a copy."""

    X: Any
    y: Array


def with_learnt_rows(model: Any, X: Any, y: Any, **checks: Any) -> LearntRows:
    """Return the rows that `model` has learnt, with a batch below: X may be wider, y may hold new labels.

    The batch is checked as `validate_data` does with `checks`; the model's `n_features_in_` grows.
    """
    known: LearntRows | None = getattr(model, "learnt_rows_", None)
    if known is None:
        raise ValueError(
            "partial_fit needs the rows that the model has learnt. Got none instead (a saved model has none); set "
            "learnt_rows_ = LearntRows(X, y), or call fit."
        )
    y = column_or_1d(y, warn=True)
    require_classes(y)
    merge_classes(model.classes_, y)  # refuses labels of another kind, before the model is made wider
    X, y = validate_growth(model, X, y, **checks)
    return LearntRows(stack_matrices([widen_matrix(known.X, X.shape[1]), X]), np.concatenate([known.y, y]))
