"""Spaces for documents: supervised weights, sprinkled LSI, score space."""
