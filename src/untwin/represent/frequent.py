"""`FrequentTerms`: drop the terms that are rare in the training rows."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from untwin._compat import Interval, follow_sparse_interface, inherited_tags, validating

if TYPE_CHECKING:
    from sklearn.utils import Tags


class FrequentTerms(TransformerMixin, BaseEstimator):
    """Set the columns of terms that occur in fewer than `min_df` training rows to zero.

    Texts are counted once for all folds. A term in one training row and one held-out row is frequent enough there, but
    a term of a new text must be in two *training* rows. Without this step, held-out rows would be classified by words
    that new texts cannot use. Columns keep their positions.

    Parameters
    ----------
    min_df : int, default=2
        Training rows that a term must be in.

    Attributes
    ----------
    kept_ : (m,) array of bool
        Which columns have terms that are frequent enough.

    Examples
    --------
    >>> counts = csr_array([[1, 0, 2], [3, 1, 0]])
    >>> FrequentTerms().fit_transform(counts).toarray().tolist()
    [[1, 0, 0], [3, 0, 0]]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"min_df": [Interval(Integral, 1, None, closed="left")]}

    def __init__(self, min_df: int = 2) -> None:
        self.min_df = min_df

    @validating
    def fit(self, X: Any, y: object = None) -> Self:
        """Count in how many rows each term is."""
        rows = csr_array(validate_data(self, X, accept_sparse="csr"))
        self.kept_ = np.bincount(rows.indices[rows.data != 0], minlength=rows.shape[1]) >= self.min_df
        return self

    def transform(self, X: Any) -> Any:
        """Return the rows without their rare terms."""
        check_is_fitted(self)
        rows = csr_array(validate_data(self, X, accept_sparse="csr", reset=False))
        kept = self.kept_[rows.indices]
        if not kept.all():
            rows = csr_array((np.where(kept, rows.data, 0), rows.indices.copy(), rows.indptr.copy()), shape=rows.shape)
            rows.eliminate_zeros()
        return follow_sparse_interface(rows)

    def __sklearn_tags__(self) -> Tags:
        """Take sparse rows."""
        tags = inherited_tags(super())
        tags.input_tags.sparse = True
        return tags
