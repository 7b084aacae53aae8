"""Groups of classes first, classes within a group second."""
