"""The only door to private or version-dependent names of other libraries, with the types they lack."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar
from warnings import catch_warnings, filterwarnings

import numpy as np
from joblib import effective_n_jobs, parallel_config
from scipy.sparse import issparse
from sklearn.base import _fit_context
from sklearn.utils import Tags
from sklearn.utils import _safe_indexing as rows_of
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils._sparse import _align_api_if_sparse as follow_sparse_interface
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import _check_sample_weight as checked_sample_weight

from untwin._labels import require_distinct

__all__ = [
    "Interval",
    "StrOptions",
    "as_dense",
    "checked_sample_weight",
    "follow_sparse_interface",
    "if_estimator_has",
    "inherited_tags",
    "is_sparse",
    "many_classes",
    "matrix_product",
    "number_of_threads",
    "require_classes",
    "rows_of",
    "validating",
]

Method = TypeVar("Method", bound=Callable[..., Any])


def validating(method: Method) -> Method:
    """Decorate a `fit` so that the constructor's parameters are checked against `_parameter_constraints` first.

    Labels are checked too, as they are given: an array would make one of those that it cannot tell apart.
    """

    @wraps(method)
    def with_labels(self: Any, *given: Any, **named: Any) -> Any:
        require_distinct(named.get("y", given[1] if len(given) > 1 else None))
        return method(self, *given, **named)

    checked: Method = _fit_context(prefer_skip_nested_validation=True)(with_labels)
    return checked


def inherited_tags(parent: Any) -> Tags:
    """Return the tags of `super()`, typed."""
    tags: Tags = parent.__sklearn_tags__()
    return tags


def if_estimator_has(name: str) -> Callable[[Method], Method]:
    """Decorate a method of a meta-estimator that exists only where the wrapped `estimator` has `name`."""

    def wrapped_has_it(self: Any) -> bool:
        return hasattr(getattr(self, "estimator_", self.estimator), name)

    decorate: Callable[[Method], Method] = available_if(wrapped_has_it)
    return decorate


@contextmanager
def many_classes() -> Iterator[None]:
    """Keep scikit-learn from warning that more classes than half of the rows may be a regression: tails are long."""
    with catch_warnings():
        filterwarnings("ignore", message="The number of unique classes is greater than", category=UserWarning)
        yield


def require_classes(y: Any) -> None:
    """Refuse what does not name classes, as `check_classification_targets` does, without its warning.

    Nor are warnings filtered here, which would not be safe in threads.
    """
    kind = type_of_target(y, input_name="y")
    if not kind.startswith(("binary", "multiclass", "multilabel")):
        raise ValueError(
            f"Unknown label type: {kind}. Maybe you are trying to fit a classifier, which expects discrete classes, on "
            "a regression target with continuous values."
        )


def is_sparse(X: Any) -> bool:
    """Tell whether X is sparse, as `issparse` does, but to a type checker nothing about X."""
    return bool(issparse(X))


def as_dense(X: Any) -> Any:
    """Return a sparse matrix as an array, anything else as it is."""
    return X.toarray() if is_sparse(X) else X


def matrix_product(A: Any, B: Any) -> Any:
    """Return A @ B of finite numbers; BLAS may flag what lies behind them in its buffers, which means nothing."""
    with np.errstate(invalid="ignore"):
        return A @ B


def number_of_threads(n_jobs: int | None) -> int:
    """Return how many threads `n_jobs` asks for; processes, which a worker of a pool may not start, play no part."""
    with parallel_config(backend="threading"):
        return int(effective_n_jobs(n_jobs))
