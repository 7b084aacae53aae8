"""Write what was found: results.md, results.json and results.html, which needs nothing else."""

from __future__ import annotations

import json
import os
import platform
from typing import TYPE_CHECKING, Any

import numpy
import scipy
import sklearn
from jinja2 import Environment, PackageLoader, StrictUndefined

from papers.digests import data_digest, source_digest
from papers.experiment import PAPERS
from papers.pages.figures import draw
from papers.pages.markdown import INTRODUCTION, markdown, shown
from untwin import __version__
from untwin._files import require_ours, write_whole

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from papers.experiment import Experiment

    Record = dict[str, Any]

SCHEMA_VERSION = 1
NAMES = ("results.md", "results.json", "results.html")
SOURCE = "papers/"
MARK = f"({SOURCE})".encode()  # beside the digest of the source, near the beginning of each file


def write(records: Sequence[Record], experiments: Sequence[Experiment], data: Path, out: Path) -> list[Path]:
    """Write all three files and return where they are."""
    facts = facts_of(records, experiments, data)
    content = {"schema_version": SCHEMA_VERSION, "facts": facts, "experiments": list(records)}
    texts = (
        markdown(records, facts),
        json.dumps(content, indent=1, allow_nan=False) + "\n",
        page(records, facts),
    )
    files = dict(zip(NAMES, texts, strict=True))
    for name, text in files.items():
        write_whole(out / name, text.encode())
    return [out / name for name in files]


def require_places(out: Path, *, force: bool) -> None:
    """Refuse, before the work begins, to write over files of these names that no run of ours has written."""
    if out.is_dir():
        for name in NAMES:
            require_ours(out / name, MARK, force=force)


def facts_of(records: Sequence[Record], experiments: Sequence[Experiment], data: Path) -> dict[str, str]:
    """Return what the figures belong to."""
    quick = sum(record["quick"] for record in records)
    seconds = sum(record["seconds"] for record in records)
    versions = {"untwin": __version__, "NumPy": numpy.__version__, "SciPy": scipy.__version__}
    versions |= {"scikit-learn": sklearn.__version__, "Python": platform.python_version()}
    return {
        "source digest": f"`{source_digest()}` ({SOURCE})",
        "data digest": f"`{data_digest(data, [name for one in experiments for name in one.reads])}`",
        "runs": f"{len(records)} experiments, of which {quick} quick, {seconds / 60:.0f} minutes in all",
        "machine": f"{os.cpu_count()} cores, shared with other work while this ran",
        "versions": ", ".join(f"{name} {version}" for name, version in versions.items()),
    }


def page(records: Sequence[Record], facts: dict[str, str]) -> str:
    """Return the HTML page, figures included."""
    environment = Environment(
        loader=PackageLoader("papers", "pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"shown": shown, "draw": draw}
    papers = {title: [r for r in records if r["paper"] == paper] for paper, title in PAPERS.items()}
    return environment.get_template("page.html.jinja").render(papers=papers, facts=facts, introduction=INTRODUCTION)
