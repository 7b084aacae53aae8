"""What trees of a saved model consist of, in JSON.

null, true, "text", 3, 0.5, [...]     themselves, and lists
{kind: content}                       everything else; one of the kinds below, or the name of a class (`classes`)

tuple, set, frozenset    [...]
dict                     {name: ...}
slice                    [start, stop]
float                    "inf", "-inf", "nan": what JSON lacks
array                    the place of an array (`arrays`)
labels                   {"dtype": ..., "names": [...], "codes": place}: an array of strings, of which few are different
objects                  an array of Python objects, one axis: strings or numbers
masked                   {"data": ..., "mask": ...}
csr, csr_matrix          {"shape": [n, m], "data": place, "indices": place, "indptr": place}
strings                  {"utf8": place, "lengths": place}: a list of strings, one after the other, and their bytes;
                         many are compressed: "deflated" and "size" instead of "utf8"
dtype, type              a NumPy dtype, a NumPy number type
series, frame            Polars columns (`frames`)
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from scipy.sparse import csr_array, csr_matrix

Node: TypeAlias = Any  # JSON

DEEPEST = 60  # levels; the deepest model that is fitted has about 30
FEW_STRINGS = 20  # up to here a list of strings stands in the tree itself
LARGEST_WHOLE = 1 << 63  # whole numbers beyond it are nobody's parameter

COLLECTIONS: dict[str, type] = {"tuple": tuple, "set": set, "frozenset": frozenset}
MATRICES: dict[str, type] = {"csr": csr_array, "csr_matrix": csr_matrix}
NUMBER_TYPES: dict[str, type] = {
    kind.__name__: kind
    for kind in (np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64)
} | {kind.__name__: kind for kind in (np.float16, np.float32, np.float64)}
