"""The types of arrays that annotations name, each alias with one meaning.

    Array       entries of any type: labels, texts, numbers of unknown precision
    Floats      numbers in double precision
    Floats32    numbers in single precision: scores and probabilities of many rows and classes
    Indices     whole numbers that index: positions, codes of classes, folds
    Integers    64-bit whole numbers: counts, places in a file
    Flags       true or false for each entry

Modules import them only for type checking, except where an alias is part of a value.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Floats = NDArray[np.float64]
Floats32 = NDArray[np.float32]
Indices = NDArray[np.intp]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
