"""The papers' experiments as installed code; benchmarks and `untwin reproduce` call them."""
