"""Ways to count texts, by what the texts are like.

Stems and pairs of stems say what a text is about; runs of characters inside words forgive spelling, endings and joined
words. Side by side they are better for one linear SVM than any one of them, and than words or pairs of words in their
place. For short texts runs of three are best; for longer ones runs of five, of which a text has fewer. In long texts
characters cost more than all else and add little.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from untwin.data.counts import TextCounts
from untwin.data.guess import UNSPACED

LONGER = 300  # characters of an average text from which on their runs have five instead of three
LONG = 900  # characters of an average text from which on their runs are not counted
HUNDREDS = 100  # classes from which on words of long texts are counted beside their stems
MANY_TEXTS = 1000  # from here on a term that occurs in one text is left out
MOST_WITH_WORDS = 0.9  # share of the texts
SEEN = 1000  # texts that are examined for their script and length


def text_encoders(texts: list[str], n_classes: int) -> dict[str, TextCounts]:
    """Return the ways to count these texts of so many classes, by name.

    >>> list(text_encoders(["red bus"], 2))
    ['stems and pairs', 'characters']
    >>> list(text_encoders(["red bus " * 200], 2))
    ['stems and pairs']
    >>> list(text_encoders(["緑色の電車"], 2))
    ['characters']
    """
    rare = 2 if len(texts) >= MANY_TEXTS else 1
    seen = pl.Series(texts[:: max(1, len(texts) // SEEN)], dtype=pl.String)
    if _without_spaces(seen):
        return {"characters": TextCounts(analyzer="char", ngram_range=(1, 3), min_df=rare, dtype=np.int32)}
    stems = TextCounts(stemmer="english", ngram_range=(1, 2), min_df=rare, dtype=np.int32)
    length = int(seen.str.len_chars().sum()) / len(seen)
    if length >= LONG and _with_words(seen):
        words = {"words": TextCounts(min_df=rare, dtype=np.int32)} if n_classes >= HUNDREDS else {}
        return {"stems and pairs": stems, **words}
    run = 3 if length < LONGER else 5
    characters = TextCounts(analyzer="char_wb", ngram_range=(run, run), min_df=rare, dtype=np.int32)
    return {"stems and pairs": stems, "characters": characters}


def _with_words(seen: pl.Series) -> bool:
    """Tell whether nearly all texts that are not empty hold a word."""
    seen = seen.filter(seen.str.contains(r"\S"))
    return bool(seen.str.contains(r"\w\w").sum() >= MOST_WITH_WORDS * len(seen))


def _without_spaces(seen: pl.Series) -> bool:
    """Tell whether most letters belong to scripts without spaces between words."""
    unspaced, letters = (seen.str.count_matches(pattern).sum() for pattern in (UNSPACED, r"\p{Alphabetic}"))
    return bool(2 * unspaced > letters)
