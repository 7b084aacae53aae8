"""Paper 3: its experiment on newsgroup posts, and what `python -m papers` shows of it."""

from papers.weights.posts import run_weights, weight_sets

__all__ = ["run_weights", "weight_sets"]
