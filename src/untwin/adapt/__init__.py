"""The loop: confusion, plan, space, and the same classifier again."""

from untwin.adapt.sprinkling import AdaptiveSprinkling

__all__ = ["AdaptiveSprinkling"]
