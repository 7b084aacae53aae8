"""What each package offers, as data: `docs/comparison.md` shows it beside the figures.

Read from the documentation of the versions in constraints.txt; "by hand" means that its user can build it.
"""

from __future__ import annotations

PACKAGES = ("untwin", "scikit-learn", "HiClass", "omikuji", "gensim", "fastText")
YES, NO, HAND = "yes", "no", "by hand"

FEATURES: dict[str, tuple[str, ...]] = {
    "texts in, classes out": (YES, YES, HAND, HAND, HAND, YES),
    "numbers, nominal columns and text mixed": (YES, HAND, NO, NO, NO, NO),
    "scikit-learn's interface": (YES, YES, YES, NO, NO, NO),
    "chooses encoding and classifier out of fold": (YES, HAND, NO, NO, NO, "for a validation file"),
    "confusion out of fold": (YES, HAND, NO, NO, NO, NO),
    "a tree of classes learnt from confusion": (YES, NO, "takes a tree", "a tree of clusters", NO, NO),
    "thousands of classes": (YES, "slow", "slow", YES, NO, YES),
    "calibrated probabilities": (YES, YES, "some", NO, NO, NO),
    "says when it is unsure, to a target error": (YES, HAND, NO, NO, NO, NO),
    "explains by neighbours and terms": (YES, NO, NO, NO, "similar documents", "similar words"),
    "finds label errors and near-twin classes": (YES, NO, NO, NO, NO, NO),
    "a space that knows the classes": (YES, "LDA, dense", NO, NO, NO, "word vectors"),
    "learns new documents": (YES, "some models", NO, NO, YES, NO),
    "learns new words and classes": (YES, NO, NO, NO, NO, NO),
    "saved without pickle": (YES, NO, NO, YES, "some parts", YES),
    "several labels a document": ("some parts", YES, NO, YES, "not a classifier", YES),
    "GPU or neural encoder": (NO, NO, NO, NO, NO, NO),
}
