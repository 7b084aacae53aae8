"""What is found is kept, keyed by source, data and options; an interrupted run is taken up."""

import json

import numpy as np
import pytest
from papers.experiment import PAPERS, Beside, Claim, Experiment, Outcome, Table
from papers.registry import EXPERIMENTS, chosen

from papers import digests, runner
from untwin._errors import InputError
from untwin._progress import listening


@pytest.fixture
def counted(tmp_path):
    """An experiment that counts how often it runs, its data folder and its output."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "rows.txt").write_text("one")
    calls = []

    def run(data, quick):
        calls.append(quick)
        rows = [{"accuracy": np.float64(1 / 3), "missing": float("nan"), "n": np.int64(3), "yes": True}]
        return Outcome(
            tables=[Table("figures", rows)],
            claims=[Claim("it works", "holds", "so")],
            beside=[Beside("accuracy", 0.5, 0.4, "Table 1", "another copy")],
        )

    return Experiment("weights", "counted", "Counted", "About it.", ("rows.txt",), run), tmp_path, calls


def again(counted, **options):
    experiment, folder, _ = counted
    (record,) = runner.run([experiment], folder / "data", folder / "out", **{"quick": False, **options})
    return record


def test_the_second_run_takes_what_the_first_one_found(counted):
    assert again(counted) == again(counted)
    assert counted[2] == [False]


def test_quick_and_full_runs_are_kept_apart_but_a_full_one_serves_both(counted):
    assert again(counted, quick=True)["quick"]
    assert not again(counted)["quick"]
    assert not again(counted, quick=True)["quick"]
    assert counted[2] == [True, False]


def test_other_data_or_source_runs_again(counted, monkeypatch):
    again(counted)
    digests._of_file.cache_clear()
    (counted[1] / "data" / "rows.txt").write_text("two")
    again(counted)
    monkeypatch.setattr(runner, "paper_digest", lambda paper: "another source")
    again(counted)
    assert len(counted[2]) == 3


def test_a_record_that_was_cut_off_is_made_anew(counted):
    again(counted)
    (path,) = (counted[1] / "out" / "experiments").iterdir()
    path.write_text(path.read_text()[:50])
    assert again(counted)["name"] == "counted"
    assert len(counted[2]) == 2


def test_records_are_plain_json(counted):
    record = again(counted)
    assert record == json.loads(json.dumps(record, allow_nan=False))
    assert record["tables"][0]["rows"] == [{"accuracy": 0.333333, "missing": None, "n": 3, "yes": True}]
    assert record["seconds"] >= 0


def test_missing_data_is_said_before_anything_runs(counted):
    experiment, folder, calls = counted
    lacking = Experiment("weights", "lacking", "Lacking", "", ("nothing.txt",), experiment.run)
    with pytest.raises(InputError, match=r"nothing\.txt is not there\. Give --data"):
        runner.run([experiment, lacking], folder / "data", folder / "out", quick=True)
    assert calls == []


def test_progress_names_the_experiments(counted):
    seen = []
    with listening(lambda *told: seen.append(told)):
        again(counted)
    assert seen == [("weights: Counted", 0, 1), ("experiments", 1, 1)]


def test_names_are_unique_and_papers_known():
    places = [(experiment.paper, experiment.name) for experiment in EXPERIMENTS]
    assert len(set(places)) == len(places)
    assert {paper for paper, _ in places} == set(PAPERS)
    assert all(experiment.about and experiment.title for experiment in EXPERIMENTS)


def test_experiments_are_chosen_by_paper_and_name():
    assert len(chosen("all")) == len(EXPERIMENTS)
    assert [one.name for one in chosen("latent", ["noise"])] == ["noise"]
    with pytest.raises(InputError, match=r"no experiment 'noise' in weights. There are: accuracy, puzzle, similarity"):
        chosen("weights", ["noise"])


def test_the_source_digest_sees_what_figures_come_from(monkeypatch, tmp_path):
    for name in (*digests.SHARED, "latent/one.py", "pages/page.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("import math\n\nVALUE = 1\n")
    monkeypatch.setattr(digests, "HERE", tmp_path)
    before = digests.source_digest()
    same = b'"""Says why."""\r\n\r\nfrom papers import experiment\r\n\r\nVALUE = 1  # a comment\r\n'
    (tmp_path / "latent/one.py").write_bytes(same)
    (tmp_path / "pages/page.py").write_text("changed")
    (tmp_path / "latent/notes.txt").write_text("no source")
    assert digests.source_digest() == before
    (tmp_path / "latent/one.py").write_text("VALUE = 2")
    assert digests.source_digest() != before
