"""Stems as words: `deliveri` is counted, `delivery` is what people write."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import Stemmer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MOST_TEXTS = 2_000
LONGEST = 1_000  # characters of a text that are read
WORD = re.compile(r"\b\w\w+\b")


def spelling_of(texts: Sequence[str], stemmer: str) -> dict[str, str]:
    """Return for each stem in a sample of the texts the word that it most often stands for.

    >>> spelling_of(["two deliveries", "a delivery", "delivery man"], "english")["deliveri"]
    'delivery'
    """
    return _spelling_of_sample(tuple(texts[:: max(1, len(texts) // MOST_TEXTS)]), stemmer)


@lru_cache(maxsize=2)  # a correction changes no text
def _spelling_of_sample(texts: tuple[str, ...], stemmer: str) -> dict[str, str]:
    words: Counter[str] = Counter()
    for text in texts:
        words.update(WORD.findall(text[:LONGEST].lower()))
    written: dict[str, str] = {}
    by_use = [word for word, _ in sorted(words.items(), key=lambda item: (-item[1], item[0]))]
    for word, stem in zip(by_use, Stemmer.Stemmer(stemmer, 0).stemWords(by_use), strict=True):
        written.setdefault(stem, word)
    return written


def spell(term: Any, written: Mapping[str, str]) -> Any:
    """Return a term with its stems as words; what is no text stays as it is.

    >>> spell("deliveri time", {"deliveri": "delivery"})
    'delivery time'
    """
    return " ".join(written.get(word, word) for word in term.split(" ")) if isinstance(term, str) else term


def stemmer_of(encoder: Any) -> str | None:
    """Return the language whose stems an encoder of texts counts; None if it counts no stems."""
    parts = getattr(encoder, "encoders_", [encoder])
    return next((part.stemmer for part in parts if getattr(part, "stemmer", None) is not None), None)
