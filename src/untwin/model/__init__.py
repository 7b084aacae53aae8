"""The whole product behind one estimator: it encodes, tries, chooses, answers, explains and learns on."""

from untwin.model.classifier import UntwinClassifier

__all__ = ["UntwinClassifier"]
