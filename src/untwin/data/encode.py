"""`TableEncoder`: text, numbers, names and vectors of one table as one sparse matrix of named terms.

Glossary
--------
column   of the frame; its role (text, numeric, nominal, dense) says how it is read
block    the terms made of one column, n x (terms of the column)
X_b      a block; its energy is the mean over rows of the squared length of X_b
w_b      its weight; "balanced" is 1 / sqrt(energy), so that every column brings the same length to a row on average

One-hot blocks have one one in a row and energy 1 by nature: balancing leaves them as they are and brings texts and
vectors to their measure. A text of hundreds of words then weighs as much as one nominal column, not hundreds of times.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from itertools import accumulate, pairwise
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy.sparse import hstack
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from untwin import _progress
from untwin._compat import Interval, StrOptions, follow_sparse_interface, inherited_tags, validating
from untwin._errors import InputError
from untwin._wording import close_match
from untwin.data.column_blocks import ColumnBlock, NominalValues, Vectors
from untwin.data.counts import TextCounts
from untwin.data.discretize import MDLPDiscretizer
from untwin.data.frames import as_frame, guess_uses, text_cells
from untwin.data.guess import ColumnUse
from untwin.data.texts import on_all_cores

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl
    from numpy.typing import NDArray
    from scipy.sparse import csr_array
    from sklearn.utils import Tags

    from untwin._types import Flags
    from untwin.data.columns import ColumnRoles

    Names = str | Sequence[str]

ROLES = ("text", "numeric", "nominal", "dense")
MISSED = ("tells-label", "almost-numeric")  # codes of columns that nobody would expect to be left out


class TableEncoder(TransformerMixin, BaseEstimator):
    """Turn a table with columns of several kinds into one sparse matrix with named terms.

    Texts are counted, numbers cut into intervals that tell the classes apart, names get a term for each value, vectors
    stay as they are. Name the columns by role, or leave all four roles empty and let each column's content decide;
    `columns_` says what was decided and why.

    Parameters
    ----------
    text, numeric, nominal, dense : sequence of column names, default=()
        The columns of each role; columns that are not named are not used. `dense` columns hold vectors, such as
        embeddings, all of one length. If all four are empty, roles are guessed, and columns that look like an id, are
        constant or give the label away are left out, the last with a warning.
    counts : transformer or None, default=None
        Turns texts into terms, one copy for each text column; None: `TextCounts()`.
    discretizer : transformer or None, default=None
        Turns a numeric column into terms, one copy for each; None: `MDLPDiscretizer()`, which needs `y`.
    block_weights : "balanced", dict or None, default="balanced"
        What the terms of a column are multiplied by. "balanced": each column brings the same length to a row, root mean
        square over the training rows. A dict names columns and their weights, 1 where a column is not named. None: 1.
    min_count : int, default=2
        Nominal values that occur less often are pooled as "(rare)".

    Attributes
    ----------
    columns_ : tuple of ColumnUse
        For each column of the frame its name, role and the reason.
    blocks_ : dict
        The columns of the matrix that each used column of the frame became, as a slice.
    block_weights_ : dict
        The weight of each used column.
    n_features_in_, feature_names_in_
        Columns of the frame that `fit` saw.

    Notes
    -----
    A frame is a Polars, pandas or Arrow table, whatever else narwhals knows, or a dict of arrays. The order of its
    columns does not matter after `fit`; a column that is used and missing is an error, an unknown one is ignored with a
    warning. A missing text is an empty text; a missing number or name has a term of its own if `fit` saw one, and a
    missing or other name that it did not see is "(unseen)".

    Examples
    --------
    >>> import polars as pl
    >>> from untwin.data.encode import TableEncoder
    >>> frame = pl.DataFrame(
    ...     {
    ...         "review": ["warm wool coat", "thin summer dress", "wool jumper", "light dress"] * 5,
    ...         "price": [120.0, 45.0, 80.0, None] * 5,
    ...         "colour": ["grey", "red", "grey", "white"] * 5,
    ...     }
    ... )
    >>> encoder = TableEncoder(text=["review"], numeric=["price"], nominal=["colour"])
    >>> X = encoder.fit_transform(frame, ["winter", "summer", "winter", "summer"] * 5)
    >>> encoder.get_feature_names_out()[5:].tolist()
    ['thin', 'warm', 'wool', 'price < 62.5', 'price >= 62.5', 'price missing', 'colour=grey', 'colour=red',
     'colour=white', 'colour=(unseen)']
    >>> encoder.blocks_["price"], round(encoder.block_weights_["review"], 2)
    (slice(8, 11, None), 0.63)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{role: ["array-like", str] for role in ROLES},
        "counts": "no_validation",  # type: ignore[dict-item]
        "discretizer": "no_validation",  # type: ignore[dict-item]
        "block_weights": [StrOptions({"balanced"}), Mapping, None],
        "min_count": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        *,
        text: Names = (),
        numeric: Names = (),
        nominal: Names = (),
        dense: Names = (),
        counts: Any = None,
        discretizer: Any = None,
        block_weights: Any = "balanced",
        min_count: int = 2,
    ) -> None:
        self.text = text
        self.numeric = numeric
        self.nominal = nominal
        self.dense = dense
        self.counts = counts
        self.discretizer = discretizer
        self.block_weights = block_weights
        self.min_count = min_count

    @classmethod
    def from_roles(cls, roles: ColumnRoles) -> TableEncoder:
        """Return an encoder of the columns to learn from, each by its role."""
        return cls(text=list(roles.text), numeric=list(roles.numeric), nominal=list(roles.nominal))

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the terms of the columns of the frame `X`; `y` is needed to cut numbers and helps to guess roles."""
        self.fit_transform(X, y)
        return self

    @validating
    def fit_transform(self, X: Any, y: Any = None) -> Any:  # type: ignore[override]
        """Learn the terms of the columns of the frame `X` and return its rows."""
        frame, labels = as_frame(X), _labels(y)
        if labels is not None:
            check_consistent_length(frame, labels)
        self.feature_names_in_ = np.array(frame.columns, dtype=object)
        self.n_features_in_ = frame.width
        self.columns_ = self._settle_uses(frame, labels)
        self._blocks = [
            ColumnBlock(use.name, use.role, self._transformer(use.role)) for use in self.columns_ if use.role in ROLES
        ]
        _progress.report("columns", 0, len(self._blocks))
        parts = on_all_cores(lambda block: block.fit_transform(frame, labels), self._blocks)
        _progress.report("columns", len(parts), len(parts))
        ends = accumulate((part.shape[1] for part in parts), initial=0)
        self.blocks_ = {block.column: slice(*ends) for block, ends in zip(self._blocks, pairwise(ends), strict=True)}
        self.block_weights_ = self._weights(parts)
        return self._join_blocks(parts)

    def transform(self, X: Any) -> Any:
        """Return the rows of the frame `X` by the terms that `fit` learnt."""
        check_is_fitted(self)
        frame = as_frame(X)
        self._require_columns(frame)
        return self._join_blocks(on_all_cores(lambda block: block.transform(frame), self._blocks))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the terms; those of texts begin with their column if there are several."""
        check_is_fitted(self)
        return np.array(self.terms_of(*ROLES), dtype=object)

    def terms_of(self, *roles: str) -> list[str]:
        """Return the names of the terms of columns that have one of these roles."""
        check_is_fitted(self)
        several = sum(block.role == "text" for block in self._blocks) > 1
        asked = [block for block in self._blocks if block.role in roles]
        return [name for block in asked for name in block.names(prefixed=several)]

    @property
    def column_blocks_(self) -> list[ColumnBlock]:
        """The used columns with their fitted transformers, in the order of their terms."""
        check_is_fitted(self)
        return list(self._blocks)

    @property
    def readable_(self) -> Flags:
        """Which terms a person can read: all but runs of characters."""
        check_is_fitted(self)
        readable = np.ones(self.blocks_[self._blocks[-1].column].stop, dtype=np.bool_)
        for block in self._blocks:
            readable[self.blocks_[block.column]] = getattr(block.transformer, "readable_", True)
        return readable

    def with_named_roles(self, X: Any, y: Any = None) -> TableEncoder:
        """Return an untrained copy that names the role of each column; guessed from these rows if none is named.

        Whoever fits an encoder to several parts of the same rows, as cross-validation does, lets all of them use the
        same columns in this way: guessed anew, what gives the label away in one part may be a feature in another.
        """
        copy: TableEncoder = clone(self)
        if not self._named_roles(frame := as_frame(X)):
            uses = self._settle_uses(frame, _labels(y))
            for role in ROLES:
                setattr(copy, role, [use.name for use in uses if use.role == role])
        return copy

    def _settle_uses(self, frame: pl.DataFrame, labels: Any) -> tuple[ColumnUse, ...]:
        """Return the use of each column, as named or as guessed."""
        given = self._named_roles(frame)
        if given:
            return _named_uses(frame, given)
        uses = tuple(guess_uses(frame, labels if np.ndim(labels) == 1 else None))
        if not any(use.role in ROLES for use in uses):
            why = "; ".join(f"{use.name!r} {use.reason}" for use in uses)
            hint = "Name columns in text, numeric, nominal or dense."
            raise InputError(f"X has no column to learn from ({why}).", code="no-features", hint=hint)
        _say_what_is_missed(uses)
        return uses

    def _named_roles(self, frame: pl.DataFrame) -> dict[str, str]:
        """Return the role of each named column; refuse names that are absent or named twice."""
        given: dict[str, str] = {}
        for role in ROLES:
            names = getattr(self, role)
            for name in [names] if isinstance(names, str) else list(names):
                if name not in frame.columns:
                    raise _absence_error([name], frame)
                if name in given:
                    message = f"Column {name!r} must have one role. Got {given[name]} and {role} instead."
                    raise InputError(message, code="two-roles", hint="Name it once.")
                given[name] = role
        return given

    def _transformer(self, role: str) -> Any:
        if role == "text":
            return TextCounts() if self.counts is None else clone(self.counts)
        if role == "numeric":
            return MDLPDiscretizer(n_jobs=1) if self.discretizer is None else clone(self.discretizer)
        return NominalValues(self.min_count) if role == "nominal" else Vectors()

    def _weights(self, parts: list[csr_array]) -> dict[str, float]:
        names = [block.column for block in self._blocks]
        if isinstance(self.block_weights, Mapping):
            unknown = [name for name in self.block_weights if name not in names]
            if unknown:
                raise ValueError(f"block_weights must name columns that are used ({names}). Got {unknown} instead.")
            return {name: float(self.block_weights.get(name, 1.0)) for name in names}
        if self.block_weights is None:
            return dict.fromkeys(names, 1.0)
        energies = [float(part.data @ part.data) / part.shape[0] for part in parts]
        return {name: energy**-0.5 if energy else 1.0 for name, energy in zip(names, energies, strict=True)}

    def _join_blocks(self, parts: list[csr_array]) -> Any:
        weighted = [part * self.block_weights_[block.column] for block, part in zip(self._blocks, parts, strict=True)]
        return follow_sparse_interface(hstack(weighted, format="csr"))

    def _require_columns(self, frame: pl.DataFrame) -> None:
        """Refuse a frame without a column that is used; say which columns are unknown."""
        absent = [block.column for block in self._blocks if block.column not in frame.columns]
        if absent:
            raise _absence_error(absent, frame)
        unknown = [name for name in frame.columns if name not in set(self.feature_names_in_)]
        if unknown:
            warnings.warn(f"X has columns that fit did not see; they are ignored: {unknown}.", stacklevel=4)

    def __sklearn_tags__(self) -> Tags:
        tags = inherited_tags(super())
        tags.input_tags.two_d_array = False
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = True
        return tags


def _labels(y: Any) -> Any:
    """Return classes as numbers, which every column can use as they are; anything else unchanged."""
    if y is None or type_of_target(y, input_name="y") not in ("binary", "multiclass"):
        return y
    return np.unique(column_or_1d(y), return_inverse=True)[1]


def _say_what_is_missed(uses: tuple[ColumnUse, ...]) -> None:
    """Warn of columns that were left out by guess though they may say much about the classes."""
    missed = "; ".join(f"{use.name!r} ({use.reason})" for use in uses if use.code in MISSED)
    if missed:
        keep = "To keep one, name all columns to use by role in a TableEncoder, for UntwinClassifier as encoder=."
        warnings.warn(f"Columns are left out by guess: {missed}. {keep}", stacklevel=2)


def _named_uses(frame: pl.DataFrame, given: dict[str, str]) -> tuple[ColumnUse, ...]:
    """Return the use of each column where columns are named; texts that are all missing have no terms to learn."""
    uses = {name: ColumnUse(name, role, "given") for name, role in given.items()}
    empty = [name for name, role in given.items() if role == "text" and not (text_cells(frame[name]) != "").any()]
    if len(empty) < len(given):
        uses |= {name: ColumnUse(name, "unused", "is empty", "constant") for name in empty}
    return tuple(uses.get(name, ColumnUse(name, "unused", "other columns are named")) for name in frame.columns)


def _absence_error(names: list[str], frame: pl.DataFrame) -> InputError:
    near = close_match(names[0], frame.columns)
    hint = f"Did you mean {near!r}?" if near is not None else f"Its columns are {frame.columns[:20]}."
    return InputError(
        f"X must have the columns {names}. Got a frame without them instead.", code="missing-column", hint=hint
    )
