"""A model that an earlier untwin saved in the present format still loads and answers the same; older ones are refused.

The golden model and its answers lie in `tests/golden`. If this test fails, models of users fail too: mend the reading,
or raise the number of the format. A new format gets a golden model of its own: `python tests/golden/make.py`; one that
is there is never made again.
"""

from __future__ import annotations

import json
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

from untwin.model import UntwinClassifier
from untwin.model.saving import describe
from untwin.store import ModelRefused
from untwin.store.manifest import FORMAT, sign_manifest

GOLDEN = Path(__file__).parents[2] / "golden"
MODEL, ANSWERS = GOLDEN / f"format-{FORMAT}", GOLDEN / f"format-{FORMAT}.json"
LARGEST = 50_000  # bytes in all


def maker():
    spec = spec_from_file_location("make", GOLDEN / "make.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_golden_model_answers_as_on_the_day_it_was_made():
    expected = json.loads(ANSWERS.read_text(encoding="utf-8"))
    found = maker().answers(UntwinClassifier.load(MODEL))
    np.testing.assert_allclose(found.pop("probabilities"), expected.pop("probabilities"), rtol=1e-5)
    assert found == expected


def test_the_golden_model_learns_on():
    model = UntwinClassifier.load(MODEL)
    learnt = model.add(["purr purr milk", "a new word here"], ["cat", "novel"])
    assert (learnt.n_rows, learnt.new_classes) == (2, ("novel",))
    assert model.predict(["a new word here"]).tolist() == ["novel"]
    assert model.ids_.tolist()[-2:] == ["added:41", "added:42"]


def test_the_golden_model_is_small_and_of_the_present_format():
    files = [*MODEL.iterdir(), ANSWERS]
    assert sum(path.stat().st_size for path in files) < LARGEST
    assert describe(MODEL)["format"] == FORMAT
    assert {path.name for path in GOLDEN.glob("format-*")} == {MODEL.name, ANSWERS.name}  # others cannot be read


def test_the_script_makes_it_and_never_over_one_that_is_there(tmp_path):
    made = maker().make(tmp_path)
    assert made.name == MODEL.name
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(SystemExit, match="is there already"):
        maker().make(tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("older", range(1, FORMAT))
def test_older_formats_are_refused_with_what_to_do(tmp_path, older):
    (tmp_path / "manifest.json").write_bytes(sign_manifest({"format": older, "facts": {}, "parts": {}, "files": {}}))
    with pytest.raises(
        ModelRefused, match=f"format {older}; this untwin reads {FORMAT}.* Fit the model again"
    ) as caught:
        UntwinClassifier.load(tmp_path)
    assert caught.value.code == "model-too-old"
