"""`Annotations`: several labels of the same units, by several people or by one who was asked again; how they agree.

counts        U x C, sparse: n_uc = how often unit u was given class c
m             U              labels of each unit; a unit with one label cannot be agreed upon and does not count
coincidences  C x C          o_ck = sum over units of n_uc (n_uk - [c = k]) / (m_u - 1): pairs of labels of one unit, so
                             that every label counts once, however many labels its unit has

Krippendorff's alpha is 1 - D_o / D_e: the share of coincidences off the diagonal over what it would be if the labels
were dealt to the units at random. 1: all agree; 0: as chance would have it; it may be below zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array, diags_array

from untwin._labels import label_array
from untwin._values import class_names, freeze_csr
from untwin.tables.confusion import Confusion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from untwin._types import Array, Floats

REDRAWN = 1_000  # resamples of the units


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Annotations:
    """How often each unit was given each class, of the units with two labels or more.

    Examples
    --------
    >>> found = Annotations.of_units(["T1", "T1", "T2", "T2", "T3", "T3"], ["a", "a", "b", "b", "a", "b"])
    >>> found
    Annotations(3 units, 6 labels, alpha 0.4444)
    >>> found.coincidences.toarray().tolist()
    [[2.0, 1.0], [1.0, 2.0]]
    """

    counts: csr_array
    classes: Array

    def __post_init__(self) -> None:
        counts = freeze_csr(self.counts, dtype=np.float64)
        several = np.asarray(counts.sum(axis=1)) >= 2
        object.__setattr__(self, "counts", freeze_csr(counts[np.flatnonzero(several)]))
        object.__setattr__(self, "classes", class_names(self.classes))

    @classmethod
    def of_units(cls, units: ArrayLike, labels: Any, *, missing: Any = "") -> Annotations:
        """Return the annotations by one line for each label of a unit; the label `missing` does not count."""
        names, given = np.asarray(units), label_array(labels)
        if names.ndim != 1 or names.shape != given.shape:
            raise ValueError(
                f"units and labels must be one-dimensional and of one length. Got shapes {names.shape} and "
                f"{given.shape} instead."
            )
        kept = np.asarray(given != missing) if missing is not None else np.ones(len(given), dtype=np.bool_)
        unit = np.unique(names[kept], return_inverse=True)[1]
        classes, code = np.unique(given[kept], return_inverse=True)
        shape = (int(unit.max(initial=-1)) + 1, len(classes))
        return cls(csr_array((np.ones(len(unit)), (unit, code)), shape=shape), classes)

    @classmethod
    def of_columns(cls, columns: Sequence[Any], *, missing: Any = "") -> Annotations:
        """Return the annotations by one column of labels for each annotator, all with one line for each unit.

        >>> Annotations.of_columns([["a", "b", "b"], ["a", "b", ""]])
        Annotations(2 units, 4 labels, alpha 1.0000)
        """
        given = [label_array(column) for column in columns]
        if len({len(column) for column in given}) != 1:
            raise ValueError("columns must be of one length, and at least one. Got others instead.")
        units = np.tile(np.arange(len(given[0])), len(given))
        return cls.of_units(units, np.concatenate(given), missing=missing)

    @property
    def n_units(self) -> int:
        """Units with two labels or more."""
        return int(self.counts.shape[0])

    @property
    def n_labels(self) -> int:
        """Labels of these units."""
        return int(self.counts.sum())

    @property
    def coincidences(self) -> Confusion:
        """Pairs of labels of one unit (glossary), symmetric: its `pairs` are what annotators disagree on."""
        shares = csr_array(self.counts / (self._labels - 1)[:, np.newaxis])
        single = diags_array(np.asarray(shares.sum(axis=0)), dtype=np.float64)
        together = csr_array(self.counts.T @ shares - single)
        together.data[np.abs(together.data) < 1e-9] = 0  # what rounding leaves of a diagonal without agreement
        return Confusion(together, self.classes)

    def alpha(self) -> float | None:
        """Return Krippendorff's alpha for names; None if fewer than two classes were given at all."""
        return _finite(self._alphas(np.ones((1, self.n_units)))[0])

    def alpha_interval(self, *, random_state: int = 0) -> tuple[float, float] | None:
        """Return the middle 95 % of alpha over units drawn with replacement; None if it cannot be told."""
        if self.n_units < 2:
            return None
        drawn = np.random.default_rng(random_state).multinomial(
            self.n_units, np.full(self.n_units, 1 / self.n_units), size=min(REDRAWN, max(50, 10**7 // self.n_units))
        )
        alphas = self._alphas(drawn.astype(np.float64))
        alphas = alphas[np.isfinite(alphas)]
        return (float(np.quantile(alphas, 0.025)), float(np.quantile(alphas, 0.975))) if len(alphas) else None

    @property
    def _labels(self) -> Floats:
        return np.asarray(self.counts.sum(axis=1), dtype=np.float64)

    def _alphas(self, weights: Floats) -> Floats:
        """Return alpha for each row of weights of the units; NaN where all labels are of one class."""
        m = self._labels
        squares = np.asarray(self.counts.multiply(self.counts).sum(axis=1))
        agreed = weights @ ((squares - m) / np.maximum(m - 1, 1))  # the diagonal of the coincidences
        total = weights @ m
        by_class = np.asarray(weights @ self.counts)
        expected = total**2 - (by_class**2).sum(axis=1)
        alphas = np.full(len(weights), np.nan)
        np.divide((total - 1) * (total - agreed), expected, out=alphas, where=expected > 0)
        return 1 - alphas

    def __repr__(self) -> str:
        alpha = self.alpha()
        told = "not defined" if alpha is None else f"{alpha:.4f}"
        return f"Annotations({self.n_units} units, {self.n_labels} labels, alpha {told})"

    __hash__ = None  # type: ignore[assignment]


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
