"""A model with a part of every kind, and equality to the bit."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, random_array

from untwin.store import Texts


def sample_parts(seed=0):
    """Return parts of every kind."""
    generator = np.random.default_rng(seed)
    return {
        "classes": np.array(["ape", "Bär", "猫"]),
        "space": {
            "basis": np.asfortranarray(generator.normal(size=(20, 3))),
            "strength": generator.normal(size=3).astype(np.float32),
            "counts": random_array((7, 20), density=0.2, format="csr", rng=generator, dtype=np.float64),
        },
        "flags": generator.integers(2, size=9).astype(bool),
        "documents": ["first text", "", "zweiter täxt", f"🦊 {seed}"],
        "none": {},
    }


def same(a, b):
    """Say whether two parts are equal in every bit, with dtype, shape, memory order and names."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        alike = a.dtype.str == b.dtype.str and a.shape == b.shape and a.flags.c_contiguous == b.flags.c_contiguous
        return alike and a.tobytes("A") == b.tobytes("A")
    if isinstance(a, csr_array) and isinstance(b, csr_array):
        inner = all(same(getattr(a, key), getattr(b, key)) for key in ("data", "indices", "indptr"))
        return a.shape == b.shape and inner
    if isinstance(a, dict) and isinstance(b, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    return isinstance(a, list | Texts) and isinstance(b, list | Texts) and list(a) == list(b)
