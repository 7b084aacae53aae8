"""Rows as users give them, turned into rows of numbers."""
