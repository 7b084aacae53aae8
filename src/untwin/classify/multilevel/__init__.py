"""Classify by groups of classes first, then by classes within a group."""
