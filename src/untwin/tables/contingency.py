"""`Contingency`: how often each term occurs in each class.

    X               n x m     counts: how often document i contains term t
    Y               n x C     1 where document i belongs to class c (several in a row for multi-label data)
    documents       C x m     Y'[X > 0]: in how many documents of class c term t occurs
    occurrences     C x m     Y'X: how often
    class_sizes     C         documents of class c
    term_documents  m         documents that contain term t
    n_documents     N         all documents

All of them are sums over documents, so that two parts of a corpus add up to the whole, bit for bit. A measure of a
(term, class) pair uses the 2 x 2 table of documents. A measure of a term uses the 2 x C table, in which a document of
several classes counts once for each membership; with one class a document both count the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from untwin._values import class_names, freeze, freeze_csr, html_table, join_classes, positions
from untwin.tables import measures
from untwin.tables._input import membership, whole_counts
from untwin.tables._sparse import cell_rows, move_cells, ratio, same_cells
from untwin.tables.term_evidence import Side, TermEvidence, evidence

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import ArrayLike

    from untwin._types import Array, Floats, Indices, Integers

SHOWN_CLASSES = 20


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Contingency:
    """Class x term counts of a labelled corpus; made by `from_counts`, added by `+`.

    Parameters
    ----------
    documents, occurrences : (C, m) int64 csr_array
        In how many documents of a class a term occurs, and how often.
    class_sizes : (C,) int64
    term_documents : (m,) int64
    n_documents : int
    classes : (C,) array of class names
    terms : (m,) array of term names, or None

    Examples
    --------
    >>> X = [[2, 0, 1], [1, 0, 0], [0, 3, 1], [0, 1, 0]]
    >>> table = Contingency.from_counts(X, ["cat", "cat", "dog", "dog"], terms=["purr", "bark", "tail"])
    >>> table
    Contingency(2 classes x 3 terms, 4 documents)
    >>> table.documents.toarray()
    array([[2, 0, 1],
           [0, 2, 1]])
    >>> table.information_gain().tolist()
    [1.0, 1.0, 0.0]
    >>> table.top_terms("cat")
    [TermEvidence(term='purr', score=4.0, inside=1.0, outside=0.0)]
    """

    documents: csr_array
    occurrences: csr_array
    class_sizes: Integers
    term_documents: Integers
    n_documents: int
    classes: Array
    terms: Array | None = None

    def __post_init__(self) -> None:
        for name in ("documents", "occurrences"):
            object.__setattr__(self, name, freeze_csr(getattr(self, name), dtype=np.int64))
        for name in ("class_sizes", "term_documents"):
            object.__setattr__(self, name, freeze(np.array(getattr(self, name), dtype=np.int64)))
        object.__setattr__(self, "classes", class_names(self.classes))
        terms = None if self.terms is None else freeze(np.array(self.terms))
        object.__setattr__(self, "terms", terms)
        if terms is not None and terms.shape != (self.documents.shape[1],):
            raise ValueError(f"terms must name all {self.documents.shape[1]} columns. Got {terms.size} names instead.")

    @classmethod
    def from_counts(
        cls, X: Any, y: Any, *, classes: ArrayLike | None = None, terms: ArrayLike | None = None
    ) -> Contingency:
        """Return the table of labelled documents.

        Parameters
        ----------
        X : (n, m) sparse or dense
            Whole, non-negative counts of terms; not weights such as tf-idf.
        y : (n,) labels, or (n, C) indicator
            One label a document, or for multi-label data zeros and ones with a column for each of `classes`.
        classes : names, optional
            Which classes there are and in which order (ordered classes need it); default: the labels, sorted.
        terms : names, optional
            What the columns of X are called.
        """
        counts = whole_counts(X)
        members, names = membership(y, classes)
        if members.shape[0] != counts.shape[0]:
            raise ValueError(
                f"y must have one row for each row of X ({counts.shape[0]}). Got {members.shape[0]} instead."
            )
        presence = csr_array((np.ones_like(counts.data), counts.indices, counts.indptr), shape=counts.shape)
        return cls(
            documents=members.T @ presence,
            occurrences=members.T @ counts,
            class_sizes=members.sum(axis=0),
            term_documents=presence.sum(axis=0),
            n_documents=counts.shape[0],
            classes=names,
            terms=None if terms is None else np.asarray(terms),
        )

    def __add__(self, other: Contingency) -> Contingency:
        if not isinstance(other, Contingency):
            return NotImplemented
        if self.documents.shape[1] != other.documents.shape[1] or not _same_terms(self.terms, other.terms):
            raise ValueError(
                "Both parts must have the same terms in the same columns. Got different ones instead; "
                "count both parts with one fitted vectorizer."
            )
        names = join_classes(self.classes, other.classes)
        mine, theirs = self._align(names), other._align(names)
        return Contingency(
            mine[0] + theirs[0],
            mine[1] + theirs[1],
            mine[2] + theirs[2],
            self.term_documents + other.term_documents,
            self.n_documents + other.n_documents,
            names,
            self.terms,
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Contingency):
            return NotImplemented
        return (
            self.n_documents == other.n_documents
            and np.array_equal(self.classes, other.classes)
            and _same_terms(self.terms, other.terms)
            and np.array_equal(self.class_sizes, other.class_sizes)
            and np.array_equal(self.term_documents, other.term_documents)
            and same_cells(self.documents, other.documents)
            and same_cells(self.occurrences, other.occurrences)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        n_classes, n_terms = self.documents.shape
        return f"Contingency({n_classes} classes x {n_terms} terms, {self.n_documents} documents)"

    def __reduce__(self) -> tuple[object, ...]:
        fields = (self.documents, self.occurrences, self.class_sizes, self.term_documents)
        return Contingency, (*fields, self.n_documents, self.classes, self.terms)

    def information_gain(self, *, per_class: bool = False, classes: ArrayLike | None = None) -> Floats:
        """Return the bits that a term's presence tells about the class: H(class) - H(class | term), length m.

        Per class it is the gain about "in the class or not" (C x m); these do not sum to the first.

        Parameters
        ----------
        per_class : bool
            Return a dense C x m table, one row a class.
        classes : names, optional
            Only these rows of it (naming classes implies `per_class`): how to walk through 10,000 classes in blocks.
        """
        if per_class or classes is not None:
            return self._per_class(measures.information_gain, classes)
        x_log2_x = measures.x_log2_x
        both, with_term, in_class, total = self._memberships()
        if total == 0:
            return np.zeros(len(with_term))
        # A class without the term adds x(n_c) - x(n_c) = 0: only the stored cells count.
        cells = x_log2_x(both) + x_log2_x(in_class - both) - x_log2_x(in_class)
        bits = self._by_term(cells) - x_log2_x(with_term) - x_log2_x(total - with_term)
        return np.asarray(np.maximum(bits + x_log2_x(np.asarray(total)), 0) / total)

    def chi2(self, *, per_class: bool = False, classes: ArrayLike | None = None) -> Floats:
        """Return chi-squared of the 2 x C table of presence, length m, or of the 2 x 2 tables (C x m).

        Without Yates' correction; 0 at a zero margin; the first is sum_c (1 - p_c) times the second. Note that
        `sklearn.feature_selection.chi2` sums the counts of a term instead of the documents that contain it.
        Parameters as for `information_gain`.
        """
        if per_class or classes is not None:
            return self._per_class(measures.chi2, classes)
        both, with_term, in_class, total = self._memberships()
        share = ratio(with_term, total)
        deviation = both - in_class * share[self.documents.indices]
        # Classes without the term deviate by n_c * share, so their part is share^2 times the documents they hold.
        without = total - self._by_term(in_class)
        spread = self._by_term(deviation * deviation / in_class) + share * share * without
        return ratio(spread, share * (1 - share))

    def mutual_information(self, *, per_class: bool = False, classes: ArrayLike | None = None) -> Floats:
        """Return pointwise mutual information log2 P(t, c) / (P(t) P(c)) per class, or its mean over the class priors.

        A term and a class that never meet count 0, not minus infinity. Parameters as for `information_gain`.
        """
        if per_class or classes is not None:
            return self._per_class(measures.pointwise_information, classes)
        both, with_term, in_class, total = self._memberships()
        cells = measures.pointwise_information(both, with_term[self.documents.indices], in_class, total)
        return ratio(self._by_term(cells * in_class), total)

    def odds_ratio(self, *, classes: ArrayLike | None = None) -> Floats:
        """Return the odds of each term inside a class over those outside (C x m), 1/2 added to each cell."""
        return self._per_class(measures.odds_ratio, classes)

    def ordinal_information_gain(self) -> Floats:
        """Return the mean information gain about "class t or above", over all such splits of the classes as ordered.

        Plain information gain does not know that neighbouring classes are alike.
        """
        with_term, total = self.documents.sum(axis=0), int(self.class_sizes.sum())
        below, size = np.zeros_like(with_term), 0
        gain, n_splits = np.zeros(len(with_term)), len(self.classes) - 1
        for c in range(n_splits):
            below, size = below + self.documents[[c]].sum(axis=0), size + self.class_sizes[c]
            gain += measures.information_gain(below, with_term, size, total)
        return gain / max(n_splits, 1)

    def per_cell(self, measure: measures.Measure) -> csr_array:
        """Return a measure (`untwin.tables.measures`) where term and class meet, in the shape of `documents`.

        It costs what the stored cells cost. A labelled document needs no other cells: its terms occur in its class.
        """
        table = self.documents
        values = measure(
            table.data, self.term_documents[table.indices], self.class_sizes[cell_rows(table)], self.n_documents
        )
        return csr_array((values, table.indices, table.indptr), shape=table.shape)

    def top_terms(self, cls: Any, n: int = 10) -> list[TermEvidence]:
        """Return the terms that are typical of a class, or of several taken as one, against all others; best first."""
        inside = self._rows(cls)
        return evidence(self._side(inside), self._side(np.delete(np.arange(len(self.classes)), inside)), self._names, n)

    def between(self, a: Any, b: Any, n: int = 10) -> tuple[list[TermEvidence], list[TermEvidence]]:
        """Return the terms typical of `a` against `b` and those of `b` against `a`, in the documents of both alone.

        Each of the two is a class or a list of classes.
        """
        rows_a, rows_b = self._rows(a), self._rows(b)
        if np.intersect1d(rows_a, rows_b).size:
            raise ValueError(f"a and b must have no class in common. Got {a!r} and {b!r} instead.")
        for_a, for_b = self._side(rows_a), self._side(rows_b)
        return evidence(for_a, for_b, self._names, n), evidence(for_b, for_a, self._names, n)

    def frame(self) -> pl.DataFrame:
        """Return the non-zero cells as a table: class, term, documents, occurrences."""
        import polars as pl

        cells = {"documents": self.documents.data, "occurrences": self.occurrences.data}
        names = {"class": self.classes[cell_rows(self.documents)], "term": self._names[self.documents.indices]}
        return pl.DataFrame(names | cells)

    def _repr_html_(self) -> str:
        shown = self.classes[:SHOWN_CLASSES].tolist()
        rows = (
            [name, size, ", ".join(str(found.term) for found in self.top_terms(name, 5))]
            for name, size in zip(shown, self.class_sizes.tolist(), strict=False)
        )
        return f"<p>{self!r}</p>" + html_table(["class", "documents", "terms that speak for it"], rows)

    @property
    def _names(self) -> Array:
        return np.arange(self.documents.shape[1]) if self.terms is None else self.terms

    def _rows(self, cls: Any) -> Indices:
        return np.unique(positions(np.atleast_1d(np.asarray(cls)), self.classes))

    def _side(self, rows: Indices) -> Side:
        return Side(self.documents[rows].sum(axis=0), int(self.class_sizes[rows].sum()))

    def _align(self, names: Array) -> tuple[csr_array, csr_array, Integers]:
        to, shape = positions(self.classes, names), (len(names), self.documents.shape[1])
        sizes = np.zeros(len(names), dtype=np.int64)
        sizes[to] = self.class_sizes
        return move_cells(self.documents, shape, to), move_cells(self.occurrences, shape, to), sizes

    def _per_class(self, measure: measures.Measure, classes: ArrayLike | None) -> Floats:
        rows = np.arange(len(self.classes)) if classes is None else positions(np.asarray(classes), self.classes)
        both = self.documents[rows].toarray()
        return measure(both, self.term_documents, self.class_sizes[rows, None], self.n_documents)

    def _memberships(self) -> tuple[Array, Array, Array, int]:
        """Return the 2 x C tables: stored cells, length-m margin, class size of each cell, number of memberships."""
        in_class = self.class_sizes[cell_rows(self.documents)]
        return self.documents.data, self.documents.sum(axis=0), in_class, int(self.class_sizes.sum())

    def _by_term(self, cells: Array) -> Floats:
        return np.bincount(self.documents.indices, weights=cells, minlength=self.documents.shape[1]).astype(float)


def _same_terms(a: Array | None, b: Array | None) -> bool:
    return a is b or (a is not None and b is not None and np.array_equal(a, b))
