"""Models of any number of classes, made cheaply: generated texts with twins, and naive Bayes as the only candidate."""

from __future__ import annotations

from typing import TYPE_CHECKING
from unittest.mock import patch

import numpy as np

from untwin.classify.linear import NaiveBayes
from untwin.model import UntwinClassifier
from untwin.model.selection.candidates import SVM

if TYPE_CHECKING:
    from numpy.typing import NDArray

COMMON = np.array([f"word{number}" for number in range(300)])


def twin_texts(n_classes: int, rows_a_class: int, *, length: int = 40) -> tuple[list[str], NDArray[np.str_]]:
    """Return texts in which classes 2k and 2k + 1 share half of their words, and eight in a row a few."""
    rng = np.random.default_rng(0)
    numbers = np.repeat(np.arange(n_classes), rows_a_class)
    texts = []
    for number in numbers.tolist():
        stems = rng.choice([f"own{number}", f"twin{number // 2}", f"kin{number // 8}"], 4, p=[0.3, 0.4, 0.3])
        telling = [f"{stem}x{rng.integers(8)}" for stem in stems]
        words = np.concatenate([rng.choice(COMMON, length - 4), telling])
        texts.append(" ".join(rng.permutation(words)))
    return texts, np.array([f"kin {number // 8:03d} class {number:04d}" for number in numbers])


def cheap_model(
    texts: list[str], labels: NDArray[np.str_], preset: str = "fast", ids: list[str] | None = None
) -> UntwinClassifier:
    """Fit with naive Bayes in the place of everything else."""
    with patch("untwin.model.selection.select.first_stage", lambda now, C: {SVM: NaiveBayes()}):
        return UntwinClassifier(preset=preset).fit(texts, labels, ids=ids)


def made_model(n_classes: int, rows_a_class: int = 12) -> UntwinClassifier:
    """Return a fitted model of so many classes."""
    return cheap_model(*twin_texts(n_classes, rows_a_class))
