"""Benchmarks against peers, in the same run on the same input: `python -m bench.NAME --data DIR [--json]`."""
