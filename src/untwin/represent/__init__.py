"""Representations of documents: supervised weights, sprinkled LSI, score space."""
