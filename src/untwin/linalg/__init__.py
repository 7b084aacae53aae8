"""Linear algebra for large sparse matrices with a thin supervised block: products, orthonormal bases, truncated SVD."""
