"""Classifiers that untwin adds to scikit-learn's; centroids, experts and batches serve several of them."""
