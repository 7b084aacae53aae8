"""The work of `untwin fit`: from a labelled table to a model and all there is to say about it."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from untwin._errors import InputError
from untwin._progress import report
from untwin.cli.input_errors import as_input_errors
from untwin.cli.known_tree import compare_with_known, known_parents
from untwin.cli.loaded_model import model_rows, only_texts
from untwin.cli.scoring import pair_records, scores_on
from untwin.crossfit.folds import choose_folds
from untwin.data.encode import TableEncoder
from untwin.data.inspect import inspect
from untwin.model import UntwinClassifier

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from untwin.data.columns import ColumnRoles
    from untwin.data.guess import ColumnUse
    from untwin.data.inspect import TableFinding
    from untwin.data.load import Table

    Labels = NDArray[np.str_]

FOLDS = 5
MANY_ROWS = 10_000  # below, starting worker processes costs more than they save
TOP_PAIRS = 10
TEST_PARTS = ("test", "testing")


@dataclass(frozen=True, slots=True)
class Settings:
    """What a user can ask of the fit."""

    preset: str = "balanced"
    scoring: str = "accuracy"
    target_error: float | None = None
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Clock:
    """Seconds by stage."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def timing(self, stage: str) -> Iterator[None]:
        """Take the time of a block."""
        start = perf_counter()
        yield
        self.seconds[stage] = round(perf_counter() - start, 3)


class Fitted(NamedTuple):
    """A model, and what its fit leaves to be told: rows marked as test, a known tree, what is odd about the table."""

    model: UntwinClassifier
    source: str
    rows: int
    columns: tuple[ColumnUse, ...]
    test: tuple[Any, Labels, list[str]] | None
    parents: dict[str, str] | None
    oddities: list[TableFinding]


def fit_table(table: Table, settings: Settings, clock: Clock) -> Fitted:
    """Look at the table and fit the rows that are not marked as test."""
    roles, source = table.roles, table.places.name
    if roles.label_separator is not None:
        message = "fit takes one class a row. Got --label-separator, which makes several of one label."
        raise InputError(message, code="multi-label", hint="Leave it out, or fit one model for each label.")
    with clock.timing("checking"):
        oddities = [finding for finding in inspect(table) if finding.severity != "note"]
    train, test = parts(table.frame, roles)
    learnt, held_out = names_of(table, roles)
    labels = labels_of(train, roles)
    _require_two_classes(labels, table)
    parents = known_parents(train, roles)
    model = _untrained(train, labels, roles, settings)
    with clock.timing("fitting"), as_input_errors(source):
        model.fit(model_rows(train, roles), labels, ids=learnt)
    held = (model_rows(test, roles), labels_of(test, roles), held_out) if test.height else None
    return Fitted(model, source, train.height, table.columns, held, parents, oddities)


def told(fitted: Fitted, clock: Clock) -> dict[str, Any]:
    """Score the rows marked as test, look for findings, and return all there is to say as one record."""
    model, test, parents = fitted.model, fitted.test, fitted.parents
    with clock.timing("scoring"), as_input_errors(fitted.source):
        report("scoring", 0, 1)
        scores = None if test is None else scores_on(model, *test[:2])
    with clock.timing("findings"):
        findings = model.find(test=test, parents=parents, keep=True)
    return {
        "source": fitted.source,
        "rows": fitted.rows,
        "judged": int(model.state_.answers.held.sum()),
        "classes": len(model.classes_),
        "columns": [asdict(use) for use in fitted.columns],
        **_told_by(model),
        "test": scores,
        "known_tree": compare_with_known(model, parents),
        "findings": [asdict(finding) for finding in findings],
        "oddities": [asdict(finding) for finding in fitted.oddities],
    }


def _told_by(model: UntwinClassifier) -> dict[str, Any]:
    """Return what a fitted model says about itself."""
    return {
        "chosen": model.candidates_[0].name,
        "scoring": model.scoring,
        "candidates": [candidate._asdict() for candidate in model.candidates_],
        "scores": model.scores_,
        "calibration_error": model.calibration_error_,
        "threshold": model.threshold_,
        "groups": [list(group) for group in model.groups_],
        "confused": pair_records(model.confusion_, TOP_PAIRS),
    }


def parts(frame: pl.DataFrame, roles: ColumnRoles) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the rows to learn from, and those marked as test; a table for a model may lack the split of the fit."""
    is_test = marked_as_test(frame, roles)
    return frame.filter(~is_test), frame.filter(is_test)


def names_of(table: Table, roles: ColumnRoles) -> tuple[list[str], list[str]]:
    """Return what the rows to learn from are called, and those marked as test: by their ids, or as `check` counts."""
    is_test, names = marked_as_test(table.frame, roles), table.places.marks()
    learnt, test = ([name for name, here in zip(names, part, strict=True) if here] for part in (~is_test, is_test))
    return learnt, test


def marked_as_test(frame: pl.DataFrame, roles: ColumnRoles) -> pl.Series:
    """Tell which rows are marked as test."""
    if roles.split is None or roles.split not in frame.columns:
        return pl.repeat(False, frame.height, dtype=pl.Boolean, eager=True)
    return frame[roles.split].str.to_lowercase().is_in(TEST_PARTS).fill_null(value=False)


def labels_of(frame: pl.DataFrame, roles: ColumnRoles) -> Labels:
    """Return the labels as an array of strings."""
    return np.array(frame[str(roles.label)].to_list(), dtype=np.str_)


def _untrained(train: pl.DataFrame, labels: Labels, roles: ColumnRoles, settings: Settings) -> UntwinClassifier:
    return UntwinClassifier(
        preset=settings.preset,
        encoder=None if only_texts(roles) else _encoder(roles),
        scoring=settings.scoring,
        order=list(roles.ordinal) or None,
        target_error=settings.target_error,
        cv=_folds(train, labels, roles),
        n_jobs=-1 if train.height >= MANY_ROWS else None,
        random_state=settings.seed,
    )


def _encoder(roles: ColumnRoles) -> TableEncoder:
    return TableEncoder(
        text=list(roles.text),
        numeric=list(roles.numeric),
        nominal=list(roles.nominal),
    )


def _folds(train: pl.DataFrame, labels: Labels, roles: ColumnRoles) -> Any:
    """Return how many folds there are; or, where rows of a group must share one, the fold of each row."""
    if roles.group is None:
        return FOLDS
    alone = pl.concat_str(pl.lit("\0"), pl.int_range(pl.len()))  # a row without a group is a group of its own
    groups = train.select(pl.col(roles.group).fill_null(alone)).to_series().to_numpy()
    codes = np.unique(labels, return_inverse=True)[1]
    try:
        return choose_folds(model_rows(train, roles), codes, FOLDS, groups=groups, in_runs=True)[1]
    except ValueError:
        message = f"Column {roles.group!r}: no class has rows in two groups, so nothing can be held out."
        raise InputError(message, code="groups", hint="Choose another --group column, or leave it out.") from None


def _require_two_classes(labels: Labels, table: Table) -> None:
    if len(np.unique(labels)) < 2:
        message = f"{table.places.name}: the rows that are not marked as test must have two classes or more."
        raise InputError(message, code="one-class", hint=f"Check the column {table.roles.split!r} (--split).")
