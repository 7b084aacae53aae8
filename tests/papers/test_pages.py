"""Records as Markdown, JSON and one HTML page whose figures are well-formed SVG inside their canvas."""

import re
import warnings
from functools import partial
from html.parser import HTMLParser
from unittest.mock import patch
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner
from papers.__main__ import PAPERS as COMMAND_PAPERS
from papers.__main__ import papers
from papers.experiment import PAPERS, Beside, Claim, Experiment, Figure, Outcome, Table
from papers.pages.figures import draw
from papers.pages.markdown import markdown, shown
from papers.pages.writing import page

from papers import registry
from untwin._errors import InputError
from untwin.structure.hierarchy import Hierarchy

TREE = Hierarchy.from_distances([[0, 1, 4], [1, 0, 3], [4, 3, 0]], ["cat", "lynx", "<tram>"]).to_dict()
CURVES = {
    "x": "k",
    "y": "accuracy",
    "log": True,
    "series": [{"name": "a & b", "x": [5, 10, 40], "y": [0.5, 0.7, 0.6]}],
    "marks": [{"x": 10, "label": "here"}],
}
POINTS = [{"x": 0.9, "y": -0.2, "label": "C1"}, {"x": 0.1, "y": 0.8, "label": "C2"}]
FIGURES = [
    Figure("lines", "curves", CURVES),
    Figure("heat", "confusion", {"classes": ["cat", "lynx"], "rates": [[0.9, 0.1], [0.4, 0.6]]}),
    Figure("tree", "tree", TREE),
    Figure("points", "class space", {"points": POINTS}),
]


def made_run(data, quick):
    return Outcome(
        beside=[Beside("accuracy", 0.9, 0.85, "Table 1", "another copy")],
        claims=[Claim("it is <better>", "holds in part", "0.85 against 0.84")],
        tables=[Table("many rows", [{"n": n, "share": n / 7} for n in range(20)], "A note.")],
        figures=FIGURES,
    )


@pytest.fixture
def made(tmp_path, monkeypatch):
    """One made experiment instead of all others, and its empty folder of data."""
    experiment = Experiment("latent", "made", "A made experiment", "About it.", (), made_run)
    monkeypatch.setattr(registry, "EXPERIMENTS", (experiment,))
    (tmp_path / "data").mkdir()


@pytest.fixture
def written(made, tmp_path):
    """The output of the command."""
    arguments = ["latent", "--data", str(tmp_path / "data"), "-o", str(tmp_path / "out"), "--quick"]
    result = CliRunner().invoke(papers, arguments, standalone_mode=False, catch_exceptions=False)
    assert result.return_value == 0
    return tmp_path / "out", result.output


def test_the_command_writes_three_files_and_says_what_holds(written):
    folder, output = written
    assert {path.name for path in folder.iterdir()} == {"experiments", "results.md", "results.json", "results.html"}
    assert "holds in part" in output
    assert "it is <better>" in output


@pytest.mark.parametrize("name", ["results.md", "results.json", "results.html"])
def test_files_of_others_are_kept_and_its_own_are_replaced(written, tmp_path, name):
    folder, arguments = written[0], ["latent", "--data", str(tmp_path / "data"), "-o", str(written[0]), "--quick"]
    call = partial(CliRunner().invoke, papers, standalone_mode=False)
    assert call(arguments).return_value == 0
    (folder / name).write_text("my own results")
    result = call(arguments)
    assert isinstance(result.exception, InputError)
    assert result.exception.code == "foreign-file"
    assert (folder / name).read_text() == "my own results"
    assert call([*arguments, "--force"]).return_value == 0
    assert "my own results" not in (folder / name).read_text()
    (folder / name).rename(tmp_path / "precious")
    (folder / name).symlink_to(tmp_path / "precious")
    assert "is a link" in str(call([*arguments, "--force"]).exception)


def test_without_out_it_writes_to_the_current_folder(made, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments = ["latent", "--data", "data", "--quick", "--strict", "--threads", "1"]
    with patch.dict("os.environ"):  # --threads is for the whole process
        result = CliRunner().invoke(papers, arguments, standalone_mode=False, catch_exceptions=False)
    assert result.return_value == 0
    assert (tmp_path / "papers-latent" / "results.md").is_file()


def test_strict_makes_warnings_fail(made, tmp_path, monkeypatch):
    def warning_run(*given, **named):
        warnings.warn("it is odd", UserWarning, stacklevel=2)
        return []

    monkeypatch.setattr("papers.runner.run", warning_run)
    monkeypatch.setattr("papers.pages.writing.write", lambda *given: [])
    arguments = ["latent", "--data", str(tmp_path / "data"), "-o", str(tmp_path / "out")]
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        call = partial(CliRunner().invoke, papers, standalone_mode=False)
        runs = [call([*arguments, *more]) for more in ([], ["--strict"])]
    assert [run.return_value for run in runs] == [0, 1]
    assert "it is odd" in runs[0].output


def test_the_command_knows_all_papers():
    assert (*PAPERS, "all") == COMMAND_PAPERS


def test_the_page_is_well_formed_and_needs_nothing_else(written):
    text = (written[0] / "results.html").read_text()
    assert not re.search(r"(src|href)=", text)
    assert "it is &lt;better&gt;" in text
    figures = re.findall(r"<svg.*?</svg>", text, re.DOTALL)
    assert len(figures) == len(FIGURES)
    for figure in figures:
        assert len(list(ET.fromstring(figure))) >= 5  # the tree: three names, two merges
    parser = Balanced()
    parser.feed(text)
    assert parser.open == []


class Balanced(HTMLParser):
    """Checks that every element is closed."""

    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attributes):
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.kind)
def test_shapes_lie_on_the_canvas(figure):
    canvas = ET.fromstring(draw({"kind": figure.kind, "title": figure.title, "content": figure.content}))
    width, height = (float(canvas.attrib[name]) for name in ("width", "height"))
    for shape in canvas:
        attributes = shape.attrib
        for name in ("x", "x1", "x2", "cx"):
            if "transform" not in attributes:
                assert 0 <= float(attributes.get(name, 0)) <= width, (shape.tag, attributes)
        for name in ("y", "y1", "y2", "cy"):
            assert 0 <= float(attributes.get(name, 0)) <= height, (shape.tag, attributes)
        for pair in attributes.get("points", "0,0").split():
            x, y = map(float, pair.split(","))
            assert 0 <= x <= width
            assert 0 <= y <= height


def test_markdown_has_what_was_found(written):
    text = (written[0] / "results.md").read_text()
    assert "| accuracy | 0.9 | 0.85 | -0.05 | Table 1 | another copy |" in text
    assert "<summary>many rows (20 rows)</summary>" in text
    assert "**Quick run" in text
    assert "source digest: `" in text


def test_papers_without_records_are_left_out():
    assert "Paper" not in markdown([], {"runs": "none"}).split("digest")[0].replace("paper 1", "")
    assert "<h2>" not in page([], {"runs": "none"})


@pytest.mark.parametrize(("value", "cell"), [(0.5, "0.5"), (123456.7, "123,457"), (7, "7"), (False, "no"), ("a", "a")])
def test_cells(value, cell):
    assert shown(value) == cell
