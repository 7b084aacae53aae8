"""`TextBlocks`: texts counted in several ways, side by side in one matrix: words, characters.

Glossary
--------
block       the terms of one way to count; single words and runs of words are blocks of their own, since each block is
            brought to length one, and there are more runs than words
columns_    for each block the columns of its terms: next to each other after `fit`; terms that are learnt later come
            after all columns so far, so that old columns keep their places
block_of_   m   the block of each column
"""

from __future__ import annotations

from contextlib import suppress
from copy import copy
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_array, hstack
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from untwin._compat import inherited_tags, validating
from untwin.data.counts import EmptyVocabularyError
from untwin.data.symbols import BETWEEN_SPACES, WORDS_OF_TWO_OR_MORE, Words
from untwin.data.texts import cleaner, text_blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sklearn.utils import Tags

    from untwin._types import Array, Flags
    from untwin.data.counts import TextCounts
    from untwin.data.symbols import Symbols


class TextBlocks(BaseEstimator):
    """Count texts in several ways at once.

    Parameters
    ----------
    encoders : sequence of TextCounts
        The ways to count. One that finds no term in the texts of `fit` is left out.

    Attributes
    ----------
    encoders_ : list of TextCounts
        Those that found terms.
    columns_ : list of arrays
        The columns of the terms of each encoder.
    block_of_ : (m,) int8 array
        The block of each column.

    Examples
    --------
    >>> from untwin.data.counts import TextCounts
    >>> blocks = TextBlocks([TextCounts(), TextCounts(analyzer="char_wb", ngram_range=(3, 3))])
    >>> blocks.fit_transform(["a cat", "cats"]).toarray().tolist()
    [[1, 0, 1, 1, 1, 0, 1, 0], [0, 1, 0, 1, 0, 1, 1, 1]]
    >>> blocks.get_feature_names_out().tolist(), blocks.readable_.tolist()[:3]
    (['cat', 'cats', ' a ', ' ca', 'at ', 'ats', 'cat', 'ts '], [True, True, False])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"encoders": ["array-like"]}

    def __init__(self, encoders: Any) -> None:
        self.encoders = encoders

    @classmethod
    def of(cls, encoders: list[TextCounts], columns: list[Array]) -> TextBlocks:
        """Return blocks that count the terms of these encoders, in these columns."""
        blocks = cls(encoders)
        blocks.encoders_ = encoders
        blocks._place(columns)
        return blocks

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the terms of the texts `X`."""
        self.fit_transform(X)
        return self

    @validating
    def fit_transform(self, X: Any, y: Any = None) -> csr_array:
        """Learn the terms of the texts `X` and return their counts."""
        self.encoders_, parts = [], []
        for encoder in map(clone, self.encoders):
            with suppress(EmptyVocabularyError):
                parts.append(csr_array(encoder.fit_transform(X)))
                self.encoders_.append(encoder)
        if not parts:
            raise EmptyVocabularyError("Empty vocabulary: the texts hold nothing that would be counted.")
        ends = np.cumsum([0, *(part.shape[1] for part in parts)])
        self._place([np.arange(*pair) for pair in pairwise(ends)])
        return csr_array(hstack(parts, format="csr"))

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn the new terms of more texts; old columns stay, new ones follow."""
        if not hasattr(self, "encoders_"):
            return self.fit(X)
        self.encoders_ = [copy(encoder).partial_fit(X) for encoder in self.encoders_]
        width, columns = len(self.block_of_), []
        for encoder, known in zip(self.encoders_, self.columns_, strict=True):
            n_new = len(encoder.terms_) - len(known)
            columns.append(np.concatenate([known, np.arange(width, width + n_new)]))
            width += n_new
        self._place(columns)
        return self

    def transform(self, X: Any) -> csr_array:
        """Return the counts of the known terms in the texts `X`."""
        check_is_fitted(self, "encoders_")
        counts = csr_array(hstack(_look_up_all(self.encoders_, X), format="csr"))
        places = np.concatenate(self.columns_)
        if (places[:-1] > places[1:]).any():
            counts = csr_array((counts.data, places[counts.indices], counts.indptr), shape=counts.shape)
            counts.sort_indices()
        return counts

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the terms, column by column."""
        check_is_fitted(self, "encoders_")
        names = np.empty(len(self.block_of_), dtype=object)
        for encoder, columns in zip(self.encoders_, self.columns_, strict=True):
            names[columns] = encoder.get_feature_names_out()
        return names

    @property
    def readable_(self) -> Flags:
        """Which columns a person can read: words; where only characters are counted, all."""
        readable = np.zeros(len(self.block_of_), dtype=np.bool_)
        for encoder, places in zip(self.encoders_, self.columns_, strict=True):
            readable[places] = encoder.analyzer == "word"
        return readable if readable.any() else ~readable

    def _place(self, columns: list[Array]) -> None:
        self.columns_ = columns
        self.block_of_ = np.empty(sum(map(len, columns)), dtype=np.int8)
        for number, (encoder, places) in enumerate(zip(self.encoders_, columns, strict=True)):
            self.block_of_[places] = 2 * number + _is_run(encoder)

    def __sklearn_tags__(self) -> Tags:
        tags = inherited_tags(super())
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


def _look_up_all(encoders: list[TextCounts], texts: Any) -> list[Any]:
    """Return what each encoder counts; texts are cleaned and cut at spaces once for all that can share this."""
    sharing = [_shares_tokens(encoder) for encoder in encoders]
    if sum(sharing) < 2:
        return [encoder.transform(texts) for encoder in encoders]
    tokens = Words(BETWEEN_SPACES).read(text_blocks(texts), cleaner(lowercase=True, strip_accents=None))
    return [
        encoder.look_up(_symbols(encoder, tokens)) if shares else encoder.transform(texts)
        for encoder, shares in zip(encoders, sharing, strict=True)
    ]


def _shares_tokens(encoder: TextCounts) -> bool:
    """Tell whether an encoder finds nothing that goes on after a space, in texts that are cleaned as usual."""
    inside = encoder.analyzer == "word" and encoder.token_pattern == WORDS_OF_TWO_OR_MORE
    return encoder.lowercase and encoder.strip_accents is None and (inside or encoder.analyzer == "char_wb")


def _symbols(encoder: TextCounts, tokens: Symbols) -> Symbols:
    reader = encoder.reader
    return reader.read_tokens(tokens) if encoder.analyzer == "word" and isinstance(reader, Words) else tokens


def _is_run(encoder: TextCounts) -> Flags:
    """Tell which terms of an encoder are several words."""
    runs = encoder.terms_.str.contains(" ", literal=True).to_numpy()
    return np.asarray(runs & (encoder.analyzer == "word" and encoder.ngram_range != (1, 1)))
