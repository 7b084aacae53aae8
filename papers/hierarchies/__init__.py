"""Paper 2: one module for each of its experiments, and what `python -m papers` shows of them."""
