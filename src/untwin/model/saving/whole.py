"""What must agree in a whole model: its rows, labels, answers, members, and what was measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from untwin._errors import InputError
from untwin.model.answering import PRECISIONS
from untwin.model.learning import WHOLE, Labelling
from untwin.model.ordinal import class_order
from untwin.model.saving.agreement import require_classifier, require_named, same
from untwin.model.saving.column_references import width_of
from untwin.model.saving.noted_findings import check_findings
from untwin.model.state import FULL
from untwin.store.refusal import damage_error, require
from untwin.structure.hierarchy import GroupRange

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_LETTERS = 1_000  # of the id of a log


def check_model(model: Any) -> None:
    """Refuse what answers and the report are made with, outside of what a trial reaches."""
    known, classes = model.state_, model.classes_
    require(model._kind in ("texts", "frame", "matrix"), "A model must be of texts, a frame or a matrix")
    require(known.ids.shape == known.y.shape == (len(known.y),), "Training rows must have one id and one label each")
    _check_view(known.view, len(known.y), model)
    asked = known.answers.rows
    require(asked.min(initial=0) >= 0 and asked.max(initial=0) < len(known.y), "Answers must be those of training rows")
    require(known.answers.classes.tolist() == classes.tolist(), "Answers must be of the classes of the model")
    for part, said in (
        (known.ensemble.classes, "Members"),
        (model.confusion_.classes, "The confusion"),
        (model.graph_.classes, "The graph"),
        (model.plan_.classes, "The plan"),
        (np.unique(known.y), "Labels"),
    ):
        require(part is not None and same(np.sort(part), classes), f"{said} must be of the classes of the model")
    require(same(known.ensemble.classes, classes), "Members must be of the classes of the model")
    require(same(model.hierarchy_.classes, classes), "The tree must be of the classes of the model")
    _check_redirect(known.ensemble)
    _check_members(known)
    _check_learning(known)
    _check_ids(known.ids)
    _check_history(model)
    _check_notes(model._noted)
    _check_measured(model._noted, known.answers)
    if findings := model._noted.get("findings"):
        check_findings(findings, set(known.ids[asked].tolist()), set(classes.tolist()))
    class_order(model.order, classes, model.scoring)
    grouped = [name for group in model.groups_ for name in group]
    require(sorted(grouped) == classes.tolist(), "Groups must hold each class once")
    measured = not model.scores_ or "accuracy" in model.scores_  # none where nothing could be held out
    require(measured and model.candidates_ != [], "A model must have its scores and candidates")


def _check_view(view: Any, n_rows: int, model: Any) -> None:
    """Refuse rows that are not as many as the labels, or of another kind than the model's."""
    require(view.given is not None or view.counted is not None, "A view must have rows")
    for rows in (view.given, view.counted):
        found = n_rows if rows is None else len(rows) if isinstance(rows, list) else rows.shape[0]
        require(found == n_rows, "A view must have a row for each label")
    given, encoder = view.given, view.encoder
    require(encoder is None or type(encoder).__name__ == "TextBlocks", "Texts must be counted by blocks")
    fits = view.counted is None or (encoder is not None and view.counted.shape[1] == view.n_columns)
    require(fits, "A view must have a column for each of its terms")
    kinds = {"texts": list, "frame": pl.DataFrame}
    if model._kind in kinds:
        held = given is None and encoder is not None if given is None else isinstance(given, kinds[model._kind])
        require(held, "Rows must be of the kind of the model")
        require(not isinstance(given, list) or all(type(text) is str for text in given), "Texts must be texts")
        if isinstance(given, pl.DataFrame):
            names = np.asarray(model.feature_names_in_).tolist()
            ordered = [name for name in given.columns if name in set(names)]
            require(ordered == names, "A frame must have the columns of the model")
    else:
        numbers = given.dtype.kind in "biuf" and len(given.shape) == 2 if hasattr(given, "dtype") else False
        require(numbers and given.shape[1] == model.n_features_in_, "Rows must have the columns of the model")
        counted = any(type(part).__name__ == "NaiveBayes" for part in _trained_again(model.state_.ensemble.members))
        least = (given if isinstance(given, np.ndarray) else given.data).min(initial=0) if counted else 0
        require(bool(least >= 0), "Rows that are counted must not be negative")


def _trained_again(members: Any) -> Iterator[Any]:
    """Yield the classifiers that are trained when the model learns, but for those inside others."""
    for member in members:
        yield from (model for _, model in getattr(member.model, "estimators", ()))
        yield member.model


def _check_members(known: Any) -> None:
    """Refuse members that are no classifiers of these classes for the prepared rows."""
    require(known.kept in PRECISIONS, "What is kept of the weights must be known")
    view, fitted = known.view, known.preprocessing
    raw = None if isinstance(view.given, list | pl.DataFrame) and view.encoder is None else view.n_columns
    width = _prepared_width(fitted, raw)
    require_named([(member.name, member) for member in known.ensemble.members], "Members")
    require(len(known.ensemble.members) > 0, "An ensemble must have members")
    require(known.kept in PRECISIONS, "Weights must be kept at a known precision")
    for member in known.ensemble.members if known.kept == FULL else ():
        require_classifier(member.model, known.ensemble.trained_classes, width, f"Member {member.name}")
        answers = hasattr(member.model, "decision_function") or hasattr(member.model, "predict_proba")
        require(answers, "A member must have scores")


def _check_redirect(ensemble: Any) -> None:
    """Refuse probabilities that go nowhere, or classes that none goes to."""
    redirect = ensemble.redirect
    require((redirect is None) is (ensemble.trained is None), "Trained classes must lead to others, or be those of now")
    if redirect is not None:
        n_classes, fits = len(ensemble.classes), len(redirect.heirs) == len(ensemble.trained)
        require(fits and len(redirect.own) == n_classes, "Each trained class must lead somewhere")
        require(bool((redirect.heirs < n_classes).all()), "Trained classes must lead to classes of the model")
        require(bool((redirect.own < len(redirect.heirs)).all()), "A class must have a trained one that stands for it")
        same_class = np.array_equal(redirect.heirs[redirect.own], np.arange(n_classes))
        require(same_class, "A class must have a trained one that stands for it")


def _check_learning(known: Any) -> None:
    """Refuse what learning goes on from if it is not of the rows and classes that each part was trained on."""
    learning, classes = known.learning, known.ensemble.classes
    if learning is None:
        return
    require(learning.parts.shape == known.answers.rows.shape, "Each row that was asked about must have a part")
    require(learning.n_folds <= len(learning.parts), "There must be no more folds than rows")
    require(len(learning.points) in (0, learning.n_folds + 1), "Each part must have what it goes on from")
    rows = Labelling(classes, np.searchsorted(classes, known.y), known.answers.rows, learning.parts)
    for part, point in enumerate(learning.points, start=WHOLE):
        trained = rows.trained_on(part)
        n_classes = len(np.unique(rows.codes[trained]))
        n_columns = 1 if n_classes == 2 else n_classes
        of_rows = point.alpha is None or point.alpha.shape == (n_columns, len(trained))
        require(of_rows and (point.weights is None or point.weights.shape[1] == n_columns), "A part must be learnt on")


def _prepared_width(fitted: Any, raw: int | None) -> int | None:
    """Return how many columns the members read; None if only the preprocessing knows."""
    if fitted is None:
        return raw
    require(hasattr(fitted, "transform"), "What prepares rows must transform them")
    kind = type(fitted).__name__
    if kind == "TermWeights":
        require(raw is None or fitted.n_features_in_ == raw, "Each term must have a weight")
        return raw
    if kind == "TableEncoder":
        return int(max(place.stop for place in fitted.blocks_.values()))
    return width_of(fitted)


def _check_ids(ids: Any) -> None:
    """Refuse names of rows that are no names, or mean two rows."""
    names = ids.tolist()
    kind = str if ids.dtype == object else int
    require(all(type(name) is kind for name in names), "An id must be a text, or the number of a row")
    require(len(set(names)) == len(names), "An id must belong to one row")


def _check_history(model: Any) -> None:
    """Refuse a taxonomy that is none, or that lacks classes of the model."""
    history = vars(model).get("history_")
    if history is None:
        return
    try:
        names = history.taxonomy.by_name
    except InputError as error:
        raise damage_error(f"The taxonomy of a model must be one. {error.message}") from None
    require(all(str(label) in names for label in model.classes_.tolist()), "Classes must be those of the taxonomy")
    require(len(history.log) <= MOST_LETTERS, "A log must have a short id")


def _check_notes(noted: Any) -> None:
    """Refuse a known tree that is none: the report would fail, and not the loading."""
    require(isinstance(noted, dict), "A model must have its notes by name")
    parents = noted.get("parents")
    pairs = isinstance(parents, list) and all(isinstance(pair, tuple) and len(pair) == 2 for pair in parents)
    require(parents is None or pairs, "A known tree must be pairs of a class and its parent")
    for pair in parents or ():
        names = [pair[0], *(pair[1] if isinstance(pair[1], tuple) else pair[1:])]
        require(all(isinstance(name, str | int | float) for name in names), "Classes and parents must be names")
    for name, kind in (("findings", "Finding"), ("curves", "SpaceCurves"), ("unknown_chance", "UnknownChance")):
        things = noted.get(name) or ()
        held = things if type(things) in (list, tuple) else (things,)
        require(all(type(thing).__name__ == kind for thing in held), f"What is noted as {name} must be of its kind")
    require(isinstance(noted.get("findings", []), list), "Findings must be a list")


def _check_measured(noted: dict[str, Any], answers: Any) -> None:
    """Refuse neighbours that are no rows, or of the row's own fold, and a range that is none."""
    near, n_asked = noted.get("neighbours", noted.get("carried")), len(answers.rows)
    if near is not None:
        require(type(noted.get("searched_at")) is int, "It must be known when neighbours were searched for")
        sound = isinstance(near, np.ndarray) and near.dtype == np.int32 and near.ndim == 2 and len(near) == n_asked
        require(sound and near.min(initial=-1) >= -1, "Neighbours must be rows that were asked about, or -1")
        require(near.max(initial=-1) < n_asked, "Neighbours must be rows that were asked about")
        own = (answers.folds[near] == answers.folds[:, np.newaxis]) & (near >= 0) & answers.held[:, np.newaxis]
        require(not own.any(), "Neighbours must be rows of other folds that were asked about")
    require(isinstance(noted.get("by_words", False), bool), "Whether texts share words must be true or false")
    groups: Any = noted.get("group_range", GroupRange(1, 1, 1))
    require(isinstance(groups, GroupRange), "A range of groups must be three whole numbers")
