"""`SprinklingPlan`: how much of each class to sprinkle into the documents before they are decomposed.

Glossary
--------
Y        n x C indicator of classes.
K        C x C class kernel, symmetric and positive semi-definite; always sparse (`csr_array`), since most plans are.
F        C x r with K = F F', r at most C: appending Y F to X adds Y K Y' to the Gram matrix of the documents.
s_c      how many copies of class c's indicator column paper 1 would append: K = diag(s) does the same with one column a
         class, times sqrt(s_c), so real-valued counts are as good as whole ones.
s_ij     what a pair of classes asks for: the maximum sprinkling length (msl) times its mutual complexity, which is one
         for the pair that is confused most.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.sparse import block_diag, csr_array, diags_array, eye_array
from scipy.sparse.csgraph import connected_components

from untwin._values import class_names, freeze, freeze_csr, html_table, positions

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import ArrayLike

    from untwin._types import Array, Floats, Indices
    from untwin.structure.hierarchy import Hierarchy
    from untwin.tables.confusion import Confusion

ROUNDING = 1e-10  # an eigenvalue of this size, relative to the largest, is zero
SHOWN_CLASSES = 10


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SprinklingPlan:
    """A class kernel with the names of its classes.

    Make one with `uniform`, `adaptive`, `contrast`, `ordinal`, `from_hierarchy` or `from_kernel`. Without classes
    `uniform` and `ordinal` are unbound: they wait for the classes of the data, so that they work in cross-validation.

    Attributes
    ----------
    kind : str
        The constructor that made it.
    kernel : csr_array of shape (C, C), or None while unbound
    classes : array of shape (C,), or None while unbound
    strength, target : float
        While unbound: what `uniform` was given as `s`, and the trace that `scaled` asked for.

    Examples
    --------
    >>> from untwin.tables.confusion import Confusion
    >>> confusion = Confusion([[8, 2, 0], [4, 6, 0], [0, 1, 9]], ["cat", "lynx", "tram"])
    >>> plan = SprinklingPlan.adaptive(confusion, msl=6)
    >>> plan
    SprinklingPlan.adaptive(3 classes, trace 14)
    >>> plan.per_class.tolist()
    [6.0, 7.0, 1.0]
    >>> plan.aligned(["lynx", "cat"]).kernel.toarray()
    array([[7., 0.],
           [0., 6.]])
    >>> SprinklingPlan.uniform(s=4).aligned(["a", "b"]).factor().toarray()
    array([[2., 0.],
           [0., 2.]])
    """

    kind: str
    kernel: csr_array | None = None
    classes: Array | None = None
    strength: float = 1.0
    target: float | None = None

    def __post_init__(self) -> None:
        if self.kernel is not None and self.classes is not None:
            object.__setattr__(self, "kernel", freeze_csr(self.kernel, dtype=np.float64))
            object.__setattr__(self, "classes", class_names(self.classes))

    # ------------------------------------------------------------------ the plans

    @classmethod
    def uniform(cls, classes: ArrayLike | None = None, s: float = 1.0) -> Self:
        """Return the plan with `s` columns for every class: K = s I."""
        plan = cls("uniform", strength=_amount("s", s))
        return plan if classes is None else plan.bound(classes)

    @classmethod
    def adaptive(cls, confusion: Confusion, msl: float, *, rounded: bool = False) -> Self:
        """Return the plan with more columns for classes that are confused more (paper 1): K_ii = sum over j of s_ij.

        `rounded` makes every s_ij a whole number (halves to the even one). A confusion without errors gives the uniform
        plan with `msl` columns a class. Take an out-of-fold confusion.
        """
        asked = _pair_strengths(confusion, msl)
        if asked.nnz == 0:
            return cls.uniform(confusion.classes, msl)
        if rounded:
            asked = asked.rint()
        return cls("adaptive", csr_array(diags_array(asked.sum(axis=1))), confusion.classes)

    @classmethod
    def contrast(cls, confusion: Confusion, msl: float) -> Self:
        """Return the plan that separates twins: K is the graph Laplacian of s_ij, s_ij columns of +1 and -1 for a pair.

        A confusion without errors gives the uniform plan, as for `adaptive`.
        """
        asked = _pair_strengths(confusion, msl)
        if asked.nnz == 0:
            return cls.uniform(confusion.classes, msl)
        return cls("contrast", diags_array(asked.sum(axis=1)) - asked, confusion.classes)

    @classmethod
    def ordinal(cls, classes: ArrayLike | None = None) -> Self:
        """Return the plan of ordered classes: K_ij = (C - 1) - |i - j|, as from columns "at least t" and "below t"."""
        plan = cls("ordinal")
        return plan if classes is None else plan.bound(classes)

    @classmethod
    def from_hierarchy(cls, hierarchy: Hierarchy) -> Self:
        """Return the plan of a tree: K_ij = height of the root - height at which i and j meet.

        It is as if every node below the root, leaves included, had a column weighted by the length of its branch.
        """
        meeting = hierarchy.cophenetic()
        return cls("from_hierarchy", csr_array(meeting.max() - meeting), hierarchy.classes)

    @classmethod
    def from_kernel(cls, K: Any, classes: ArrayLike) -> Self:
        """Return the plan of any symmetric positive semi-definite C x C kernel."""
        kernel, names = csr_array(K, dtype=np.float64), class_names(classes)
        if kernel.shape != (len(names), len(names)):
            raise ValueError(
                f"K must be {len(names)} x {len(names)}, as there are classes. Got {kernel.shape} instead."
            )
        if not np.isfinite(kernel.data).all():
            raise ValueError("K must be finite. Got nan or infinity instead.")
        size = abs(kernel).max()
        if abs(kernel - kernel.T).max() > ROUNDING * size:
            raise ValueError("K must be symmetric. Got another matrix instead; (K + K.T) / 2 is symmetric.")
        kernel = (kernel + kernel.T) / 2
        lowest = _lowest_eigenvalue(kernel)
        if lowest < -ROUNDING * size:
            raise ValueError(
                f"K must be positive semi-definite. Got the eigenvalue {lowest:.4g} instead; "
                "add its size to the diagonal of K."
            )
        return cls("from_kernel", kernel, names)

    # ------------------------------------------------------------------ meeting the data

    def bound(self, classes: ArrayLike) -> Self:
        """Return this plan over `classes`, in their order; a plan that has classes already stays as it is."""
        if self.kernel is not None:
            return self
        names = class_names(classes)
        place = np.arange(len(names))
        if self.kind == "uniform":
            kernel = csr_array(eye_array(len(names)) * self.strength)
        else:
            kernel = csr_array(len(names) - 1.0 - abs(np.subtract.outer(place, place)))
        plan = replace(self, kernel=kernel, classes=names, strength=1.0, target=None)
        return plan if self.target is None else plan.scaled(self.target)

    def aligned(self, classes: ArrayLike) -> Self:
        """Return the plan for exactly these classes, by name: what a space needs that has seen them.

        A class the plan does not know is an error; one of its classes that is not wanted is left out.
        """
        if self.kernel is None:
            return self.bound(classes)
        kernel, names = self._bound_parts()
        wanted = class_names(classes)
        here = positions(wanted, names)
        return replace(self, kernel=kernel[here][:, here], classes=wanted)

    def scaled(self, trace: float) -> Self:
        """Return the plan with this trace: plans are compared fairly at equal trace."""
        wanted = _amount("trace", trace)
        if self.kernel is None:
            return replace(self, target=wanted)
        if self.trace == 0:
            raise ValueError("A plan that sprinkles nothing must not be scaled. Use SprinklingPlan.uniform instead.")
        return replace(self, kernel=self.kernel * (wanted / self.trace))

    # ------------------------------------------------------------------ reading it

    @property
    def per_class(self) -> Floats:
        """Columns a class receives: the diagonal of the kernel."""
        return freeze(self._bound_parts()[0].diagonal())

    @property
    def trace(self) -> float:
        """Columns in all: the trace of the kernel."""
        return float(self._bound_parts()[0].trace())

    def factor(self) -> csr_array:
        """Return F (C x r, r at most C) with F F' = K: square roots for a diagonal kernel, else scaled eigenvectors.

        Classes that the kernel does not join are decomposed apart, so that a sparse kernel has a sparse factor.
        """
        kernel = self._bound_parts()[0]
        alone, parts = _find_connected(kernel)
        roots = np.sqrt(np.maximum(kernel.diagonal()[alone], 0.0))
        blocks = [diags_array(roots).tocsr()[:, roots > 0]]
        for members in parts:
            values, vectors = np.linalg.eigh(kernel[members][:, members].toarray())
            kept = values > ROUNDING * values[-1]
            blocks.append(csr_array(vectors[:, kept] * np.sqrt(values[kept])))
        order = np.concatenate([alone, *parts])
        return csr_array(block_diag(blocks, format="csr"))[np.argsort(order)]

    def describe(self) -> str:
        """Return a few lines of text: the kind, the trace, the classes with most columns and with none."""
        if self.classes is None:
            return f"{self.kind} plan, waiting for the classes of the data"
        amounts = self.per_class
        most = np.lexsort([self.classes, -amounts])[:SHOWN_CLASSES]
        lines = [f"{self.kind} plan for {len(self.classes)} classes, {self.trace:.4g} columns in all; most for"]
        lines += [f"  {amounts[i]:8.3g}  {self.classes[i]}" for i in most if amounts[i] > 0]
        nothing = int((amounts == 0).sum())
        return "\n".join(lines + [f"  nothing for {nothing} of them"] * (nothing > 0))

    def frame(self) -> pl.DataFrame:
        """Return one row a class: its name and what it receives."""
        import polars as pl

        return pl.DataFrame({"class": self._bound_parts()[1], "columns": self.per_class})

    def _bound_parts(self) -> tuple[csr_array, Array]:
        if self.kernel is None or self.classes is None:
            raise ValueError(f"The {self.kind} plan must know its classes first. Use plan.bound(classes).")
        return self.kernel, self.classes

    def __eq__(self, other: object) -> bool:
        """Tell whether two plans have the same kernel and classes; unbound plans, whether they were made alike."""
        if not isinstance(other, SprinklingPlan):
            return NotImplemented
        if self.kernel is None or other.kernel is None:
            waiting = [(p.kernel is None, p.kind, p.strength, p.target) for p in (self, other)]
            return waiting[0] == waiting[1]
        (mine, my_classes), (theirs, their_classes) = self._bound_parts(), other._bound_parts()
        return np.array_equal(my_classes, their_classes) and (mine - theirs).count_nonzero() == 0

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.kind, self.kernel, self.classes, self.strength, self.target)

    def __repr__(self) -> str:
        size = "unbound" if self.classes is None else f"{len(self.classes)} classes, trace {self.trace:.4g}"
        return f"SprinklingPlan.{self.kind}({size})"

    def _repr_html_(self) -> str:
        if self.classes is None:
            return f"<p>{escape(self.describe())}</p>"
        most = np.lexsort([self.classes, -self.per_class])[:SHOWN_CLASSES]
        rows = zip(self.classes[most].tolist(), self.per_class[most].tolist(), strict=True)
        return f"<p>{escape(repr(self))}</p>" + html_table(["class", "columns"], rows)


def _amount(name: str, value: float) -> float:
    if not (np.isfinite(value) and value >= 0):
        raise ValueError(f"{name} must be a finite number, not below zero. Got {value!r} instead.")
    return float(value)


def _pair_strengths(confusion: Confusion, msl: float) -> csr_array:
    """Return s_ij (C x C, symmetric, zero diagonal)."""
    return confusion.mutual_complexity(normalized=True) * _amount("msl", msl)


def _find_connected(kernel: csr_array) -> tuple[Indices, list[Indices]]:
    """Return the classes that the kernel joins with no other, and the connected parts of the others."""
    _, part = connected_components(kernel, directed=False)
    size = np.bincount(part)
    by_part = np.split(np.argsort(part, kind="stable"), np.cumsum(size)[:-1])
    return np.flatnonzero(size[part] == 1), [members for members in by_part if len(members) > 1]


def _lowest_eigenvalue(kernel: csr_array) -> float:
    """Return the lowest eigenvalue, or zero if none is below."""
    alone, parts = _find_connected(kernel)
    joined = (np.linalg.eigvalsh(kernel[members][:, members].toarray())[0] for members in parts)
    return float(min([0.0, *kernel.diagonal()[alone], *joined]))
