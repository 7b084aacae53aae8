"""Nearest neighbours: exact search, vote, explanation."""
