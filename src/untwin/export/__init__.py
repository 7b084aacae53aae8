"""Models that only answer: small folders that are loaded in an instant, with NumPy and PyStemmer alone."""
