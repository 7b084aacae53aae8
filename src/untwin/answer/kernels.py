"""Compiled loop of scores, for many texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from untwin._compiled import compiled

if TYPE_CHECKING:
    from untwin._types import Array
    from untwin.answer.fixed_point import CountedRows, PackedWeights


@compiled
def integer_products(rows: CountedRows, values: Array, packed: PackedWeights) -> Array:
    """Return rows times packed weights, in whole numbers; `values` are those of the entries of the rows."""
    products = np.zeros((len(rows.starts) - 1, packed.n_columns), dtype=np.int64)
    for row in range(len(products)):
        product = products[row]
        for place in range(rows.starts[row], rows.starts[row + 1]):
            value, term = values[place], rows.columns[place]
            for one in range(packed.starts[term], packed.starts[term + 1]):
                product[packed.columns[one]] += value * packed.weights[one]
    return products
