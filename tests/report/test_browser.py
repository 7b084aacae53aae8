"""The page in a real browser: Debian's chromium (`make browser` installs it), driven by playwright."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import replace
from functools import cache

import numpy as np
import polars as pl
import pytest
from tests.report.conftest import ROWS
from tests.report.made import cheap_model
from tests.report.test_actions import clean_texts

from untwin.data.corrections import read_corrections
from untwin.report import Report, matrix, write_report

CHROMIUM = os.environ.get("UNTWIN_CHROMIUM") or shutil.which("chromium")

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium here: run `make browser`, or set UNTWIN_CHROMIUM"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:playwright"),
]


@pytest.fixture(scope="session")
def browser():
    """A browser that runs without a sandbox, since containers run as root."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install -e '.[dev]'")
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def pages(tmp_path_factory, model_of):
    """The reports by their number of classes, each written once."""
    folder = tmp_path_factory.mktemp("pages")

    @cache
    def page(size):
        report = Report.of(model_of(size))
        return write_report(report, folder / f"{size}.html"), report

    return page


def watched(browser, path, trouble):
    """Open a file in a new tab; whatever goes wrong there or leaves it is added to `trouble`."""
    tab = browser.new_context(viewport={"width": 1400, "height": 900}).new_page()
    tab.on("console", lambda message: trouble.append(("console", message.type, message.text)))
    tab.on("pageerror", lambda error: trouble.append(("error", str(error))))
    tab.on("dialog", lambda dialog: (trouble.append(("dialog", dialog.message)), dialog.dismiss()))
    tab.on("request", lambda request: trouble.append(("request", request.url)))
    tab.goto(path.as_uri())
    tab.locator("html[data-ready]").wait_for(state="attached")
    assert trouble == [("request", path.as_uri())]
    trouble.clear()
    return tab


@pytest.fixture(scope="module", params=ROWS)
def page_of_size(request, browser, pages):
    """A page of each size, opened once, with its report; in the end nothing may have gone wrong in it."""
    path, report = pages(request.param)
    trouble = []
    tab = watched(browser, path, trouble)
    yield tab, report
    tab.context.close()
    assert trouble == []


@pytest.fixture
def sized(page_of_size):
    """The page of each size, as it was opened."""
    tab, report = page_of_size
    yield tab, report
    tab.keyboard.press("Escape")
    tab.locator("#inspector").wait_for(state="hidden")


def inspector(tab):
    found = tab.locator("#inspector")
    found.wait_for(state="visible")
    return found


def pixels(tab, canvas):
    """Return what is drawn on a canvas, as text."""
    return tab.locator(canvas).evaluate("canvas => canvas.toDataURL()")


def eventually(tab, condition):
    """Wait for what the page does on its own; it does it soon, or never."""
    for _ in range(100):
        if condition():
            return
        tab.wait_for_timeout(50)
    pytest.fail("it never happened")


def test_a_pair_opens_with_its_examples(sized):
    tab, report = sized
    pair = report.pairs.pairs[0]
    assert tab.locator(".pair").count() == len(report.pairs.pairs)
    tab.locator(".pair[open] .excerpt").first.click()
    text = inspector(tab).inner_text()
    assert pair.a in text
    assert pair.b in text
    assert "What adds most to the log-odds" in text
    tab.keyboard.press("Escape")
    tab.locator("#inspector").wait_for(state="hidden")


def test_a_click_on_a_cell_shows_its_documents(sized):
    tab, report = sized
    detail = tab.locator("#detail")
    detail.focus()
    tab.keyboard.press("ArrowDown")  # the first of the tree's order, one line down: the next class taken for it
    told = tab.locator("#status").inner_text()
    first, second = (report.matrix.lines[line] for line in report.matrix.by_tree[:2])
    assert told.startswith(f"{second} taken for {first}")
    tab.keyboard.press("Enter")
    assert re.fullmatch(r".*#cell-\d+-\d+", tab.url)
    assert second in inspector(tab).locator("h2").inner_text()


def test_a_mouse_click_on_the_diagonal_shows_the_class(sized):
    tab, report = sized
    detail = tab.locator("#detail")
    left, top, cell = (float(detail.get_attribute(f"data-{name}")) for name in ("left", "top", "cell"))
    at = {"x": left + 1.5 * cell, "y": top + 1.5 * cell}
    detail.hover(position=at)
    name = report.matrix.lines[report.matrix.by_tree[1]]
    assert tab.locator("#tip").inner_text().startswith(f"{name} answered right")
    detail.click(position=at)
    assert inspector(tab).locator("h2").inner_text() == name


def test_toggles_redraw_the_matrix(sized):
    tab, report = sized
    tab.get_by_role("radio", name="Size").check(force=True)
    tab.get_by_label("Tree", exact=True).check(force=True)
    before = pixels(tab, "#detail")
    tab.get_by_label("A to Z").check(force=True)
    by_name = pixels(tab, "#detail")
    assert by_name != before or report.matrix.by_name == report.matrix.by_tree
    tab.get_by_label("Counts").check(force=True)
    tab.get_by_label("Tree", exact=True).check(force=True)
    tab.get_by_label("Rates").check(force=True)
    assert pixels(tab, "#detail") == before


def test_many_classes_have_an_overview_and_zoom(sized):
    tab, report = sized
    many = len(report.matrix.lines) > 60
    assert tab.locator("#overview").is_visible() == many
    if not many:
        return
    size = tab.locator("#zoom-size")
    assert size.inner_text() == f"60 of {len(report.matrix.lines)}"
    before = pixels(tab, "#detail")
    tab.get_by_label("Show fewer classes").click()
    assert size.inner_text().startswith("50 of")
    tab.locator("#overview").click(position={"x": 400, "y": 300})
    assert pixels(tab, "#detail") != before
    tab.keyboard.press("ArrowRight")
    width = tab.locator("#overview").evaluate("canvas => canvas.width / (window.devicePixelRatio || 1)")
    assert width >= len(report.matrix.lines)


def test_the_table_twin_has_the_errors_of_the_matrix(sized):
    tab, report = sized
    tab.locator("#twin > summary").click()
    layer = report.matrix.layers[0]
    wrong = [count for true, said, count in zip(layer.true, layer.predicted, layer.count, strict=True) if true != said]
    rows = tab.locator("#twin-table tbody tr")
    rows.first.wait_for()
    assert rows.count() == min(len(wrong), 200)
    assert rows.first.locator("td").nth(2).inner_text() == f"{max(wrong):,}"


def test_classes_are_found_and_sorted(sized):
    tab, report = sized
    name = report.classes.classes[1].name
    tab.locator("#find").fill(name)
    tab.locator("#find").press("Enter")
    tab.locator("#find").blur()
    assert inspector(tab).locator("h2").inner_text() == name
    inspector(tab).get_by_role("button", name="Show in the matrix").click()
    assert tab.locator("#status").inner_text().startswith(f"{name} answered right")
    tab.get_by_role("button", name="Recall").click()
    shown = tab.locator("#class-table tbody tr").first.locator("td").nth(3).inner_text()
    assert shown == f"{100 * min(one.recall for one in report.classes.classes):.1f}%"


def test_it_prints(sized):
    tab, _ = sized
    tab.emulate_media(media="print")
    assert not tab.locator("nav").is_visible()
    assert tab.pdf(format="A4").startswith(b"%PDF")
    tab.emulate_media(media="screen")


def test_light_and_dark_differ(sized):
    tab, _ = sized
    light = pixels(tab, "#detail")
    tab.emulate_media(color_scheme="dark")
    eventually(tab, lambda: pixels(tab, "#detail") != light)
    tab.emulate_media(color_scheme="light")
    eventually(tab, lambda: pixels(tab, "#detail") == light)


def test_beyond_a_thousand_classes_lines_are_groups(browser, study, report, tmp_path, monkeypatch):
    monkeypatch.setattr(matrix, "MOST_LINES", 5)
    grouped = replace(report, matrix=matrix.Matrix.of(study))
    trouble = []
    tab = watched(browser, write_report(grouped, tmp_path / "grouped.html"), trouble)
    tab.locator(".pair[open]").get_by_text("All documents of the pair").click()
    assert all(part in grouped.matrix.lines for part in inspector(tab).locator("h2 bdi").all_inner_texts())
    tab.evaluate("() => { location.hash = 'class-0'; }")
    inspector(tab).get_by_role("button", name="Show in the matrix").click()
    assert "answered right" in tab.locator("#status").inner_text()
    tab.context.close()
    assert trouble == []


def test_hostile_names_and_texts_stay_text(browser, hostile_report, tmp_path):
    trouble = []
    tab = watched(browser, write_report(hostile_report, tmp_path / "hostile.html"), trouble)
    for number, one in enumerate(hostile_report.classes.classes):
        tab.evaluate("number => { location.hash = `class-${number}`; }", number)
        tab.wait_for_timeout(20)
        shown = inspector(tab).locator("h2").evaluate("heading => heading.textContent")
        assert shown == one.name.encode("utf-8", "replace").decode()
    for one in hostile_report.documents.documents[:10]:
        tab.evaluate("number => { location.hash = `document-${number}`; }", one.position)
        inspector(tab)
    tab.keyboard.press("Escape")
    tab.locator("#twin > summary").click()
    assert tab.locator("img").count() == 0
    assert tab.locator("script").count() == 2
    tab.context.close()
    assert trouble == []


def test_the_policy_stops_markup_from_text(browser, pages):
    trouble = []
    tab = watched(browser, pages(3)[0], trouble)
    tried = "() => { try { document.body.innerHTML = '<b>x</b>'; } catch { return 'blocked'; } }"
    assert tab.evaluate(tried) == "blocked"
    assert tab.locator("#summary").count() == 1
    tab.context.close()


@pytest.fixture(scope="module")
def owned(browser, tmp_path_factory):
    """A page with many labels to check, of classes with long names, some of which a spreadsheet would run."""
    texts, labels = clean_texts(8, 60)
    names = np.array([f"=class_{'very_' * 12}long_name_{number}" for number in range(8)])
    labels = names[[int(label.split()[-1]) for label in labels.tolist()]]
    report = Report.of(cheap_model(texts, labels), definitions={names[2]: "the third of eight"})
    trouble = []
    tab = watched(browser, write_report(report, tmp_path_factory.mktemp("owned") / "page.html"), trouble)
    yield tab, report
    tab.context.close()
    assert [one for one in trouble if not one[1].startswith("blob:")] == []


def test_labels_to_check_are_paged_and_searched(owned):
    tab, report = owned
    rows, told = tab.locator("#suspect-list tbody tr"), tab.locator("#suspect-list [role=status]")
    total = report.suspects.total
    assert rows.count() == 25 < total
    assert told.inner_text() == f"1 to 25 of {total} labels"
    tab.get_by_role("button", name="Next").click()
    assert rows.count() == total - 25
    assert tab.get_by_role("button", name="Next").is_disabled()
    wanted = report.suspects.suspects[-1]
    tab.locator("#suspect-search").fill(wanted.text[:29].upper())
    found = [one for one in report.suspects.suspects if wanted.text[:29] in one.text]
    assert rows.count() == len(found)
    tab.locator("#suspect-search").fill("no such label")
    assert told.inner_text() == f"0 labels ({total} in all)"
    tab.locator("#suspect-search").fill("")
    assert rows.count() == 25
    assert "long long" in rows.first.inner_text()


def test_the_labels_to_check_are_downloaded_as_a_table_that_relabel_reads(owned, tmp_path):
    tab, report = owned
    with tab.expect_download() as waiting:
        tab.locator("#suspect-download").click()
    path = tmp_path / waiting.value.suggested_filename
    waiting.value.save_as(path)
    table = pl.read_csv(path)
    assert path.name == "suspects.csv"
    assert table["id"].to_list() == [one.row for one in report.suspects.suspects]
    assert table["text"].to_list() == [one.text for one in report.suspects.suspects]
    names = report.suspects.names
    assert table["label"].to_list() == [f"'{names[one.label]}" for one in report.suspects.suspects]
    now = {str(one.row): names[one.label] for one in report.suspects.suspects}
    assert read_corrections(path, now) == []
    table.with_columns(label="suggested").write_csv(path)
    assert [one.label for one in read_corrections(path, now)] == [names[one.rather] for one in report.suspects.suspects]


@pytest.mark.parametrize("width", [1400, 1200, 420])
def test_the_page_is_as_wide_as_the_window(owned, width):
    tab, _ = owned
    tab.set_viewport_size({"width": width, "height": 900})
    for details in tab.locator("details").all():
        details.evaluate("one => { one.open = true; }")
    assert tab.evaluate("document.documentElement.scrollWidth") == width
    tab.set_viewport_size({"width": 1400, "height": 900})


def test_a_definition_is_shown_on_hover_and_beside_the_class(owned):
    tab, _ = owned
    assert tab.locator("#class-table a[href='#class-2']").first.get_attribute("title") == "the third of eight"
    tab.evaluate("() => { location.hash = 'class-2'; }")
    assert inspector(tab).locator(".definition").inner_text() == "the third of eight"
    tab.keyboard.press("Escape")
