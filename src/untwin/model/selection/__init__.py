"""Candidates compared on held-out rows, and the best of them chosen."""
