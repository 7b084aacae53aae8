"""Classifiers that untwin adds to scikit-learn's; several of them use centroids, experts and batches."""
