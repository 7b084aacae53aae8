"""Compiled loops that count the terms of a vocabulary in texts; no term that it does not have is ever made.

Glossary
--------
symbol    the code point of a character, or the number of a word; -1: a word of no term
run       symbols one after the other; a term is a run
segment   symbols that no run crosses the borders of: the words of a text, a word between blanks, a text
bounds    where each segment begins, and where the last one ends
tree      the terms, symbol by symbol, as a hash table: its key is (the place of the run before, symbol), so that a run
          is given up at its first symbol with which no term goes on. Places are numbered from 1 on; 0: nothing yet
kinds     for each code point: not looked up yet, in words, white space, or neither
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from untwin._compiled import compiled

if TYPE_CHECKING:
    from untwin._types import Array
    from untwin.answer.fixed_point import CountedRows

UNSEEN, IN_WORDS, SPACE, OTHER = 0, 1, 2, 3
BLANK = 32
SHORTEST_WORD = 2
SYMBOL_BITS = 32
FREE = -1


class RunTree(NamedTuple):
    """The terms; `columns` are those of the runs at each place (-1: none); `factor` is odd and of this process only.

    So nobody can prepare a vocabulary or a text whose keys all meet at one place. With `whole_if_short`, a segment
    shorter than the shortest run counts as a whole.
    """

    keys: Array
    columns: Array
    factor: int
    shortest: int
    longest: int
    whole_if_short: bool


@compiled
def place_of(keys: Array, factor: int, key: int) -> int:
    """Return where a key is, or where it would be put."""
    mask = len(keys) - 1
    place = ((key * factor) >> 31) & mask
    while keys[place] != FREE and keys[place] != key:
        place = (place + 1) & mask
    return place


@compiled
def put_runs(tree: RunTree, symbols: Array, bounds: Array, columns: Array) -> int:
    """Put runs of symbols into a tree that has room for them, each with its column; return how many places it takes."""
    taken = 0
    for run in range(len(bounds) - 1):
        node = 0
        for at in range(bounds[run], bounds[run + 1]):
            key = (node << SYMBOL_BITS) | symbols[at]
            place = place_of(tree.keys, tree.factor, key)
            if tree.keys[place] == FREE:
                tree.keys[place] = key
                taken += 1
            node = place + 1
        if node:
            tree.columns[node - 1] = columns[run]
    return taken


@compiled
def count_runs(
    tree: RunTree, symbols: Array, bounds: Array, per_row: Array, n_columns: int
) -> tuple[Array, Array, Array]:
    """Return the counts of the terms in rows of segments, `per_row` segments each, as CSR."""
    starts = np.zeros(len(per_row) + 1, dtype=np.int64)
    columns = np.empty(len(symbols) + 64, dtype=np.int64)
    counts = np.empty(len(columns), dtype=np.int64)
    found = np.zeros(n_columns, dtype=np.int64)
    segment = filled = 0
    for row in range(len(per_row)):
        last = segment + per_row[row]
        most = filled + (bounds[last] - bounds[segment]) * (tree.longest - tree.shortest + 1)
        if most > len(columns):
            columns, counts = _longer(columns, filled, most), _longer(counts, filled, most)
        first = filled
        while segment < last:
            part = symbols[bounds[segment] : bounds[segment + 1]]
            filled = _add_runs(tree, part, found, columns, filled)
            segment += 1
        for place in range(first, filled):
            counts[place] = found[columns[place]]
            found[columns[place]] = 0
        starts[row + 1] = filled
    return starts, columns[:filled], counts[:filled]


@compiled
def _longer(array: Array, filled: int, least: int) -> Array:
    longer = np.empty(max(least, 2 * len(array)), dtype=np.int64)
    longer[:filled] = array[:filled]
    return longer


@compiled
def _add_runs(tree: RunTree, symbols: Array, found: Array, columns: Array, filled: int) -> int:
    """Count the terms of a segment, and append the columns of those that the row has not had."""
    size = len(symbols)
    least = min(tree.shortest, size) if tree.whole_if_short else tree.shortest
    for start in range(size - least + 1):
        node = 0
        for at in range(start, min(start + tree.longest, size)):
            if symbols[at] < 0:
                break
            key = (node << SYMBOL_BITS) | symbols[at]
            place = place_of(tree.keys, tree.factor, key)
            if tree.keys[place] == FREE:
                break
            node = place + 1
            column = tree.columns[place]
            if at - start + 1 >= least and column >= 0:
                if found[column] == 0:
                    columns[filled] = column
                    filled += 1
                found[column] += 1
    return filled


@compiled
def cut_at_spaces(points: Array, starts: Array, kinds: Array) -> tuple[Array, Array, Array]:
    """Return the words between white space, each with a blank before and after it, as segments."""
    symbols = np.empty(2 * len(points) + len(starts), dtype=np.int32)
    bounds = np.zeros(len(points) + 1, dtype=np.int64)
    per_row = np.zeros(len(starts) - 1, dtype=np.int64)
    size = segments = 0
    for row in range(len(starts) - 1):
        inside = False
        for at in range(starts[row], starts[row + 1] + 1):
            more = at < starts[row + 1] and kinds[points[at]] != SPACE
            if more != inside:
                symbols[size] = BLANK
                size += 1
                if inside:
                    segments += 1
                    per_row[row] += 1
                    bounds[segments] = size
                inside = more
            if more:
                symbols[size] = points[at]
                size += 1
    return symbols[:size], bounds[: segments + 1], per_row


@compiled
def join_spaces(points: Array, starts: Array, kinds: Array) -> tuple[Array, Array, Array]:
    """Return texts as segments, with one blank for several characters of white space."""
    symbols = np.empty(len(points), dtype=np.int32)
    bounds = np.zeros(len(starts), dtype=np.int64)
    size = 0
    for row in range(len(starts) - 1):
        spaces = 0
        for at in range(starts[row], starts[row + 1]):
            spaces = spaces + 1 if kinds[points[at]] == SPACE else 0
            if spaces > 1:
                symbols[size - 1] = BLANK
            else:
                symbols[size] = points[at]
                size += 1
        bounds[row + 1] = size
    return symbols[:size], bounds, np.ones(len(starts) - 1, dtype=np.int64)


@compiled
def find_words(points: Array, starts: Array, kinds: Array) -> tuple[Array, Array, Array]:
    """Return where the words of two characters or more begin and end, and where those of each text begin."""
    first = np.empty(len(points) // SHORTEST_WORD + 1, dtype=np.int64)
    last = np.empty(len(first), dtype=np.int64)
    bounds = np.zeros(len(starts), dtype=np.int64)
    found = 0
    for row in range(len(starts) - 1):
        begin = starts[row]
        for at in range(starts[row], starts[row + 1] + 1):
            if at == starts[row + 1] or kinds[points[at]] != IN_WORDS:
                if at - begin >= SHORTEST_WORD:
                    first[found], last[found] = begin, at
                    found += 1
                begin = at + 1
        bounds[row + 1] = found
    return first[:found], last[:found], bounds


@compiled
def number_words(points: Array, first: Array, last: Array, factor: int) -> tuple[Array, Array]:
    """Return for each word the number of its spelling, and for each spelling the word that has it first."""
    size = 16
    while size < 2 * len(first):
        size *= 2
    table = np.full(size, FREE, dtype=np.int64)
    numbers = np.empty(len(first), dtype=np.int32)
    spelled = np.empty(len(first), dtype=np.int64)
    found = 0
    for word in range(len(first)):
        key = np.int64(0)
        for at in range(first[word], last[word]):
            key = (key ^ points[at]) * factor
            key ^= key >> 29
        place = (key >> 20) & (size - 1)
        while table[place] != FREE and not _same(points, first, last, word, spelled[table[place]]):
            place = (place + 1) & (size - 1)
        if table[place] == FREE:
            table[place], spelled[found] = found, word
            found += 1
        numbers[word] = table[place]
    return numbers, spelled[:found]


@compiled
def _same(points: Array, first: Array, last: Array, one: int, other: int) -> bool:
    size, alike = last[one] - first[one], 0
    if last[other] - first[other] != size:
        return False
    while alike < size and points[first[one] + alike] == points[first[other] + alike]:
        alike += 1
    return bool(alike == size)


@compiled
def join_counts(one: CountedRows, other: CountedRows) -> tuple[Array, Array, Array]:
    """Return counts of the same rows side by side; no column is in both."""
    size = 0
    columns = np.empty(len(one.columns) + len(other.columns), dtype=np.int64)
    counts = np.empty(len(columns), dtype=np.int64)
    for row in range(len(one.starts) - 1):
        for part in (one, other):
            for place in range(part.starts[row], part.starts[row + 1]):
                columns[size], counts[size] = part.columns[place], part.counts[place]
                size += 1
    return one.starts + other.starts, columns, counts
