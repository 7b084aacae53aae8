"""Roles of columns: which one is the label, which ones are text, numbers, names; given by the user or guessed.

Nothing is ever guessed about the *values* of the label: they are text exactly as written.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from untwin._errors import InputError
from untwin._wording import close_match, option
from untwin.data.guess import ColumnUse, guess_feature, guess_id, guess_label, guess_split

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import polars as pl

    from untwin.data.read import RawTable

FEATURES = ("text", "numeric", "nominal")  # roles of columns to learn from
SEVERAL = (*FEATURES, "ordinal")  # what a role may name several of


@dataclass(frozen=True, slots=True)
class ColumnRoles:
    """Which column plays which part. Naming any of text, numeric, nominal means: exactly these, no guess.

    >>> ColumnRoles(text=("body",), label="intent").features
    ('body',)
    """

    text: tuple[str, ...] = ()
    numeric: tuple[str, ...] = ()
    nominal: tuple[str, ...] = ()
    label: str | None = None
    id: str | None = None
    split: str | None = None
    group: str | None = None
    parent: str | None = None
    label_separator: str | None = None
    ordinal: tuple[str, ...] = ()

    @classmethod
    def from_json(cls, noted: object) -> ColumnRoles:
        """Return roles that were saved as JSON; raise `ValueError` if they are none: a stranger may have written them.

        >>> ColumnRoles.from_json({"text": "body"})
        Traceback (most recent call last):
            ...
        ValueError: noted must hold the columns of each role. Got {'text': 'body'} instead.
        """
        names = {field.name for field in fields(cls)}
        if not isinstance(noted, dict) or noted.keys() != names or not all(map(_is_named, noted, noted.values())):
            raise ValueError(f"noted must hold the columns of each role. Got {str(noted)[:200]} instead.")
        values: dict[str, Any] = {name: tuple(value) if name in SEVERAL else value for name, value in noted.items()}
        return cls(**values)

    @property
    def features(self) -> tuple[str, ...]:
        """The columns to learn from."""
        return (*self.text, *self.numeric, *self.nominal)

    @property
    def only_text(self) -> bool:
        """Whether rows are nothing but one text."""
        return len(self.features) == len(self.text) == 1

    def rows_of(self, frame: pl.DataFrame) -> list[str] | pl.DataFrame:
        """Return the columns to learn from as `UntwinClassifier` takes them: texts, or a frame."""
        return frame[self.text[0]].to_list() if self.only_text else frame.select(self.features)

    def named(self) -> Iterator[tuple[str, str]]:
        """Yield (column, role) for every column that has a role."""
        for role in FEATURES:
            yield from ((column, role) for column in getattr(self, role))
        for role in ("label", "id", "split", "group", "parent"):
            column = getattr(self, role)
            if column is not None:
                yield column, role

    def describe_mismatch(self, columns: Sequence[str] | None, uses: Iterable[ColumnUse]) -> str:
        """Say how these are not the columns that a model reads (None: it reads texts), for its `uses`; empty if so."""
        given = dict(self.named())
        if columns is None and self.only_text:
            return ""
        if columns is None:
            got = ", ".join(f"{option(role)} {name!r}" for name, role in given.items() if role in FEATURES)
            return f"the model reads one {option('text')} column. Got {got} instead."
        if sorted(columns) != sorted(self.features):
            return f"the model reads the columns {_list_columns(columns)}. Got {_list_columns(self.features)} instead."
        for use in uses:
            if use.role in FEATURES and use.role != given[use.name]:
                return f"the model reads {use.name!r} as {option(use.role)}. Got {option(given[use.name])} instead."
        return ""

    def rename_columns(self, given: ColumnRoles) -> ColumnRoles:
        """Return the roles with the columns that are `given` now, role by role and in the same order."""
        changes: dict[str, Any] = {
            name: getattr(given, name) for name in ("label", "id", "split") if getattr(given, name)
        }
        for role in FEATURES if given.features else ():
            before, now = getattr(self, role), getattr(given, role)
            if len(before) != len(now):
                wanted = f"as many columns as the model reads, {len(before)}"
                message = f"{option(role)} must name {wanted}. Got {len(now)} instead."
                hint = f"The model reads {_list_columns(self.features)}; name yours in the same order."
                raise InputError(message, code="other-columns", hint=hint)
            changes[role] = now
        return replace(self, **changes)


def _is_named(role: str, value: object) -> bool:
    if role in SEVERAL:
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    return value is None or isinstance(value, str)


def _list_columns(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names))


def settle_roles(raw: RawTable, given: ColumnRoles) -> tuple[ColumnRoles, tuple[ColumnUse, ...]]:
    """Return the roles with every guess made, and for each column of the table its use and the reason.

    >>> import numpy as np, polars as pl
    >>> from untwin.data.read.table import Places, RawTable
    >>> frame = pl.DataFrame({"body": ["no signal here", "low battery"], "price": ["3", "4"], "Label": ["a", "b"]})
    >>> roles, uses = settle_roles(RawTable(frame, Places("t.csv", np.arange(1, 3)), "csv"), ColumnRoles())
    >>> [(use.name, use.role) for use in uses]
    [('body', 'text'), ('price', 'numeric'), ('Label', 'label')]
    """
    require_named(raw, given)
    uses = {column: ColumnUse(column, role, f"given ({option(role)})") for column, role in given.named()}
    for role, guess in (("label", guess_label), ("id", guess_id), ("split", guess_split)):
        use = guess(raw, uses) if getattr(given, role) is None else None
        if use is not None:
            uses[use.name] = use
    label = next(use.name for use in uses.values() if use.role == "label")
    for name in raw.frame.columns:
        if name not in uses:
            named = ColumnUse(name, "unused", "other columns are named")
            uses[name] = named if given.features else guess_feature(raw, name, label)
    settled = _roles(given, [uses[name] for name in raw.frame.columns])
    if not settled.features:
        raise _nothing_to_learn(raw, uses)
    return settled, tuple(uses[name] for name in raw.frame.columns)


def _roles(given: ColumnRoles, uses: list[ColumnUse]) -> ColumnRoles:
    text, numeric, nominal = ([use.name for use in uses if use.role == role] for role in FEATURES)
    single = {use.role: use.name for use in uses}
    return replace(
        given,
        text=tuple(text),
        numeric=tuple(numeric),
        nominal=tuple(nominal),
        label=single["label"],
        id=single.get("id"),
        split=single.get("split"),
    )


def _nothing_to_learn(raw: RawTable, uses: dict[str, ColumnUse]) -> InputError:
    why = "; ".join(f"{use.name!r} {use.reason}" for use in uses.values() if use.role == "unused")
    message = f"{raw.name}: no column is left to learn from{f' ({why})' if why else ''}."
    hint = f"Name the columns with {option('text')}, {option('numeric')} or {option('nominal')}."
    return InputError(message, code="no-features", hint=hint)


def require_named(raw: RawTable, given: ColumnRoles) -> None:
    """Refuse named columns that are absent, unusable or named for two roles."""
    roles: dict[str, str] = {}
    for column, role in given.named():
        if column not in raw.frame.columns:
            near = close_match(column, raw.frame.columns)
            hint = f"Did you mean {near!r}?" if near is not None else "Name one of these."
            message = f"{raw.name}: there is no column {column!r} ({option(role)}). Columns: {raw.column_list()}."
            raise InputError(message, code="missing-column", hint=hint)
        raw.require_usable(column)
        if roles.setdefault(column, role) != role:
            message = f"Column {column!r} is named by {option(roles[column])} and by {option(role)}."
            raise InputError(message, code="two-roles", hint="Give each column one role.")
