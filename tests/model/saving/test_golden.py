"""A model that an earlier untwin saved still loads and answers the same.

The golden model and its answers lie in `tests/golden`. If this test fails, old models of users fail too: mend the
reading, or raise the number of the format and keep reading the old one. A new format gets a golden model of its own:
`python tests/golden/make.py` (give it another name first); those that are there are never made again.
"""

from __future__ import annotations

import json
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np

from untwin.model import UntwinClassifier
from untwin.model.saving import describe

GOLDEN = Path(__file__).parents[2] / "golden"
LARGEST = 50_000  # bytes in all


def made():
    spec = spec_from_file_location("make", GOLDEN / "make.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_golden_model_answers_as_on_the_day_it_was_made():
    expected = json.loads((GOLDEN / "format-1.json").read_text())
    found = made().answers(UntwinClassifier.load(GOLDEN / "format-1"))
    np.testing.assert_allclose(found.pop("probabilities"), expected.pop("probabilities"), rtol=1e-5)
    assert found == expected


def test_the_golden_model_learns_on():
    model = UntwinClassifier.load(GOLDEN / "format-1")
    learnt = model.add(["purr purr milk", "a new word here"], ["cat", "novel"])
    assert (learnt.n_rows, learnt.new_classes) == (2, ("novel",))
    assert model.predict(["a new word here"]).tolist() == ["novel"]


def test_the_golden_model_is_small_and_of_the_first_format():
    files = [*(GOLDEN / "format-1").iterdir(), GOLDEN / "format-1.json"]
    assert sum(path.stat().st_size for path in files) < LARGEST
    assert describe(GOLDEN / "format-1")["format"] == 1
