"""From files and frames to counts: reading, column roles, tokenising, demo texts."""
