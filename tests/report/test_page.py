"""The page: one file that asks nobody for anything, in which data stays data."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from copy import copy
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser

import pytest
from tests.report.conftest import HOSTILE

from untwin import _progress
from untwin.model import UntwinClassifier
from untwin.report import Report, write_report
from untwin.report.page import EXPORT, IMPORT, MODULES, _folder, data_block, page_of

MEGABYTE = 1_000_000
TOP_LEVEL = re.compile(r"^(?:export )?(?:async )?(?:function|const|let|class) (\w+)", re.MULTILINE)
VOID = {"meta", "input", "br", "wbr", "img", "link"}


class Seen(HTMLParser):
    """What a page consists of: elements with their attributes, the text of scripts and styles, and its nesting."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.inside, self.open = [], {}, []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append((tag, dict(attrs)))

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        if self.open and self.open[-1][0] in ("script", "style"):
            kind = self.open[-1][1].get("type", "style")
            self.inside[kind] = self.inside.get(kind, "") + data


@pytest.fixture(scope="module")
def page(report):
    return Seen(page_of(report))


@pytest.fixture(scope="module")
def hostile(hostile_report):
    return Seen(page_of(hostile_report).encode("utf-8", "replace").decode())  # as it is written


@pytest.fixture(params=["page", "hostile"])
def any_page(request):
    return request.getfixturevalue(request.param)


def test_elements_are_closed_and_ids_are_distinct(any_page):
    assert any_page.open == []
    ids = [attributes["id"] for _, attributes in any_page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_links_lead_inside_the_page_only(any_page):
    for _, attributes in any_page.elements:
        assert all(name not in attributes for name in ("src", "style", "action", "srcdoc"))
        assert not [name for name in attributes if name.startswith("on")]
        assert attributes.get("href", "#").startswith("#")


def test_the_policy_allows_our_script_and_style_by_their_digests(page):
    (policy,) = (
        attributes["content"]
        for tag, attributes in page.elements
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    )
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    for rule, kind in (("script-src", "module"), ("style-src", "style")):
        digest = b64encode(sha256(page.inside[kind].encode()).digest()).decode()
        assert rules[rule] == f"'sha256-{digest}'"
    assert rules["default-src"] == "'none'"
    assert rules["require-trusted-types-for"] == "'script'"
    assert "unsafe" not in policy


def test_there_is_one_script_and_it_knows_no_way_to_make_markup(page):
    scripts = [attributes.get("type") for tag, attributes in page.elements if tag == "script"]
    assert scripts == ["application/json", "module"]
    code = page.inside["module"]
    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "fetch("):
        assert way not in code


def test_hostile_names_and_texts_arrive_as_text(hostile, hostile_report):
    data = json.loads(hostile.inside["application/json"])
    assert data["documents"]["names"] == [name.encode("utf-8", "replace").decode() for name in sorted(HOSTILE)]
    assert len([tag for tag, _ in hostile.elements if tag == "script"]) == 2
    assert not [tag for tag, _ in hostile.elements if tag == "img"]
    assert "49 " not in json.dumps(hostile_report.to_dict()["matrix"]["lines"])


def test_data_cannot_end_its_block():
    assert "<" not in data_block({"</script>": ["<!--", "<script>"]})
    assert json.loads(data_block({"<": 1})) == {"<": 1}


def test_modules_can_be_joined():
    sources = [(_folder() / f"{name}.js").read_text(encoding="utf-8") for name in MODULES]
    names = [name for source in sources for name in TOP_LEVEL.findall(source)]
    assert len(names) == len(set(names))
    for number, source in enumerate(sources):
        imported = re.findall(r'from "\./(\w+)\.js"', source)
        assert set(imported) <= set(MODULES[:number])
        joined = EXPORT.sub("", IMPORT.sub("", source))
        assert not re.search(r"^\s*(import|export)\b", joined, re.MULTILINE)


def test_every_section_is_there_and_named(page):
    sections = [attributes["id"] for tag, attributes in page.elements if tag == "section"]
    assert sections == [
        "summary",
        "pairs",
        "findings",
        "promises",
        "matrix",
        "tree",
        "classes",
        "documents",
        "space",
        "cost",
    ]
    ids = {attributes.get("id") for _, attributes in page.elements}
    labelled = {attributes["aria-labelledby"] for tag, attributes in page.elements if tag == "section"}
    assert labelled <= ids
    fixed = {
        attributes["href"][1:] for tag, attributes in page.elements if tag == "a" and "-" not in attributes["href"]
    }
    assert fixed <= ids


def test_charts_have_a_name_for_screen_readers(page):
    for tag, attributes in page.elements:
        if tag == "svg":
            assert attributes.get("aria-label") or attributes.get("aria-hidden") or attributes["class"] == "inline"


@pytest.mark.parametrize(("n_classes", "most"), [(300, 3), (1_000, 8)])
def test_the_page_keeps_within_its_size(model_of, n_classes, most, tmp_path):
    model = copy(model_of(n_classes))
    long = ["長い文章 " * 500] * len(model.state_.y)  # three bytes a letter: the worst that texts can do
    model.state_ = replace(model.state_, view=replace(model.state_.view, given=long))
    path = write_report(model, tmp_path / "page.html")
    assert path.stat().st_size < most * MEGABYTE


def test_a_model_of_single_rows_has_a_page(tmp_path):
    model = UntwinClassifier(preset="fast").fit(["red bus", "green tram", "blue boat"], ["a", "b", "c"])
    page = write_report(model, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Give each class two rows or more: nothing could be measured" in page


def test_making_the_report_reports_its_progress(model):
    seen = []
    with _progress.listening(lambda stage, done, total: seen.append((stage, done, total))):
        Report.of(model)
    ours = [call[1:] for call in seen if call[0] == "report"]
    assert ours[-1][0] == ours[-1][1]
