"""The papers' experiments beside what is published: `python -m papers`; benchmarks call them too."""
