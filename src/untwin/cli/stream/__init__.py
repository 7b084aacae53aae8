"""Tables that need not fit into memory: read in batches, written in batches."""
