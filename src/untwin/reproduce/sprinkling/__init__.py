"""Paper 1: one module for each of its experiments, and what `untwin reproduce` shows of them."""
