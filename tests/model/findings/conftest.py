from __future__ import annotations

import numpy as np
import pytest

from untwin.model.findings import Evidence
from untwin.model.out_of_fold import OutOfFoldAnswers


def made(y, predictions=None, **given):
    """Evidence about labels `y`: by default a sure and faultless classifier, and rows that show their class."""
    y = np.asarray(y)
    said = y if predictions is None else np.asarray(predictions)
    classes = np.unique(y)
    folds = given.pop("folds", np.arange(len(y)) % 3)
    P = given.pop("probabilities", probabilities(said, classes, folds))
    answers = OutOfFoldAnswers.of(
        classes,
        np.arange(len(y)),
        np.searchsorted(classes, y),
        np.where(folds >= 0, np.searchsorted(classes, said), -1),
        log_p=np.log(np.maximum(P, 1e-300)),
        folds=folds,
    )
    return Evidence(answers=answers, **({"X": (classes == y[:, None]).astype(float)} | given))


def probabilities(said, classes, folds, sure=0.9):
    """`sure` for what was said, the rest shared out; unknown where a row was never held out."""
    P = np.full((len(said), len(classes)), (1 - sure) / max(len(classes) - 1, 1))
    P[np.arange(len(said)), np.searchsorted(classes, said)] = sure
    P[folds < 0] = np.nan
    return P


@pytest.fixture(scope="session")
def evidence():
    """A maker of evidence."""
    return made
