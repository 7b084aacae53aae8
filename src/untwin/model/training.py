"""From rows and labels to what a model knows: views, candidates, the best of them, and what it said out of fold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from untwin.model.choice import Choice, Rules, best_of
from untwin.model.grades import low_to_high
from untwin.model.knowledge import Knowledge
from untwin.model.recipes import Situation, recipes
from untwin.model.regularisation import regularised
from untwin.model.sampling import shared_parts, workers
from untwin.model.views import settled_views

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from untwin.model.classifier import UntwinClassifier


def trained(model: UntwinClassifier, given: Any, y: NDArray[Any], ids: NDArray[Any]) -> tuple[Knowledge, Choice]:
    """Try on rows called `ids` what the parameters of a model allow, and train what does best on all rows."""
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError("y must name at least two classes. Got 1 class instead.")
    order = low_to_high(model.order, classes, model.scoring)
    n_jobs = workers(model.n_jobs, len(y))
    seed = int(check_random_state(model.random_state).randint(np.iinfo(np.int32).max))
    parts = shared_parts(given, codes, model.cv)
    wanted = {"kind": model._kind, "encoder": model.encoder, "preset": model.preset}
    views = settled_views(given, codes, parts, **wanted, n_jobs=n_jobs, seed=seed)
    grades = None if order is None else tuple(np.asarray(model.order).tolist())  # with those that may come later
    now = Situation.of(views, codes, preset=model.preset, order=grades, random_state=seed)
    now = regularised(now, views[0], codes, parts, n_jobs)
    choice = best_of(recipes(now), views, y, parts, Rules(model.scoring, order, n_jobs, seed))
    known = Knowledge.settled(
        views,
        choice.team,
        choice.heard,
        y,
        ids=ids,
        n_arrived=len(y),
        documents=None if model._kind == "matrix" else given,
    )
    return known, choice
