"""How an encoder of texts reads them, for what answers: vocabularies, and weights of terms in whole numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from untwin.answer.counting import Vocabulary
from untwin.answer.fixed_point import ONE, CountedRows
from untwin.answer.terms import TermReader
from untwin.data.symbols import WORDS_OF_TWO_OR_MORE
from untwin.data.text_blocks import TextBlocks

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from untwin._types import Array
    from untwin.data.counts import TextCounts
    from untwin.represent.term_weights import TermWeights


def vocabularies_of(encoder: Any) -> tuple[Vocabulary, ...] | None:
    """Return how to read a few texts as a fitted encoder does; None if it has options that only it knows."""
    if not isinstance(encoder, TextBlocks) or not all(map(_is_plain, encoder.encoders_)):
        return None
    return tuple(
        Vocabulary(_reader(counts), counts.terms_.to_list(), columns)
        for counts, columns in zip(encoder.encoders_, encoder.columns_, strict=True)
    )


def whole_idf(weights: TermWeights) -> Array:
    """Return inverse document frequencies as whole numbers."""
    return np.asarray(np.rint(weights.idf_.astype(np.float64) * ONE), dtype=np.int64)


def counted_rows(counts: csr_array) -> CountedRows:
    """Return counts of terms as answering takes them."""
    starts, columns, numbers = (part.astype(np.int64) for part in (counts.indptr, counts.indices, counts.data))
    return CountedRows(starts, columns, numbers)


def _reader(counts: TextCounts) -> TermReader:
    return TermReader(counts.analyzer, counts.ngram_range[0], counts.ngram_range[1], counts.stemmer)


def _is_plain(counts: TextCounts) -> bool:
    usual = counts.lowercase and counts.strip_accents is None and counts.stop_words is None and not counts.binary
    return usual and (counts.analyzer != "word" or counts.token_pattern == WORDS_OF_TWO_OR_MORE)
