"""Paper 4: one module for each of its experiments, and what `untwin reproduce` shows of them."""
