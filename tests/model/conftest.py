"""Generated texts with twins: classes 2k and 2k + 1 share half of their words."""

from __future__ import annotations

import numpy as np
import pytest

from untwin.model.selection.averages import Averages
from untwin.model.selection.select import Trials

COMMON = [f"com{number}" for number in range(60)]


def twin_texts(n: int, n_classes: int, seed: int = 0) -> tuple[list[str], np.ndarray]:
    """Return n texts of nine words, the classes in turn, and their labels."""
    rng = np.random.default_rng(seed)
    texts, labels = [], []
    for row in range(n):
        number = row % n_classes
        stems = [f"shared{number // 2}" if rng.random() < 0.5 else f"own{number}" for _ in range(3)]
        own = [f"{stem}x{rng.integers(8)}" for stem in stems]
        texts.append(" ".join([*rng.choice(COMMON, 6), *own]))
        labels.append(f"class{number:02d}")
    return texts, np.array(labels)


def let_stack_win(patch: pytest.MonkeyPatch) -> None:
    """Let the stack win, whatever it is worth."""
    patch.setattr(Trials, "_is_ahead", lambda self, scores, rival, rows: True)
    patch.setattr(Trials, "_is_better", lambda self, stack, rival: True)
    patch.setattr(Averages, "grow", lambda self: [self._candidates[-1]])


@pytest.fixture(scope="session")
def make_texts():
    """Return `twin_texts`."""
    return twin_texts


@pytest.fixture(scope="session")
def texts() -> list[str]:
    return twin_texts(160, 4)[0]


@pytest.fixture(scope="session")
def labels() -> np.ndarray:
    return twin_texts(160, 4)[1]


@pytest.fixture(scope="session")
def new() -> list[str]:
    return twin_texts(80, 4, seed=1)[0]


@pytest.fixture(scope="session")
def truth() -> np.ndarray:
    return twin_texts(80, 4, seed=1)[1]
