"""Calibration: from scores of held-out rows to probabilities that can be taken at their word."""
