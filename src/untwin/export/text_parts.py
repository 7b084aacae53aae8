"""What only a model of texts stores: its terms, and their weights."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import Stemmer

from untwin.answer.answerer import TextAnswerer
from untwin.answer.counting import Vocabulary
from untwin.answer.fixed_point import ONE, PackedWeights
from untwin.answer.terms import TermReader
from untwin.export.checks import require_numbers, require_whole, small
from untwin.store.deflated import deflate, inflate
from untwin.store.refusal import damage_error, require

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from untwin.answer.fixed_point import CountedRows

    Counter = Callable[[tuple[Vocabulary, ...]], Callable[[list[str]], CountedRows]]

ANALYZERS = ("word", "char", "char_wb")
LONGEST_RUN = 8  # words or characters of a term
MOST_BLOCKS = 8
LARGEST_IDF = 64 * ONE
MOST_BYTES, MOST_GROWTH = 1 << 24, 100  # of terms: in any case, and times what is stored


def text_parts(answerer: TextAnswerer) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what to store of terms and their weights: parts, and facts."""
    parts, facts = vocabulary_parts(answerer.vocabularies)
    parts |= {"idf": small(answerer.idf), "block_of": small(answerer.block_of), "shares": answerer.shares}
    return {**parts, **weight_parts(answerer.weights)}, facts


def vocabulary_parts(vocabularies: Sequence[Vocabulary]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what to store of terms; their columns are all from 0 on."""
    terms = [term for vocabulary in vocabularies for term in vocabulary.terms]
    spelled = "".join(terms).encode()
    parts: dict[str, Any] = {"terms": deflate(spelled), "lengths": small([len(term) for term in terms])}
    columns = np.concatenate([vocabulary.columns for vocabulary in vocabularies])
    if (columns != np.arange(len(columns))).any():
        parts["columns"] = small(columns)
    readers = [
        [one.reader.analyzer, one.reader.shortest, one.reader.longest, one.reader.stemmer, len(one.terms)]
        for one in vocabularies
    ]
    return parts, {"readers": readers, "bytes_of_terms": len(spelled)}


def weight_parts(packed: PackedWeights) -> dict[str, Any]:
    """Return what to store of the weights of terms."""
    return {"n_weights": small(np.diff(packed.starts)), "classes": small(packed.columns), "weights": packed.weights}


def text_answerer(
    parts: Mapping[str, Any], facts: Mapping[str, Any], shared: dict[str, Any], counter: Counter
) -> TextAnswerer:
    """Return what answers about texts; `shared` are the checked fields of its layers."""
    n_terms, redirect = len(parts["idf"]), shared["redirect"]
    vocabularies = read_vocabularies(parts, facts, n_terms, MOST_BLOCKS)
    n_classes = shared["offset"].shape[1] if redirect is None else redirect.n_classes
    require_numbers(parts["shares"], "shares", (n_classes,))
    return TextAnswerer(
        vocabularies=vocabularies,
        **read_term_weights(parts, n_terms),
        weights=read_weights(parts, n_terms, len(shared["scale"])),
        shares=parts["shares"],
        count_many=counter(vocabularies),
        **shared,
    )


def read_term_weights(parts: Mapping[str, Any], n_terms: int) -> dict[str, Any]:
    """Return what each counted term weighs, and its block, checked."""
    require_whole(parts["idf"], "idf", n_terms, LARGEST_IDF)
    require_whole(parts["block_of"], "block_of", n_terms, 2 * MOST_BLOCKS)
    return {name: parts[name].astype(np.int64) for name in ("idf", "block_of")}


def read_weights(parts: Mapping[str, Any], n_terms: int, n_columns: int) -> PackedWeights:
    """Return the weights of terms, checked."""
    columns, weights = parts["classes"], parts["weights"]
    require_whole(parts["n_weights"], "n_weights", n_terms, n_columns)
    starts = np.concatenate([[0], np.cumsum(parts["n_weights"], dtype=np.int64)])
    require(weights.dtype in (np.int8, np.int16) and weights.shape == (starts[-1],), "weights must be those counted")
    require_whole(columns, "classes", len(weights), n_columns - 1)
    return PackedWeights(starts, columns, weights, n_columns)


def read_vocabularies(
    parts: Mapping[str, Any], facts: Mapping[str, Any], n_columns: int, most: int
) -> tuple[Vocabulary, ...]:
    """Return how texts are read, checked; `most` ways at most."""
    readers, size = facts["readers"], facts["bytes_of_terms"]
    lengths, columns = parts["lengths"], parts.get("columns", np.arange(n_columns))
    require(isinstance(readers, list) and 1 <= len(readers) <= most, "There must be a few readers")
    made = [_reader(*one) for one in readers]
    require_whole(columns, "columns", n_columns, n_columns - 1)
    require(len(np.unique(columns)) == n_columns, "Each column must have one term")
    bounded = type(size) is int and 0 <= size <= MOST_BYTES + MOST_GROWTH * parts["terms"].size
    require(bounded, "Terms must not be many times as large as what is stored")
    require_whole(lengths, "lengths", n_columns, size)
    try:
        text = inflate(parts["terms"], size).decode()
    except UnicodeDecodeError:
        raise damage_error("terms must be UTF-8. Got other bytes instead.") from None
    ends = np.cumsum(lengths, dtype=np.int64)
    require(sum(count for _, count in made) == n_columns, "Readers must have all terms")
    require(n_columns > 0 and int(ends[-1]) == len(text), "lengths must be those of the terms")
    places = [0, *ends.tolist()]
    terms = [text[start:end] for start, end in pairwise(places)]
    bounds = np.cumsum([0, *(count for _, count in made)]).tolist()
    return tuple(
        Vocabulary(reader, terms[start:end], np.asarray(columns[start:end], dtype=np.int64))
        for (reader, _), (start, end) in zip(made, pairwise(bounds), strict=True)
    )


def _reader(analyzer: Any, shortest: Any, longest: Any, stemmer: Any, count: Any) -> tuple[TermReader, int]:
    """Return a reader of a fixed list, none of which costs more than a text is long, and how many terms it has."""
    require(analyzer in ANALYZERS, f"A reader must be one of {', '.join(ANALYZERS)}")
    whole = all(type(number) is int for number in (shortest, longest, count))
    require(whole and 1 <= shortest <= longest <= LONGEST_RUN and count >= 0, "Runs of terms must be short")
    require(stemmer is None or stemmer in Stemmer.algorithms(), "A stemmer must be known")
    return TermReader(analyzer, shortest, longest, stemmer), count
