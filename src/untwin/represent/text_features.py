"""`TextFeatures`: texts to weighted terms in one step, for a text column of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from untwin._compat import inherited_tags, validating
from untwin.data.text_blocks import TextBlocks
from untwin.represent.term_weights import TermWeights

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from sklearn.utils import Tags

    from untwin._types import Flags


class TextFeatures(TransformerMixin, BaseEstimator):
    """Count texts in several ways (`TextBlocks`) and weight what was counted (`TermWeights`).

    Parameters
    ----------
    encoders : sequence of TextCounts
        The ways to count.

    Attributes
    ----------
    blocks_ : TextBlocks
    weights_ : TermWeights

    Examples
    --------
    >>> from untwin.data.counts import TextCounts
    >>> features = TextFeatures([TextCounts()])
    >>> features.fit_transform(["a red bus", "a bus"]).toarray().round(2)
    array([[0.58, 0.81],
           [1.  , 0.  ]], dtype=float32)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"encoders": ["array-like"]}

    def __init__(self, encoders: Any) -> None:
        self.encoders = encoders

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the terms of the texts `X` and their weights."""
        self.fit_transform(X)
        return self

    @validating
    def fit_transform(self, X: Any, y: Any = None) -> Any:  # type: ignore[override]
        """Learn the terms of the texts `X` and their weights; return the weighted rows."""
        self.blocks_ = TextBlocks(self.encoders)
        counts = self.blocks_.fit_transform(X)
        self.weights_ = TermWeights(block_of=self.blocks_.block_of_)
        return self.weights_.fit(counts).transform(counts)

    def transform(self, X: Any) -> Any:
        """Return the weighted rows of the texts `X`."""
        check_is_fitted(self, "weights_")
        return self.weights_.transform(self.blocks_.transform(X))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the terms."""
        return self.blocks_.get_feature_names_out()

    @property
    def readable_(self) -> Flags:
        """Which terms a person can read."""
        return self.blocks_.readable_

    def __sklearn_tags__(self) -> Tags:
        tags = inherited_tags(super())
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags
