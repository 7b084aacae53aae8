"""The page: all views in one file that asks nobody for anything.

Texts and names reach it in two ways only: through the templates, which escape, and as JSON in a block that no browser
runs, from where our modules take them as text. The policy in the page allows exactly our script and our style.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from untwin._files import write_whole
from untwin._wording import format_count
from untwin.report import charts, shown
from untwin.report.views import Report

if TYPE_CHECKING:
    from os import PathLike

    from untwin.model.auditing import Audit
    from untwin.model.classifier import UntwinClassifier
    from untwin.report.summary import Summary, Tried

MODULES = ("dom", "data", "canvas", "matrix", "inspector", "suspects", "lists", "main")  # each after those it imports
IN_PAGE = ("matrix", "classes", "documents", "suspects")  # views that are drawn in the browser
MARK = b'<meta name="generator" content="untwin '  # by which a page that is there already is known as ours
IMPORT = re.compile(r'^import .* from "\./\w+\.js";\n', re.MULTILINE)
EXPORT = re.compile(r"^export ", re.MULTILINE)


def write_report(model: UntwinClassifier | Audit | Report, path: str | PathLike[str]) -> Path:
    """Write the report of a fitted model or an audit, or one that is made already, as one HTML file; return its path.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from untwin.model import UntwinClassifier
    >>> texts = ["my card has not arrived", "card still not here", "where is the card I ordered", "no card in my post",
    ...     "the machine ate my card", "card stuck in the machine", "machine kept the card", "machine swallowed it"]
    >>> model = UntwinClassifier(preset="fast").fit(texts, ["arrival"] * 4 + ["swallowed"] * 4)
    >>> with TemporaryDirectory() as folder:
    ...     page = write_report(model, Path(folder, "cards.html")).read_text(encoding="utf-8")
    >>> page.startswith("<!doctype html>"), "http" in page.replace("http-equiv", "")
    (True, False)
    """
    report = model if isinstance(model, Report) else Report.of(model)
    target = Path(path)
    write_whole(target, page_of(report).encode("utf-8", "replace"))  # half a character in a name must not stop it
    return target


def page_of(report: Report) -> str:
    """Return the page as text."""
    style, script = stylesheet(), bundle()
    summary = report.summary
    return (
        templates()
        .get_template("report.html")
        .render(
            report=report,
            charts=charts,
            title=f"untwin: {format_count(summary.classes, 'class', 'classes')}, {format_count(summary.rows, 'row')}",
            headline=shown.headline(report),
            policy=policy(script, style),
            style=Markup(style),  # noqa: S704  (ours)
            script=Markup(script),  # noqa: S704  (ours)
            data=data_block({name: getattr(report, name).to_dict() for name in IN_PAGE}),
            number_of={name: number for number, name in enumerate(report.documents.names)},
            definition_of={one.name: one.definition for one in report.classes.classes if one.definition},
            by_position={document.position: document for document in report.documents.documents},
            drawn_groups=list(zip(report.tree.groups, charts.dendrograms(report.tree), strict=True)),
            apart=[group for group in report.tree.groups if len(group.classes) == 1],
            space_lines=shown.space_lines(report.space),
            most_errors=max((max(pair.a_as_b, pair.b_as_a) for pair in report.pairs.pairs), default=1),
            most_seconds=max(report.cost.seconds.values(), default=1.0),
            whisker=partial(_whisker, *_accuracy_range(summary)),
        )
    )


def data_block(content: Any) -> Markup:
    """Return JSON that cannot end the script element it stands in."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("<", "\\u003c"))  # noqa: S704  (no "<" is left)


@cache
def bundle() -> str:
    """Return our modules as one: a module inside a page cannot import another from it."""
    parts = [(_folder() / f"{name}.js").read_text(encoding="utf-8") for name in MODULES]
    return "\n".join(EXPORT.sub("", IMPORT.sub("", part)) for part in parts)


@cache
def stylesheet() -> str:
    """Return our style sheet."""
    return (_folder() / "report.css").read_text(encoding="utf-8")


def policy(script: str, style: str) -> str:
    """Return the content security policy: this script, this style, nothing else from anywhere."""
    return (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; base-uri 'none'; "
        "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )


def _digest(text: str) -> str:
    return "sha256-" + b64encode(sha256(text.encode()).digest()).decode()


def _folder() -> Path:
    return Path(__file__).parent / "templates"


@cache
def templates() -> Environment:
    """Return what renders our templates."""
    environment = Environment(
        loader=PackageLoader("untwin.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= shown.FILTERS
    return environment


def _accuracy_range(summary: Summary) -> tuple[float, float]:
    """Return the scale that the candidates' intervals share."""
    ends = [end for tried in summary.candidates for end in (tried.accuracy.low, tried.accuracy.high) if end is not None]
    return (min(ends), max(ends)) if ends else (0.0, 1.0)


def _whisker(low: float, high: float, tried: Tried) -> Markup:
    return charts.whisker(tried.accuracy, low, high, chosen=tried.chosen)
