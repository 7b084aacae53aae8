"""What answers: texts to calibrated probabilities, with NumPy and PyStemmer alone for a few texts."""
