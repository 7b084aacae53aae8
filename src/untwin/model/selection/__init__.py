"""Selection: compare candidates on held-out rows, choose the best, train it on all rows."""
