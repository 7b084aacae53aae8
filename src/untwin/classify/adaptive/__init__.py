"""Adaptive sprinkling: from the confusion to a plan, to a space, and to the same classifier fitted in it."""

from untwin.classify.adaptive.sprinkling import AdaptiveSprinkling

__all__ = ["AdaptiveSprinkling"]
