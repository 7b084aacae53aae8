"""Text encoders (ways to count texts): which to try, and which two are best for a linear SVM on held-out rows."""

from __future__ import annotations

from contextlib import suppress
from itertools import combinations
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfTransformer

from untwin import _progress
from untwin.crossfit.outoffold import out_of_fold
from untwin.data.counts import EmptyVocabularyError, TextCounts
from untwin.data.guess import UNSPACED
from untwin.model.features.view import View
from untwin.model.selection.sampling import trial_sample, two_folds
from untwin.model.selection.specs import linear_svm
from untwin.represent.frequent import FrequentTerms

if TYPE_CHECKING:
    from untwin._types import Array, Indices
    from untwin.crossfit.outoffold import OutOfFold


# Beyond so many characters, or characters x classes, character n-grams cost more than everything else together.
MOST_CHARACTERS, MOST_CHARACTER_WORK = 5_000_000, 500_000_000
MANY_TEXTS = 1000  # from here on a pair of words that occurs once is left out
SEEN = 1000  # texts that are examined for their script
MANY_BEYOND_WORDS = 0.1  # share of texts without usable words from which on characters are tried first


def choose_text_views(
    texts: list[str], codes: Indices, parts: Indices | None, *, preset: str, n_jobs: int | None, seed: int
) -> tuple[View, ...]:
    """Return the views of texts, the better one first.

    They are chosen on two folds of a sample. With the fast preset, or if no row can be held out, the first encoder that
    finds any term is taken.
    """
    n_classes = int(codes.max()) + 1
    encoders = text_encoders(texts, n_classes)
    if preset == "fast" or parts is None:
        return (_first_counted(encoders, texts),)
    sample = trial_sample(codes, n_classes, seed)
    folds = two_folds(codes, parts, sample)
    if folds is None:
        return (_first_counted(encoders, texts),)
    said = _said(encoders, [texts[row] for row in sample], codes[sample], folds, n_jobs)
    if len(said) < 2:
        return (_first_counted({name: encoders[name] for name in said} or encoders, texts),)
    return tuple(counted(name, encoders[name], texts) for name in _best_together(encoders, said, codes[sample]))


def counted(name: str, encoder: TextCounts, texts: list[str]) -> View:
    """Return the view of texts made by a fitted clone of this encoder."""
    fitted = clone(encoder)
    return View(name, fitted.fit_transform(texts), fitted, _weighted(fitted))


def weights() -> TfidfTransformer:
    """Return the transformer that weights counted terms: sublinear tf-idf, rows of length one."""
    return TfidfTransformer(sublinear_tf=True)


def _weighted(counts: TextCounts) -> tuple[Any, ...]:
    """Return the preprocessing of a model of counts: drop terms that occur only in held-out rows, then apply tf-idf.

    Texts are counted once for all folds, so held-out rows have terms that no training row has. As the rarest terms they
    would get the largest weights, while in a new text such terms are not counted at all.
    """
    whole = isinstance(counts.min_df, Integral)  # a share of fewer rows would keep more terms
    return FrequentTerms(int(counts.min_df) if whole else 1), weights()


def text_encoders(texts: list[str], n_classes: int) -> dict[str, TextCounts]:
    """Return the encoders to try for these texts by name, the simplest first.

    >>> list(text_encoders(["red bus"], 2))
    ['words', 'stems', 'words and pairs', 'stems and pairs', 'characters']
    >>> list(text_encoders(["緑色の電車"], 2))
    ['characters', 'long runs of characters']
    >>> list(text_encoders(["red bus", "緑色"], 2))
    ['characters', 'words', 'stems', 'words and pairs', 'stems and pairs']
    """
    rare = 2 if len(texts) >= MANY_TEXTS else 1
    seen = pl.Series(texts[:: max(1, len(texts) // SEEN)])
    if _without_spaces(seen):
        runs = {"characters": (1, 2), "long runs of characters": (1, 3)}
        return {name: TextCounts(analyzer="char", ngram_range=run, min_df=rare) for name, run in runs.items()}
    specs = {
        "words": TextCounts(),
        "stems": TextCounts(stemmer="english"),
        "words and pairs": TextCounts(ngram_range=(1, 2), min_df=rare),
        "stems and pairs": TextCounts(stemmer="english", ngram_range=(1, 2), min_df=rare),
    }
    characters = sum(map(len, texts))
    cheap = characters <= MOST_CHARACTERS and characters * n_classes <= MOST_CHARACTER_WORK
    by_characters = TextCounts(analyzer="char_wb", ngram_range=(2, 5) if cheap else (1, 3), min_df=rare)
    if _beyond_words(seen):
        return {"characters": by_characters, **specs}
    return {**specs, "characters": by_characters} if cheap else specs


def _said(
    encoders: dict[str, TextCounts], texts: list[str], y: Array, folds: Indices, n_jobs: int | None
) -> dict[str, OutOfFold]:
    """Return the out-of-fold answers of a linear SVM for each encoder that finds any term."""
    found, n_classes = {}, len(np.unique(y))
    for done, (name, encoder) in enumerate(encoders.items(), start=1):
        with suppress(EmptyVocabularyError):
            view = counted(name, encoder, texts)
            model = view.model(linear_svm(view, n_classes))
            found[name] = out_of_fold(model, view.rows, y, cv=folds, n_jobs=n_jobs)
        _progress.report("encodings", done, len(encoders))
    return found


def _best_together(encoders: dict[str, TextCounts], said: dict[str, OutOfFold], y: Array) -> list[str]:
    """Return the two encoders whose averaged SVMs are most accurate, the one that is better alone first.

    The two must count different n-grams: words and their stems have errors on the same texts, and pairs of words gain
    more on all rows than a sample shows.
    """

    def accuracy(*names: str) -> float:
        asked = said[names[0]].predicted
        scores = np.sum([np.asarray(said[name].scores)[asked] for name in names], axis=0)
        return float((said[names[0]].classes[scores.argmax(axis=1)] == y[asked]).mean())

    def runs(name: str) -> tuple[Any, ...]:
        return encoders[name].analyzer, encoders[name].ngram_range

    pairs = [pair for pair in combinations(said, 2) if runs(pair[0]) != runs(pair[1])]
    if not pairs:
        return [max(said, key=accuracy)]
    return sorted(max(pairs, key=lambda pair: accuracy(*pair)), key=accuracy, reverse=True)


def _first_counted(encoders: dict[str, TextCounts], texts: list[str]) -> View:
    """Return the view of the first encoder that finds any term."""
    *earlier, last = encoders
    for name in earlier:
        with suppress(EmptyVocabularyError):
            return counted(name, encoders[name], texts)
    return counted(last, encoders[last], texts)


def _without_spaces(seen: pl.Series) -> bool:
    """Tell whether most letters belong to scripts without spaces between words."""
    unspaced, letters = (seen.str.count_matches(pattern).sum() for pattern in (UNSPACED, r"\p{Alphabetic}"))
    return bool(2 * unspaced > letters)


def _beyond_words(seen: pl.Series) -> bool:
    """Tell whether many texts have no usable words: their script has no spaces, or they contain no word."""
    seen = seen.filter(seen.str.contains(r"\S"))
    unspaced, letters = (seen.str.count_matches(pattern) for pattern in (UNSPACED, r"\p{Alphabetic}"))
    beyond = (2 * unspaced > letters) | ~seen.str.contains(r"\w\w")
    return bool(beyond.sum() > MANY_BEYOND_WORDS * len(seen))
