"""Classifiers that untwin adds to scikit-learn's: neighbours that vote and explain themselves."""
