"""Calibration: turn scores into probabilities that agree with the accuracy on held-out rows."""
