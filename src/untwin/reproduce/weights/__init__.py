"""Paper 3: its experiment on newsgroup posts, and what `untwin reproduce` shows of it."""

from untwin.reproduce.weights.posts import run_weights, weight_sets

__all__ = ["run_weights", "weight_sets"]
