"""A few texts as terms, without frames or threads: the terms that `TextCounts` finds in them with Polars.

Both lower-case texts in normal form C and take the same characters for letters of words: those of Unicode's classes
L, M, Nd, Nl and Pc, the two joiners and circled letters, as Rust's regular expressions do. (Those of Python end a word
at a combining mark.) Python may know an older Unicode than Polars: a text with a character that it does not know is not
read here (`is_known`).
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from threading import local
from typing import TYPE_CHECKING

import Stemmer

if TYPE_CHECKING:
    from collections.abc import Iterator

ASCII_WORD = re.compile(r"[a-z0-9_]{2,}")
NO_BLANKS = re.compile(r"[^ ]{2,}")
SPACES = re.compile(r"\s{2,}")
WORD_CLASSES = frozenset({"L", "M"})
MORE_WORD_CLASSES = frozenset({"Nd", "Nl", "Pc"})
JOINERS = frozenset("\u200c\u200d")
CIRCLED = (("Ⓐ", "ⓩ"), ("\U0001f130", "\U0001f149"), ("\U0001f150", "\U0001f169"), ("\U0001f170", "\U0001f189"))

_of_thread = local()  # a stemmer must not be used by two threads at once


@dataclass(frozen=True, slots=True)
class TermReader:
    """How a text becomes terms: words, their stems, or characters, in runs of `shortest` to `longest`.

    >>> TermReader("word", 1, 2, "english").read("red buses")
    ['red', 'buse', 'red buse']
    >>> TermReader("char_wb", 3, 3).read("a bus")
    [' a ', ' bu', 'bus', 'us ']
    """

    analyzer: str
    shortest: int
    longest: int
    stemmer: str | None = None

    def read(self, cleaned: str) -> list[str]:
        """Return the terms of a cleaned text, one for each time that they occur."""
        if self.analyzer == "word":
            words = self.stems(find_words(cleaned))
            return [" ".join(words[first:last]) for first, last in self._runs(len(words))]
        if self.analyzer == "char":
            symbols = SPACES.sub(" ", cleaned)
            return [symbols[first:last] for first, last in self._runs(len(symbols))]
        return [run for word in cleaned.split() for run in self.runs_inside(f" {word} ")]

    def stems(self, words: list[str]) -> list[str]:
        """Return the stems of words; the words themselves if they are not stemmed."""
        return words if self.stemmer is None else _stemmer(self.stemmer).stemWords(words)

    def _runs(self, n_symbols: int) -> Iterator[tuple[int, int]]:
        """Yield where each run begins and ends."""
        for length in range(self.shortest, self.longest + 1):
            yield from ((start, start + length) for start in range(n_symbols - length + 1))

    def runs_inside(self, padded: str) -> list[str]:
        """Return the runs of a padded word; one that is too short counts once, as a whole."""
        if len(padded) < self.shortest:
            return [padded]
        return [padded[first:last] for first, last in self._runs(len(padded))]


def clean(text: str) -> str:
    """Return a text in normal form C and lower case."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFC", text).lower()


def is_known(text: str) -> bool:
    """Tell whether Python knows all characters of a text."""
    return text.isascii() or not any(_is_unassigned(character) for character in set(text))


def find_words(cleaned: str) -> list[str]:
    """Return the words of two characters or more.

    >>> find_words("l'été 2x _a b")
    ['été', '2x', '_a']
    """
    if cleaned.isascii():
        return ASCII_WORD.findall(cleaned)
    return [word for word in _spaced(cleaned).split(" ") if len(word) > 1]


def word_spans(cleaned: str) -> list[tuple[int, int]]:
    """Return where each of these words begins and ends.

    >>> word_spans("l'été 2x _a b")
    [(2, 5), (6, 8), (9, 11)]
    """
    if cleaned.isascii():
        return [found.span() for found in ASCII_WORD.finditer(cleaned)]
    return [found.span() for found in NO_BLANKS.finditer(_spaced(cleaned))]


def _spaced(cleaned: str) -> str:
    """Return a text with a blank for each character that is in no word."""
    return "".join([character if _is_in_words(character) else " " for character in cleaned])


@cache
def _is_in_words(character: str) -> bool:
    kind = unicodedata.category(character)
    if kind[0] in WORD_CLASSES or kind in MORE_WORD_CLASSES or character in JOINERS:
        return True
    return any(first <= character <= last for first, last in CIRCLED)


@cache
def _is_unassigned(character: str) -> bool:
    return unicodedata.category(character) == "Cn"


def _stemmer(language: str) -> Stemmer.Stemmer:
    known: dict[str, Stemmer.Stemmer] = _of_thread.__dict__.setdefault("stemmers", {})
    if language not in known:
        known[language] = Stemmer.Stemmer(language)
    return known[language]
