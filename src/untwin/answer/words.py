"""The words of a text as written, and which of them each counted term came from.

Glossary
--------
word         a run of two letters or digits or more, with the signs around it; a run of other signs between blanks is a
             word of its own. Words with the same stem are one word, spelled as where it is first
occurrence   a term at one place of the text; a stem lies in one word, a pair of stems in two, a run of characters in
             the word that holds its middle
part         what an occurrence gives to one word: all of it, or half of a pair
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from untwin.answer.fixed_point import CountedRows
from untwin.answer.terms import SPACES, clean, word_spans

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from untwin._types import Array, Floats, Indices
    from untwin.answer.terms import TermReader

    Lookup = tuple[TermReader, Mapping[str, int]]

NO_SPACE = re.compile(r"\S+")


class Occurrences(NamedTuple):
    """Occurrences of the terms of one reader: columns (-1: unknown), and their parts."""

    columns: Indices
    occurrence: Indices
    place: Indices  # of the word, among all words of the text in their order
    share: Floats


class LaidOut(NamedTuple):
    """A cleaned text as words: those of letters, in their order, then other signs; where each begins with its signs.

    `order` sorts all of them by their place; `place` is the place of each.
    """

    cleaned: str
    spans: list[tuple[int, int]]
    n_words: int
    starts: Indices
    order: Indices
    place: Indices

    def names(self) -> list[str]:
        """Return all words."""
        return [self.cleaned[first:last] for first, last in self.spans]


class ReadText(NamedTuple):
    """A text that has been read: counts of its known terms, and the words that they came from.

    `words` are spelled as in the text. A part says which entry of the counts gives which share of itself to which word.
    """

    rows: CountedRows
    words: list[str]
    entry: Indices
    word: Indices
    share: Floats

    def sum_by_word(self, contributions: Floats) -> Floats:
        """Return what each word contributes, by what the entries of the counts do."""
        each = contributions[self.entry] * self.share
        return np.asarray(np.bincount(self.word, weights=each, minlength=len(self.words)), dtype=np.float64)

    def spell(self, entry: int) -> str:
        """Return a term as it is written: the words that it came from, at the first place where it is."""
        here = np.flatnonzero(self.entry == entry)
        n_words = max(1, len(here) // int(self.rows.counts[entry]))
        step = len(here) // n_words
        return " ".join(self.words[self.word[here[k * step]]] for k in range(n_words))


def read_text(text: str, lookups: Sequence[Lookup]) -> ReadText:
    """Read a text: its counts are those that `TextAnswerer` answers about.

    In a script without blanks between words, where characters alone are counted, each term is a word of its own.
    """
    if all(reader.analyzer == "char" for reader, _ in lookups):
        return _read_terms(text, lookups)
    laid = _lay_out(clean(text))
    names = laid.names()
    stems = {one.stemmer: one.stems(names[: laid.n_words]) for one, _ in lookups if one.analyzer == "word"}
    found = [_occurrences(reader, column_of, laid, stems.get(reader.stemmer, [])) for reader, column_of in lookups]
    keys = next((stems[name] for name in stems if name is not None), names[: laid.n_words])
    return _count(found, *_same_words(text, laid, keys + names[laid.n_words :]))


def _read_terms(text: str, lookups: Sequence[Lookup]) -> ReadText:
    pairs = [(column_of.get(term, -1), term) for reader, column_of in lookups for term in reader.read(clean(text))]
    columns = np.array([column for column, _ in pairs], dtype=np.int64)
    known = np.flatnonzero(columns >= 0)
    terms, first, counts = np.unique(columns[known], return_index=True, return_counts=True)
    each = np.arange(len(terms))
    words = [pairs[place][1] for place in known[first].tolist()]
    return ReadText(CountedRows(np.array([0, len(terms)]), terms, counts), words, each, each, np.ones(len(terms)))


def _lay_out(cleaned: str) -> LaidOut:
    spans, chunks = word_spans(cleaned), [found.span() for found in NO_SPACE.finditer(cleaned)]
    first = np.array([start for start, _ in spans], dtype=np.intp)
    chunk_starts = np.array([start for start, _ in chunks], dtype=np.intp)
    chunk_of = np.searchsorted(chunk_starts, first, side="right") - 1
    leads = np.diff(chunk_of, prepend=-1) > 0  # spans that are the first of their chunk
    mute = np.flatnonzero(np.bincount(chunk_of, minlength=len(chunks)) == 0)
    starts = np.concatenate([np.where(leads, chunk_starts[chunk_of], first), chunk_starts[mute]])
    order = np.argsort(starts, kind="stable")
    place = np.empty(len(order), dtype=np.intp)
    place[order] = np.arange(len(order))
    return LaidOut(cleaned, spans + [chunks[one] for one in mute.tolist()], len(spans), starts[order], order, place)


def _same_words(text: str, laid: LaidOut, keys: list[str]) -> tuple[Indices, list[str]]:
    """Return the word at each place, and how each word is first spelled; words with the same key are one."""
    written = text if len(text) == len(laid.cleaned) else laid.cleaned
    number: dict[str, int] = {}
    words = list[str]()
    word_of = np.empty(len(keys), dtype=np.intp)
    for one, key in enumerate(keys):
        word = number.setdefault(key, len(words))
        if word == len(words):
            words.append(written[slice(*laid.spans[one])])
        word_of[one] = word
    return word_of[laid.order], words


def _occurrences(reader: TermReader, column_of: Mapping[str, int], laid: LaidOut, stems: list[str]) -> Occurrences:
    if reader.analyzer == "word":
        terms, parts = _runs_of_words(reader, laid, stems)
    else:
        terms, middles = _characters(reader, laid.cleaned)
        places = np.maximum(np.searchsorted(laid.starts, np.array(middles, dtype=np.intp), side="right") - 1, 0)
        parts = np.arange(len(terms)), places, np.ones(len(terms))
    look_up = column_of.get
    return Occurrences(np.array([look_up(term, -1) for term in terms], dtype=np.int64), *parts)


def _runs_of_words(
    reader: TermReader, laid: LaidOut, words: list[str]
) -> tuple[list[str], tuple[Indices, Indices, Floats]]:
    place = laid.place[: laid.n_words]
    terms: list[str] = []
    numbers: list[Array] = []
    places: list[Array] = []
    shares: list[Array] = []
    for length in range(reader.shortest, reader.longest + 1):
        n_runs = max(len(words) - length + 1, 0)
        for k in range(length):
            numbers.append(len(terms) + np.arange(n_runs))
            places.append(place[k : k + n_runs])
            shares.append(np.full(n_runs, 1 / length))
        terms += words if length == 1 else [" ".join(words[first : first + length]) for first in range(n_runs)]
    return terms, (np.concatenate(numbers), np.concatenate(places), np.concatenate(shares))


def _characters(reader: TermReader, cleaned: str) -> tuple[list[str], list[int]]:
    """Return runs of characters, and where the middle of each is."""
    terms, middles = list[str](), list[int]()
    if reader.analyzer == "char":
        gaps = SPACES.finditer(cleaned)
        left_out = {place for gap in gaps for place in range(gap.start() + 1, gap.end())}
        kept = [place for place in range(len(cleaned)) if place not in left_out]
        for length in range(reader.shortest, reader.longest + 1):
            middles += kept[length // 2 : length // 2 + max(len(kept) - length + 1, 0)]
        return reader.read(cleaned), middles
    for chunk in NO_SPACE.finditer(cleaned):
        padded, first, last = f" {chunk.group()} ", chunk.start(), chunk.end() - 1
        runs = reader.runs_inside(padded)
        terms += runs
        if len(padded) < reader.shortest:
            middles.append(first)
            continue
        for length in range(reader.shortest, reader.longest + 1):
            begin = first - 1 + length // 2
            middles += range(begin, begin + max(len(padded) - length + 1, 0))
        if reader.shortest < 3:  # else the middle of a run is never one of the blanks around
            middles[-len(runs) :] = [min(max(place, first), last) for place in middles[-len(runs) :]]
    return terms, middles


def _count(found: list[Occurrences], word_of_place: Indices, words: list[str]) -> ReadText:
    """Return the counts of all readers, and the parts of their entries."""
    before = np.cumsum([0, *(len(one.columns) for one in found)])
    columns = np.concatenate([one.columns for one in found])
    occurrence = np.concatenate([one.occurrence + first for one, first in zip(found, before[:-1], strict=True)])
    place, share = (np.concatenate([getattr(one, name) for one in found]) for name in ("place", "share"))
    known = columns[occurrence] >= 0
    terms, entry_of, counts = np.unique(columns[columns >= 0], return_inverse=True, return_counts=True)
    entries = np.full(len(columns), -1, dtype=np.intp)
    entries[columns >= 0] = entry_of
    entry = entries[occurrence[known]]
    rows = CountedRows(np.array([0, len(terms)]), terms, counts)
    return ReadText(rows, words, entry, word_of_place[place[known]], share[known] / counts[entry])
