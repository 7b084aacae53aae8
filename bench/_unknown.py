"""Rows that belong to no class: which measure finds them, chosen on training rows, and what it finds of test rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse
from scipy.special import logsumexp
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.preprocessing import normalize

from untwin import UntwinClassifier
from untwin.answer.spread import spread_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from bench.promises import Rows

    Array = NDArray[Any]

LOST = 0.05
ROUNDS, FOLDS = 4, 5
SHARE = 0.1  # of the classes, left out at once
AT_ONCE = 500
NOTHING = {"lost": float("nan"), "found": float("nan")}
BUILT = "entropy"  # the logarithm of the spread that is built in


class Asked(NamedTuple):
    """Rows that a model was asked about: which belong to no class, and scores, the larger the less they seem to."""

    unknown: Array
    scores: dict[str, Array]


def chosen_by(rows: Rows, preset: str) -> list[dict[str, Any]]:
    """Return how well measures find the training rows of classes that were left out of the training rows."""
    rounds = [_asked(rows, preset, *part)[1] for part in _rounds(rows)]
    figures: dict[str, list[dict[str, float]]] = {}
    for one in rounds:
        others = [other for other in rounds if other is not one]
        for name, score in {**one.scores, **_combined(one, others)}.items():
            figures.setdefault(name, []).append(_detection(score, one.unknown))
    told = {"set": rows.name, "rows": sum(len(one.unknown) for one in rounds), "preset": preset}
    return [
        {**told, "by": name, **{key: float(np.mean([part[key] for part in parts])) for key in parts[0]}}
        for name, parts in figures.items()
    ]


def _rounds(rows: Rows) -> Iterator[tuple[Array, Array, Array]]:
    """Yield for some folds of the training rows what is trained on, what is asked about, and the classes left out."""
    training = np.flatnonzero(~rows.test & ~rows.outside)
    classes = np.random.default_rng(0).permutation(np.unique(rows.y[training]))
    n_out = max(1, int(SHARE * len(classes)))
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(training, rows.y[training])
    for number, (train, asked) in enumerate(folds):
        if number < ROUNDS:
            out = classes.take(np.arange(number * n_out, (number + 1) * n_out), mode="wrap")
            yield training[train[~np.isin(rows.y[training[train]], out)]], training[asked], out


def _asked(rows: Rows, preset: str, train: Array, asked: Array, out: Array) -> tuple[UntwinClassifier, Asked]:
    model = UntwinClassifier(preset=preset).fit(rows.take(train), rows.y[train])
    unknown = rows.outside[asked] | np.isin(rows.y[asked], out)
    return model, Asked(unknown, unknown_scores(model, rows.take(asked)))


def _combined(one: Asked, others: list[Asked]) -> dict[str, Array]:
    """Return combinations whose weights were learnt in the other rounds, of other rows and other classes."""
    pairs = {f"{BUILT} and {name}": (BUILT, name) for name in BY_ROWS if name in one.scores}
    sets = {**pairs, "all": tuple(one.scores)}
    found = {}
    for name, kept in sets.items():
        X = np.concatenate([np.column_stack([part.scores[score] for score in kept]) for part in others])
        mean, scale = X.mean(axis=0), X.std(axis=0) + 1e-9
        fitted = LogisticRegression(class_weight="balanced", C=0.1)
        fitted.fit((X - mean) / scale, np.concatenate([part.unknown for part in others]))
        here = np.column_stack([one.scores[score] for score in kept])
        found[name] = fitted.decision_function((here - mean) / scale)
    return found


BY_ROWS = ("nearest row", "nearest mean of a class", "distance within classes", "the same, relative")


def of_test_rows(rows: Rows, preset: str) -> list[dict[str, Any]]:
    """Return how well rows of no class are found among test rows, and what the threshold that is built in does."""
    out: Array = np.empty(0, dtype=object)
    if not rows.outside.any():  # leave a tenth of the classes out
        classes = np.unique(rows.y)
        out = np.random.default_rng(0).choice(classes, max(1, int(SHARE * len(classes))), replace=False)
    test, n = rows.test, len(rows.y)
    if not test.any():
        test = np.isin(np.arange(n), train_test_split(np.arange(n), test_size=0.3, random_state=0)[1])
    train, asked = np.flatnonzero(~test & ~rows.outside & ~np.isin(rows.y, out)), np.flatnonzero(test)
    model, found = _asked(rows, preset, train, asked, out)
    flagged, unknown = model.unknown(rows.take(asked)), found.unknown
    told = {"set": rows.name, "rows": len(asked), "unknown": int(unknown.sum()), "preset": preset}
    built = {"lost": float(flagged[~unknown].mean()), "found": float(flagged[unknown].mean())}
    return [
        {**told, "by": name, **_detection(score, unknown), **(built if name == BUILT else NOTHING)}
        for name, score in found.scores.items()
    ]


def unknown_scores(model: UntwinClassifier, given: Any) -> dict[str, Array]:
    """Return scores of one model, each the larger the more a row looks like one of no class."""
    known, P = model.state_, model.predict_proba(given)
    rows, seen = known.terms(known.view.encode(given)), known.terms(known.view.rows)
    scores = {
        BUILT: np.log(spread_of(P)),
        "sum of square roots": np.sqrt(P).sum(axis=1),
        "largest probability": -np.log(P.max(axis=1)),
    }
    member = next((one for one in known.ensemble.members if hasattr(one.model, "decision_function")), None)
    if member is not None:
        D = member.model.decision_function(rows)
        D = np.column_stack([-D, D]) if D.ndim == 1 else D
        scores["energy"] = -logsumexp(D / member.temperature, axis=1)
        scores["energy, against the mean"] = scores["energy"] + D.mean(axis=1) / member.temperature
    codes = np.searchsorted(model.classes_, known.y)
    return {**scores, **near(rows, seen, codes), **(distances(rows, seen, codes) if not issparse(seen) else {})}


def near(rows: Any, seen: Any, codes: Array) -> dict[str, Array]:
    """Return one minus cosines with training rows and with the means of classes."""
    dense = not issparse(seen)
    if dense:
        mean, scale = seen.mean(axis=0), seen.std(axis=0) + 1e-9
        rows, seen = (rows - mean) / scale, (seen - mean) / scale
    rows, seen = (normalize(part if dense else csr_array(part)) for part in (rows, seen))
    members = csr_array((np.ones(len(codes)), (codes, np.arange(len(codes)))))
    means = normalize(members @ seen)
    first, tenth, mean_of_class = [], [], []
    for start in range(0, rows.shape[0], AT_ONCE):
        part = rows[start : start + AT_ONCE]
        cosines, of_means = part @ seen.T, part @ means.T
        cosines, of_means = (one if isinstance(one, np.ndarray) else one.toarray() for one in (cosines, of_means))
        best = np.partition(cosines, -10, axis=1)[:, -10:]
        first.append(best.max(axis=1))
        tenth.append(best.min(axis=1))
        mean_of_class.append(of_means.max(axis=1))
    found = {"nearest row": first, "tenth nearest row": tenth, "nearest mean of a class": mean_of_class}
    return {name: 1 - np.concatenate(parts) for name, parts in found.items()}


def distances(rows: Any, seen: Any, codes: Array) -> dict[str, Array]:
    """Return distances from the nearest mean of a class by the covariance within classes, and less that from the mean.

    The second is known as relative Mahalanobis distance.
    """
    rows, seen = rows.astype(np.float64), seen.astype(np.float64)
    means = np.stack([seen[codes == code].mean(axis=0) for code in range(codes.max() + 1)])
    whiten, whiten_all = _whitening(seen - means[codes]), _whitening(seen - seen.mean(axis=0))
    R, M = rows @ whiten, means @ whiten
    nearest = np.min((R * R).sum(axis=1)[:, np.newaxis] - 2 * R @ M.T + (M * M).sum(axis=1), axis=1)
    overall = np.square((rows - seen.mean(axis=0)) @ whiten_all).sum(axis=1)
    # per column, so that combinations get numbers of one size; square roots, as distances
    root = np.sqrt(np.maximum(nearest, 0))
    return {"distance within classes": root, "the same, relative": nearest - overall}


def _whitening(centred: Array) -> Array:
    covariance = centred.T @ centred / len(centred)
    values, vectors = np.linalg.eigh(covariance)
    return vectors / np.sqrt(np.maximum(values, 1e-3 * values.mean()))


def _detection(score: Array, unknown: Array) -> dict[str, float]:
    limit = np.quantile(score[~unknown], 1 - LOST)
    return {"AUC": float(roc_auc_score(unknown, score)), "found at 5% lost": float((score[unknown] > limit).mean())}
