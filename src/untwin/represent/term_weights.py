"""`TermWeights`: counts of terms to weights, several blocks of terms side by side, each brought to length one.

Glossary
--------
block_of   m     the block of each term: words, characters, ...
df         m     in how many training rows a term is
idf        m     ln((1 + n) / (1 + df)) + 1, as in `TfidfTransformer`; 0 for a term in fewer than `min_df` training rows
weight           (1 + ln count) * idf, divided by the length of the row's block
"""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import TransformerTags
from sklearn.utils.validation import check_is_fitted, validate_data

from untwin._compat import Interval, follow_sparse_interface, inherited_tags, validating

if TYPE_CHECKING:
    from sklearn.utils import Tags

FLOATS = [np.float32, np.float64]


class TermWeights(TransformerMixin, BaseEstimator):
    """Weight counted terms by sublinear tf-idf; each row has length one in every block of terms that it uses.

    Texts are counted once for all folds, so that held-out rows have terms that no training row has. As the rarest ones
    they would get the largest weights, while in a new text they are not counted at all. So a term must be in `min_df`
    *training* rows; columns keep their places.

    Parameters
    ----------
    min_df : int, default=1
        Training rows that a term must be in.
    block_of : (m,) array of int or None, default=None
        The block of each term. None: all terms are one block. Terms beyond its end belong to block 0.

    Attributes
    ----------
    idf_ : (m,) float32 array
    n_features_in_ : int

    Examples
    --------
    >>> counts = csr_array([[1, 0, 2, 1], [3, 1, 0, 1]])
    >>> TermWeights(block_of=[0, 0, 0, 1]).fit_transform(counts).toarray().round(2)
    array([[0.39, 0.  , 0.92, 1.  ],
           [0.83, 0.56, 0.  , 1.  ]], dtype=float32)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "min_df": [Interval(Integral, 1, None, closed="left")],
        "block_of": ["array-like", None],
    }

    def __init__(self, *, min_df: int = 1, block_of: Any = None) -> None:
        self.min_df = min_df
        self.block_of = block_of

    @validating
    def fit(self, X: Any, y: object = None) -> Self:
        """Count in how many rows each term is."""
        rows = csr_array(validate_data(self, X, accept_sparse="csr", ensure_non_negative=True))
        df = np.bincount(rows.indices[rows.data != 0] if rows.nnz else rows.indices, minlength=rows.shape[1])
        idf = np.log((1 + rows.shape[0]) / (1 + df)) + 1
        self.idf_ = np.where(df >= self.min_df, idf, 0).astype(np.float32)
        return self

    def transform(self, X: Any) -> Any:
        """Return the weights of the rows, as CSR in single precision."""
        from untwin._compiled import as_rows
        from untwin.represent.kernels import weigh_counts

        check_is_fitted(self)
        counts = csr_array(validate_data(self, X, accept_sparse="csr", reset=False, ensure_non_negative=True))
        blocks = np.zeros(counts.shape[1], dtype=np.int8)
        if self.block_of is not None:
            blocks[: len(self.block_of)] = self.block_of
        if len(self.idf_) != counts.shape[1] or blocks.min(initial=0) < 0:  # compiled loops would not notice
            raise ValueError("Each term must have one weight and one block. Got others instead.")
        rows = weigh_counts(as_rows(counts), self.idf_, blocks, int(blocks.max(initial=0)) + 1)
        starts = rows[0].astype(counts.indptr.dtype)  # else SciPy would widen all indices
        weights = csr_array((rows[2], rows[1], starts), shape=counts.shape)
        weights.has_sorted_indices = counts.has_sorted_indices
        return follow_sparse_interface(weights)

    def __sklearn_tags__(self) -> Tags:
        tags = inherited_tags(super())
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.transformer_tags = TransformerTags(preserves_dtype=["float32"])
        return tags
