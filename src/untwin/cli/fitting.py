"""The work of `untwin fit`: from a labelled table to a model and all there is to say about it."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from untwin._errors import InputError
from untwin._progress import report
from untwin.cli.input_errors import as_input_errors
from untwin.cli.known_tree import compare_with_known, known_parents
from untwin.cli.scoring import pair_records, scores_on
from untwin.crossfit.folds import NothingHeldOutError, group_folds
from untwin.data.encode import TableEncoder
from untwin.data.inspect import inspect
from untwin.model import UntwinClassifier
from untwin.taxonomy import read_taxonomy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from untwin.data.columns import ColumnRoles
    from untwin.data.guess import ColumnUse
    from untwin.data.inspect import TableFinding
    from untwin.data.load import LabelledRows, Table
    from untwin.taxonomy import Taxonomy

TOP_PAIRS = 10


@dataclass(frozen=True, slots=True)
class Settings:
    """What a user can ask of the fit."""

    preset: str = "balanced"
    scoring: str = "accuracy"
    target_error: float | None = None
    time_budget: float | None = None
    seed: int = 0
    classes: str | None = None


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
    """A model, and what its fit leaves to report: rows marked as test, a known tree, what is odd about the table."""

    model: UntwinClassifier
    source: str
    rows: int
    columns: tuple[ColumnUse, ...]
    test: tuple[Any, NDArray[np.str_], list[str]] | None
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
    train, test = table.parts()
    taxonomy = None if settings.classes is None else read_taxonomy(Path(settings.classes))
    learnt, held = (_follow(part.labelled_rows(), taxonomy, source) for part in (train, test))
    if len(np.unique(learnt.y)) < 2:
        message = f"{source}: the rows that are not marked as test must have two classes or more."
        raise InputError(message, code="one-class", hint=f"Check the column {roles.split!r} (--split).")
    parents = known_parents(train.frame, roles)
    with clock.timing("fitting"), as_input_errors(source):
        model = _new_model(roles, settings, _folds(learnt, roles))
        model.fit(learnt.rows, learnt.y, ids=learnt.ids)
        if taxonomy is not None:
            model.use_taxonomy(taxonomy)
    test_rows = (held.rows, held.y, held.ids) if held.ids else None
    return Fitted(model, source, len(learnt.ids), table.columns, test_rows, parents, oddities)


def fit_record(fitted: Fitted, clock: Clock) -> dict[str, Any]:
    """Score the rows marked as test, measure what the report shows, and return all there is to say as one record."""
    model, test, parents = fitted.model, fitted.test, fitted.parents
    with clock.timing("scoring"), as_input_errors(fitted.source):
        report("scoring", 0, 1)
        scores = None if test is None else scores_on(model, *test[:2])
    with clock.timing("findings"):
        findings = model.find(test=test, parents=parents, keep=True)
        model.measure()
    return {
        "source": fitted.source,
        "rows": fitted.rows,
        "judged": int(model.state_.answers.held.sum()),
        "classes": len(model.classes_),
        "columns": [asdict(use) for use in fitted.columns],
        **_model_facts(model),
        "test": scores,
        "known_tree": compare_with_known(model, parents),
        "findings": [asdict(finding) for finding in findings],
        "oddities": [asdict(finding) for finding in fitted.oddities],
    }


def _follow(part: LabelledRows, taxonomy: Taxonomy | None, source: str) -> LabelledRows:
    """Return rows with the names that their classes have now; labels that the taxonomy lacks stay as they are."""
    if taxonomy is None:
        return part
    names, number = np.unique(part.y, return_inverse=True)
    now = [_name_now(name, taxonomy, source) for name in names.tolist()]
    return part._replace(y=np.array(now, dtype=np.str_)[number] if now else part.y)


def _name_now(name: str, taxonomy: Taxonomy, source: str) -> str:
    if name in taxonomy.by_name or not taxonomy.knows(name):
        return name
    heir = taxonomy.heir(name)
    if heir is None:
        message = f"{source}: the class {name!r} is retired, and no one class has its place."
        raise InputError(message, code="retired-class", hint="Give its rows the label that is right now.")
    return heir


def _model_facts(model: UntwinClassifier) -> dict[str, Any]:
    """Return what a fitted model says about itself."""
    return {
        "chosen": model.candidates_[0].name,
        "scoring": model.scoring,
        "candidates": [candidate._asdict() for candidate in model.candidates_],
        "scores": model.scores_,
        "calibration_error": model.calibration_error_,
        "threshold": model.threshold_ if np.isfinite(model.threshold_) else None,
        "target_error": model.target_error_,
        "sure": _sure(model),
        "groups": [list(group) for group in model.groups_],
        "confused": pair_records(model.confusion_, TOP_PAIRS),
    }


def _sure(model: UntwinClassifier) -> dict[str, float | None]:
    """Return which share of the held-out rows is answered for sure, and how many of these answers are wrong."""
    confidence, right = model.state_.answers.confidence_and_truth
    sure = confidence >= model.threshold_
    share = float(sure.mean()) if len(sure) else 0.0
    return {"share": share, "error": float((~right[sure]).mean()) if sure.any() else None}


def _new_model(roles: ColumnRoles, settings: Settings, folds: Any) -> UntwinClassifier:
    return UntwinClassifier(
        preset=settings.preset,
        encoder=None if roles.only_text else TableEncoder.from_roles(roles),
        scoring=settings.scoring,
        order=list(roles.ordinal) or None,
        target_error=settings.target_error,
        cv=folds,
        time_budget=settings.time_budget,
        n_jobs=-1,
        random_state=settings.seed,
    )


def _folds(learnt: LabelledRows, roles: ColumnRoles) -> Any:
    """Return "auto"; or, where rows of a group must share a fold, the fold of each row."""
    if learnt.groups is None:
        return "auto"
    try:
        return group_folds(learnt.rows, learnt.y, learnt.groups)
    except NothingHeldOutError:
        message = f"Column {roles.group!r}: no class has rows in two groups, so nothing can be held out."
        raise InputError(message, code="groups", hint="Choose another --group column, or leave it out.") from None
