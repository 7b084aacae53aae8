"""Ways to turn what a user has into rows of numbers: views, chosen out of fold by a fast linear SVM."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.pipeline import make_pipeline

from untwin import _progress
from untwin.crossfit.outoffold import out_of_fold_confusion
from untwin.data.counts import TextCounts
from untwin.data.encode import TableEncoder
from untwin.data.guess import UNSPACED
from untwin.model.recipes import fast_svm
from untwin.model.sampling import trial_rows
from untwin.model.view import View
from untwin.represent.frequent import FrequentTerms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]
    Indices = NDArray[np.intp]

# In texts of more, and where characters x classes are more, character n-grams cost more than all else together.
MOST_CHARACTERS, MOST_CHARACTER_WORK = 5_000_000, 500_000_000
MANY_TEXTS = 1000  # from here on a pair of words that occurs once is left out
SEEN = 1000  # texts that are looked at to know the script
REGULARISATION = (1.0, 0.3, 3.0, 10.0)  # C of the linear SVM; the first wins if nothing is better


def given_view(given: Any, kind: str, encoder: Any) -> View | None:
    """Return the only view there is, where nothing is left to choose; None for texts without an encoder."""
    if encoder is None and kind == "texts":
        return None
    if isinstance(encoder, TextCounts):
        fitted = clone(encoder)
        return View("given encoder", fitted.fit_transform(given), fitted, weighted(fitted))
    if encoder is not None:
        return View("given encoder", given, None, (encoder,))
    if kind == "frame":
        counts = make_pipeline(TextCounts(), weights())
        return View("columns", given, None, (TableEncoder(counts=counts),))
    return View("matrix", given)


def weights() -> TfidfTransformer:
    """Return the weights of counted terms: sublinear tf-idf, rows of length one."""
    return TfidfTransformer(sublinear_tf=True)


def weighted(counts: TextCounts) -> tuple[Any, ...]:
    """Return what stands in front of a model of counted terms: rare ones go again in each fold, others get weights."""
    whole = isinstance(counts.min_df, Integral) and counts.min_df > 1  # a share of fewer rows would keep more terms
    return (FrequentTerms(int(counts.min_df)), weights()) if whole else (weights(),)


def text_encoders(texts: list[str], n_classes: int) -> dict[str, TextCounts]:
    """Return what to try for these texts, the simplest first.

    >>> list(text_encoders(["red bus"], 2))
    ['words', 'stems', 'words and pairs', 'stems and pairs', 'characters']
    >>> list(text_encoders(["緑色の電車"], 2))
    ['characters', 'long runs of characters']
    """
    rare = 2 if len(texts) >= MANY_TEXTS else 1
    if _without_spaces(texts):
        runs = {"characters": (1, 2), "long runs of characters": (1, 3)}
        return {name: TextCounts(analyzer="char", ngram_range=run, min_df=rare) for name, run in runs.items()}
    tried = {
        "words": TextCounts(),
        "stems": TextCounts(stemmer="english"),
        "words and pairs": TextCounts(ngram_range=(1, 2), min_df=rare),
        "stems and pairs": TextCounts(stemmer="english", ngram_range=(1, 2), min_df=rare),
    }
    if (characters := sum(map(len, texts))) <= MOST_CHARACTERS and characters * n_classes <= MOST_CHARACTER_WORK:
        tried["characters"] = TextCounts(analyzer="char_wb", ngram_range=(2, 5), min_df=rare)
    return tried


def settled_views(
    given: Any, codes: Indices, parts: Indices | None, *, kind: str, encoder: Any, preset: str, seed: int
) -> tuple[tuple[View, ...], float]:
    """Return the views of the training rows, the best one first, and the C that suits a linear SVM there.

    Both are chosen on a sample, two folds of it; the fast preset, and rows that cannot be held out, choose nothing.
    """
    n_classes = int(codes.max()) + 1
    thorough = preset != "fast" and parts is not None
    only = given_view(given, kind, encoder)
    if not thorough or parts is None:
        return (only or _counted(*next(iter(text_encoders(given, n_classes).items())), given),), 1.0
    sample = trial_rows(codes, n_classes, seed)
    folds = np.where(parts < 2, parts, -1)[sample]
    views = (only,) if only is not None else tuple(_text_views(given, sample, codes[sample], folds))
    return views, _chosen_regularisation(views[0].without(sample), codes[sample], folds)


def _text_views(texts: list[str], sample: Indices, y: Array, folds: Indices) -> list[View]:
    """Count the texts in the way that serves a linear SVM best, and in the best way that counts something else.

    Words and characters err on different rows: a second opinion that is worth averaging.
    """
    encoders = text_encoders(texts, len(np.unique(y)))
    best, *others = _ranked(encoders, [texts[row] for row in sample], y, folds)
    second = [name for name in others if encoders[name].analyzer != encoders[best].analyzer][:1]
    return [_counted(name, encoders[name], texts) for name in (best, *second)]


def _chosen_regularisation(view: View, y: Array, folds: Indices) -> float:
    """Return the C at which the fast linear SVM does best on held-out rows."""

    def accuracy(C: float) -> float:
        model = view.model(fast_svm(len(np.unique(y)), C, unit_rows=view.unit_rows))
        return out_of_fold_confusion(model, view.rows, y, cv=folds).accuracy

    return max(REGULARISATION, key=accuracy)


def _ranked(encoders: dict[str, TextCounts], texts: list[str], y: Array, folds: Indices) -> list[str]:
    """Return the names of the encoders, the most accurate one first."""
    found = {}
    for done, (name, encoder) in enumerate(encoders.items(), start=1):
        view = _counted(name, encoder, texts)
        model = view.model(fast_svm(len(np.unique(y)), 1.0, unit_rows=True))
        found[name] = out_of_fold_confusion(model, view.rows, y, cv=folds).accuracy
        _progress.report("encodings", done, len(encoders))
    return sorted(found, key=found.__getitem__, reverse=True)


def _counted(name: str, encoder: TextCounts, texts: list[str]) -> View:
    fitted = clone(encoder)
    return View(name, fitted.fit_transform(texts), fitted, weighted(fitted))


def _without_spaces(texts: list[str]) -> bool:
    seen = pl.Series(texts[:: max(1, len(texts) // SEEN)])
    unspaced, letters = (seen.str.count_matches(pattern).sum() for pattern in (UNSPACED, r"\p{Alphabetic}"))
    return bool(2 * unspaced > letters)
