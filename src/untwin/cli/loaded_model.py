"""A saved model and the columns it reads: what every command that works with a model begins with."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from untwin._errors import InputError
from untwin._wording import option
from untwin.data.columns import ColumnRoles
from untwin.model import UntwinClassifier
from untwin.store import ModelRefused

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    import polars as pl

FEATURES = ("text", "numeric", "nominal")


@dataclass(frozen=True, slots=True, eq=False)
class LoadedModel:
    """A model, what the command noted about it, and its columns as the fit called them and as they are called here.

    `named` are those that the user has named now: a table must have them.
    """

    model: UntwinClassifier
    about: dict[str, Any]
    fitted: ColumnRoles
    here: ColumnRoles
    named: ColumnRoles

    @property
    def of_texts(self) -> bool:
        """Whether the model reads texts, and not a table with a column of texts."""
        return columns_read(self.model) is None

    def rows(self, frame: pl.DataFrame) -> list[str] | pl.DataFrame:
        """Return the rows of a typed table as the model takes them."""
        features = frame.select(self.here.features)
        features.columns = list(self.fitted.features)
        columns = columns_read(self.model)
        return self.fitted.rows_of(features) if columns is None else features.select(columns)


def load_model_for(folder: str | Path, named: ColumnRoles) -> LoadedModel:
    """Load a model; columns that the user names now replace those of the fit, role by role and in the same order."""
    model = UntwinClassifier.load(folder)
    about: dict[str, Any] = model.about_
    noted = _fitted_roles(about, folder)
    fitted = named if noted is None else noted
    _require_readable(model, folder)
    if not fitted.features:
        message = f"{folder}: the model was not made by `untwin fit` and does not say which columns it reads."
        raise InputError(message, code="no-columns", hint=f"Name them with {', '.join(map(option, FEATURES))}.")
    wrong = describe_mismatch(model, fitted)
    if wrong and noted is None:
        raise InputError(f"{folder}: {wrong}", code="other-columns", hint="Name the columns as the model knows them.")
    if wrong:
        raise _damage_error(folder)
    _refuse_other_labels(model, named)
    return LoadedModel(model, about, fitted, _rename_columns(fitted, named), named)


def columns_read(model: UntwinClassifier) -> list[str] | None:
    """Return the columns of the tables that a model reads, in its order; None if it reads texts."""
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def describe_mismatch(model: UntwinClassifier, roles: ColumnRoles) -> str:
    """Say how these columns are not what a model of texts or tables reads; empty if they are."""
    columns, given = columns_read(model), dict(roles.named())
    if columns is None:
        got = ", ".join(f"{option(role)} {name!r}" for name, role in given.items() if role in FEATURES)
        return "" if roles.only_text else f"the model reads one {option('text')} column. Got {got} instead."
    if sorted(columns) != sorted(roles.features):
        return f"the model reads the columns {_list_columns(columns)}. Got {_list_columns(roles.features)} instead."
    encoder = model.state_.preprocessing[0] if model.state_.preprocessing is not None else None
    for use in getattr(encoder, "columns_", ()):
        if use.role in FEATURES and use.role != given[use.name]:
            return f"the model reads {use.name!r} as {option(use.role)}. Got {option(given[use.name])} instead."
    return ""


def _list_columns(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names))


def _require_readable(model: UntwinClassifier, folder: str | Path) -> None:
    """Refuse a model of vectors: no file that the command reads holds them."""
    if columns_read(model) is None and hasattr(model, "n_features_in_"):
        message = f"{folder}: the model reads vectors of {model.n_features_in_} numbers, and the command reads tables."
        hint = "Use it from Python: UntwinClassifier.load(folder).predict(X)."
        raise InputError(message, code="vectors", hint=hint)


def _fitted_roles(about: dict[str, Any], folder: str | Path) -> ColumnRoles | None:
    """Return the roles that a fit has noted, which a stranger may have written; None if it was not the command's."""
    noted = about.get("roles")
    if noted is None:
        return None
    names = {field.name for field in fields(ColumnRoles)}
    lists = {*FEATURES, "ordinal"}
    if (
        isinstance(noted, dict)
        and noted.keys() == names
        and all(_is_sound(noted[name], name in lists) for name in names)
    ):
        values: dict[str, Any] = {name: tuple(value) if name in lists else value for name, value in noted.items()}
        return ColumnRoles(**values)
    raise _damage_error(folder)


def _damage_error(folder: str | Path) -> ModelRefused:
    message = f"{folder}: the roles of the columns are not what `untwin fit` writes."
    return ModelRefused(message, code="model-damaged", hint="Take a fresh copy of the model, or fit it again.")


def _is_sound(value: object, several: bool) -> bool:
    if several:
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    return value is None or isinstance(value, str)


def _refuse_other_labels(model: UntwinClassifier, named: ColumnRoles) -> None:
    """Refuse options that would read the labels otherwise than the fit has."""
    if named.label_separator is not None:
        message = "A model has one class a row. Got --label-separator, which makes several of one label."
        raise InputError(message, code="multi-label", hint="Leave it out.")
    scale = () if model.order is None else tuple(np.asarray(model.order).astype(np.str_).tolist())
    if named.ordinal and named.ordinal != scale:
        fitted = f"{','.join(scale)!r}" if scale else "without one"
        message = f"--ordinal must be the scale of the fit, {fitted}. Got {','.join(named.ordinal)!r} instead."
        raise InputError(message, code="other-scale", hint="Leave it out.")


def _rename_columns(fitted: ColumnRoles, given: ColumnRoles) -> ColumnRoles:
    changes: dict[str, Any] = {name: getattr(given, name) for name in ("label", "id", "split") if getattr(given, name)}
    if given.features:
        for role in FEATURES:
            before, now = getattr(fitted, role), getattr(given, role)
            if len(before) != len(now):
                number = len(before)
                message = (
                    f"{option(role)} must name as many columns as the model reads, {number}. Got {len(now)} instead."
                )
                hint = f"The model reads {', '.join(map(repr, fitted.features))}; name yours in the same order."
                raise InputError(message, code="other-columns", hint=hint)
            changes[role] = now
    return replace(fitted, **changes)
