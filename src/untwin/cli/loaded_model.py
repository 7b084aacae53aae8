"""A saved model and the columns it reads: what every command that works with a model begins with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from untwin._errors import InputError
from untwin._wording import option
from untwin.data.columns import FEATURES, ColumnRoles
from untwin.data.model_columns import ModelColumns
from untwin.store import ModelRefused

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from untwin.export.model import AnswerModel
    from untwin.model import UntwinClassifier


class LoadedModel(NamedTuple):
    """A model, what the command noted about it, and the columns that it reads."""

    model: UntwinClassifier
    about: dict[str, Any]
    columns: ModelColumns


class LoadedAnswers(NamedTuple):
    """The same of a model that only answers."""

    model: AnswerModel
    about: Mapping[str, Any]
    columns: ModelColumns


def load_model_for(folder: str | Path, named: ColumnRoles, *, explains: bool = True) -> LoadedModel:
    """Load a model; columns that the user names now replace those of the fit, role by role and in the same order.

    `explains=False`: it will be asked for answers only.
    """
    from untwin.model.saving.directory import load_model  # slow to load, and not needed by a model that only answers

    model = load_model(folder, explains=explains)
    encoded = getattr(model.state_.preprocessing, "columns_", ())
    return LoadedModel(model, model.about_, _model_columns(model, _columns_read(model, folder), encoded, folder, named))


def load_answers_for(folder: str | Path, named: ColumnRoles) -> LoadedModel | LoadedAnswers:
    """Load the same for answers alone: the part of a model that answers, or else the whole model."""
    from untwin.export.model import AnswerModel, has_answer_part

    if not has_answer_part(folder):
        return load_model_for(folder, named, explains=False)
    model = AnswerModel.load(folder)
    return LoadedAnswers(
        model, model.about_, _model_columns(model, _columns_read(model, folder), model.columns_, folder, named)
    )


def load_reasons_for(folder: str | Path, named: ColumnRoles) -> LoadedModel | LoadedAnswers:
    """Load the same for explanations: a whole model, which knows similar rows, or one that only answers."""
    from untwin.export.model import is_answer_folder

    return load_answers_for(folder, named) if is_answer_folder(folder) else load_model_for(folder, named)


def _model_columns(
    model: UntwinClassifier | AnswerModel,
    columns: list[str] | None,
    encoded: Any,
    folder: str | Path,
    named: ColumnRoles,
) -> ModelColumns:
    _refuse_other_labels(model, named)
    noted = model.about_.get("roles")
    try:
        fitted = named if noted is None else ColumnRoles.from_json(noted)
    except ValueError:
        raise _damage_error(folder) from None
    if not fitted.features:
        message = f"{folder}: the model was not made by `untwin fit` and does not say which columns it reads."
        raise InputError(message, code="no-columns", hint=f"Name them with {', '.join(map(option, FEATURES))}.")
    wrong = fitted.describe_mismatch(columns, encoded)
    if wrong and noted is None:
        raise InputError(f"{folder}: {wrong}", code="other-columns", hint="Name the columns as the model knows them.")
    if wrong:
        raise _damage_error(folder)
    return ModelColumns(columns, fitted, fitted.rename_columns(named), named)


def _columns_read(model: UntwinClassifier | AnswerModel, folder: str | Path) -> list[str] | None:
    """Return the columns of the tables that a model reads; None if it reads texts.

    A model of vectors is refused: no file that the command reads holds them.
    """
    names = getattr(model, "feature_names_in_", None)
    if names is None and hasattr(model, "n_features_in_"):
        message = f"{folder}: the model reads vectors of {model.n_features_in_} numbers, and the command reads tables."
        hint = f"Use it from Python: {type(model).__name__}.load(folder).predict(X)."
        raise InputError(message, code="vectors", hint=hint)
    return None if names is None else [str(name) for name in names]


def _damage_error(folder: str | Path) -> ModelRefused:
    message = f"{folder}: the roles of the columns are not what `untwin fit` writes."
    return ModelRefused(message, code="model-damaged", hint="Take a fresh copy of the model, or fit it again.")


def _refuse_other_labels(model: UntwinClassifier | AnswerModel, named: ColumnRoles) -> None:
    """Refuse options that would read the labels otherwise than the fit has."""
    if named.label_separator is not None:
        message = "A model has one class a row. Got --label-separator, which makes several of one label."
        raise InputError(message, code="multi-label", hint="Leave it out.")
    scale = () if model.order is None else tuple(np.asarray(model.order).astype(np.str_).tolist())
    if named.ordinal and named.ordinal != scale:
        fitted = f"{','.join(scale)!r}" if scale else "without one"
        message = f"--ordinal must be the scale of the fit, {fitted}. Got {','.join(named.ordinal)!r} instead."
        raise InputError(message, code="other-scale", hint="Leave it out.")
