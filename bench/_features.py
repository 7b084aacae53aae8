"""What each package offers, as data: `docs/comparison.md` shows it beside the figures.

Read from the packages' documentation (versions: constraints.txt; cleanlab 2.7, SetFit 1.1, which the figures leave out:
the one works on a model's answers, the other fine-tunes a neural encoder). "by hand": its user can build it.
"""

from __future__ import annotations

PACKAGES = ("untwin", "scikit-learn", "HiClass", "omikuji", "gensim", "fastText", "cleanlab", "SetFit")
YES, NO, HAND = "yes", "no", "by hand"

FEATURES: dict[str, tuple[str, ...]] = {
    "texts in, classes out": (YES, YES, HAND, HAND, HAND, YES, NO, YES),
    "numbers, nominal columns and text mixed": (YES, HAND, NO, NO, NO, NO, "any answers", NO),
    "scikit-learn's interface": (YES, YES, YES, NO, NO, NO, "wraps it", NO),
    "chooses encoding and classifier out of fold": (YES, HAND, NO, NO, NO, "by a validation file", NO, HAND),
    "confusion out of fold": (YES, HAND, NO, NO, NO, NO, "out-of-fold answers", NO),
    "a tree of classes learnt from confusion": (YES, NO, "takes a tree", "a tree of clusters", NO, NO, NO, NO),
    "thousands of classes": (YES, "slow", "slow", YES, NO, YES, YES, "few examples each"),
    "calibrated probabilities": (YES, YES, YES, NO, NO, NO, "takes them", NO),
    "says when it is unsure, to a target error": (YES, HAND, NO, NO, NO, NO, NO, NO),
    "explains by neighbours and terms": (YES, NO, NO, NO, "similar documents", "similar words", NO, NO),
    "finds label errors": (YES, NO, NO, NO, NO, NO, YES, NO),
    "finds near-twin classes": (YES, NO, NO, NO, NO, NO, "overlapping classes", NO),
    "a space that knows the classes": (YES, "LDA, dense", NO, NO, NO, "word vectors", NO, YES),
    "learns new documents": (YES, "some models", NO, NO, YES, NO, NO, NO),
    "learns new words and classes": (YES, NO, NO, NO, NO, NO, NO, NO),
    "saved without pickle": (YES, NO, NO, YES, "some parts", YES, NO, "but for the default head"),
    "several labels a document": ("some parts", YES, NO, YES, "no classifier", YES, YES, YES),
    "neural encoder": (
        "takes its vectors",
        "takes its vectors",
        "takes its vectors",
        NO,
        NO,
        NO,
        "takes its vectors",
        YES,
    ),
}
