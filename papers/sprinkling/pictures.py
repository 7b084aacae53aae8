"""Paper 1's pictures: the confusion before and after sprinkling, and which words move together or apart."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.preprocessing import normalize

from papers.sprinkling.chosen import Grid, best_setting, plan_of
from papers.sprinkling.spaces import CONTENDERS, halves
from untwin.crossfit import out_of_fold, out_of_fold_confusion
from untwin.data.counts import TextCounts
from untwin.represent.sprinkle import SprinkledLSI
from untwin.tables.confusion import Confusion
from untwin.tables.contingency import Contingency

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from papers.datasets import LabelledTexts

GRID = Grid((10, 20, 40), (4.0, 16.0))
TERM_DIMENSIONS, TERM_STRENGTH = (5, 10, 20, 40), 16.0  # columns a class on average
NAMED_PAIRS = (("opec", "refinery"), ("dividend", "crude"))  # the paper's examples: one class, two classes
TOP_TERMS = 20  # of each class, for the mean over all such pairs


class BeforeAndAfter(NamedTuple):
    """The confusion of cosine neighbours on the test half: raw terms, and the adaptively sprinkled space."""

    set: str
    before: Confusion
    after: Confusion


def before_and_after(texts: LabelledTexts) -> BeforeAndAfter:
    """Classify one test half twice; dimension and strength are chosen by cross-validation on the training half."""
    half, contender = next(halves(texts, 1)), CONTENDERS[0]
    raw = out_of_fold(contender.estimator, half.X, half.y, with_scores=False)
    strength, k = best_setting("adaptive", contender, half, raw, GRID)
    plan = plan_of("adaptive", raw.confusion, strength)
    space = SprinkledLSI(n_components=k, plan=plan, training=contender.training, random_state=0)
    sprinkled = space.fit_transform(half.X, half.y), space.transform(half.X_test)
    found = [
        Confusion.from_predictions(half.y_test, clone(contender.estimator).fit(Z, half.y).predict(asked))
        for Z, asked in ((half.X, half.X_test), sprinkled)
    ]
    classes = texts.order or _tree_order(texts, raw.confusion)
    return BeforeAndAfter(texts.name, *(confusion.reordered(classes) for confusion in found))


def _tree_order(texts: LabelledTexts, confusion: Confusion) -> Sequence[str]:
    """Return the classes by their known parents, else by name."""
    parents = texts.parents or {}
    names: list[str] = confusion.classes.tolist()
    return sorted(names, key=lambda name: (parents.get(name, ""), name))


def term_similarities(texts: LabelledTexts) -> list[dict[str, Any]]:
    """Return cosines between terms in plain and in sprinkled LSI, of the same size and from the same documents.

    Besides the paper's pairs, which are there if both words are: the mean over all pairs of the twenty terms that say
    most for one class, and over pairs from two classes.
    """
    counter = TextCounts(binary=True, stop_words="english", stemmer="english", dtype=np.float64)
    X, y = counter.fit_transform(texts.texts), texts.labels.to_numpy()
    table = Contingency.from_counts(X, y, terms=counter.get_feature_names_out())
    known = out_of_fold_confusion(CONTENDERS[0].estimator, X, y)
    names = counter.get_feature_names_out()
    best = {cls: [evidence.term for evidence in table.top_terms(cls, TOP_TERMS)] for cls in known.classes.tolist()}
    inside = [pair for terms in best.values() for pair in combinations(terms, 2)]
    across = [(a, b) for one, two in combinations(best.values(), 2) for a in one for b in two if a != b]
    stemmed = [tuple(_stem(word) for word in pair) for pair in NAMED_PAIRS]
    there = [(pair, stems) for pair, stems in zip(NAMED_PAIRS, stemmed, strict=True) if set(stems) <= set(names)]
    groups: dict[str, list[Any]] = {f"{a} and {b}": [stems] for (a, b), stems in there}
    groups |= {"two terms of one class, mean": inside, "terms of two classes, mean": across}
    place = {name: column for column, name in enumerate(names.tolist())}
    rows: list[dict[str, Any]] = []
    plans = (None, plan_of("adaptive", known, TERM_STRENGTH))
    templates = [SprinkledLSI(plan=plan, random_state=0).nested(X, y, TERM_DIMENSIONS) for plan in plans]
    for k, (plain, _), (sprinkled, _) in zip(TERM_DIMENSIONS, *templates, strict=True):
        for title, pairs in groups.items():
            columns = np.array([[place[a], place[b]] for a, b in pairs])
            means = [_mean_cosine(space, columns) for space in (plain, sprinkled)]
            rows.append({"set": texts.name, "terms": title, "k": k, "LSI": means[0], "sprinkled": means[1]})
    return rows


def _mean_cosine(space: SprinkledLSI, pairs: NDArray[np.intp]) -> float:
    """Return the mean of `term_similarity` over pairs of columns, without asking for each of thousands."""
    a, b = (normalize(space.components_.T[columns] * space.singular_values_) for columns in pairs.T)
    return float(np.einsum("ij,ij->i", a, b).mean())


def _stem(word: str) -> str:
    return str(TextCounts(stemmer="english").fit([word]).terms_[0])
