"""The loop: confusion, plan, space, and the same classifier again."""

from untwin.classify.adaptive.sprinkling import AdaptiveSprinkling

__all__ = ["AdaptiveSprinkling"]
