"""A fast base, and experts where it confuses classes."""
