"""untwin beside its peers: accuracy, macro-F1, seconds, memory and size, on text and on sentence vectors.

Every rival is trained and asked once for each split (`bench._runs`). Published splits are used where there are any,
else random ones (four fifths to one). Nothing is tuned on test rows. `--page` writes docs/comparison.md; with `--older`
rivals that were not run keep the figures of an earlier page, marked.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from papers.pages.markdown import table
from scipy.stats import norm

from bench._features import FEATURES, PACKAGES
from bench._measure import show
from bench._older import OLDER, fill_in, read_tables
from bench._peers import PEERS
from bench._runs import LARGE, QUICK_ROWS, TEXT_SETS, VECTOR_SETS, VECTORS, hits, on_all_splits, run_options
from bench._sets import paired_interval

if TYPE_CHECKING:
    import argparse

    Run = dict[str, Any]

MEASURES = {
    "macro-F1": "Macro-F1",
    "fit s": "Processor seconds to train, all threads added up",
    "predict s": "Processor seconds to answer the test rows",
    "peak MiB": "MiB by which training raised the peak of the process (its helpers not counted)",
    "model MB": "MB of the model, pickled or as it saves itself",
}


def names_for(name: str) -> list[str]:
    """Return the rivals on a set."""
    return [peer for peer, kind in PEERS.items() if kind.vectors] if name.endswith(VECTORS) else list(PEERS)


def summary(runs: dict[str, list[Run]]) -> dict[str, Run]:
    """Return for each rival the mean of each measure, the interval of its accuracy, and whether it is surely best."""
    why = {peer: next((run["failed"] for run in found if "failed" in run), "") for peer, found in runs.items()}
    done = {peer: found for peer, found in runs.items() if not why[peer]}
    figures: dict[str, Run] = {peer: {"failed": reason} for peer, reason in why.items() if reason}
    for peer, found in done.items():
        means = {key: float(np.mean([run[key] for run in found])) for key in ("accuracy", *MEASURES)}
        rows = len(found[0]["right"])  # splits of one set overlap: as wide as one split's
        half = float(norm.ppf(0.975) * np.sqrt(means["accuracy"] * (1 - means["accuracy"]) / rows))
        figures[peer] = {**means, "half": half, "best": False}
    order = sorted(done, key=lambda peer: -figures[peer]["accuracy"])
    if len(order) > 1:
        pairs = zip(done[order[0]], done[order[1]], strict=True)
        figures[order[0]]["best"] = paired_interval([hits(a) - hits(b) for a, b in pairs])["low"] > 0
    return {peer: figures[peer] for peer in runs}


def accuracy_rows(found: dict[str, dict[str, Run]]) -> list[Run]:
    """Return one row a set; bold where the paired interval to the second best excludes equality."""
    rows = []
    for name, figures in found.items():
        cells = {}
        for peer, run in figures.items():
            text = run.get("failed") or f"{100 * run['accuracy']:.1f} ± {100 * run['half']:.1f}"
            cells[peer] = f"**{text}**" if run.get("best") else text
        rows.append({"set": name, **cells})
    return rows


def measure_rows(found: dict[str, dict[str, Run]], measure: str) -> list[Run]:
    """Return one row a set."""
    return [
        {"set": name, **{peer: run.get("failed") or run[measure] for peer, run in figures.items()}}
        for name, figures in found.items()
    ]


def tables_of(found: dict[str, dict[str, Run]]) -> dict[str, list[Run]]:
    """Return the rows of each table by the line above it."""
    return {
        "Accuracy in per cent.": accuracy_rows(found),
        **{f"{what}.": measure_rows(found, measure) for measure, what in MEASURES.items()},
    }


def page(found: dict[str, dict[str, Run]], options: argparse.Namespace) -> str:
    """Return docs/comparison.md."""
    texts = {name: figures for name, figures in found.items() if not name.endswith(VECTORS)}
    numbers = {name: figures for name, figures in found.items() if name.endswith(VECTORS)}
    left_out = [name for name in (*TEXT_SETS, *VECTOR_SETS) if name not in found]
    before = read_tables(options.older) if options.older else {}
    sample = f"Quick run: {QUICK_ROWS:,} training and test rows of each set at most.\n\n" if options.quick else ""
    missing = f"Not run for want of time: {', '.join(left_out)}.\n\n" if left_out else ""
    about = f"{ABOUT} {SAID_BEFORE}" if before else ABOUT
    command = f"`{COMMAND} --seeds {options.seeds}{' --quick' if options.quick else ''}`"
    parts_of_page = ["# untwin and what one would use instead", f"{sample}{missing}{about}\n\n{command}"]
    for title, tables in (("Texts", texts), ("Sentence vectors (MiniLM)", numbers)):
        if tables:
            parts_of_page.append(f"## {title}")
            for above, rows in tables_of(tables).items():
                known = fill_in(rows, before.get((title, above), []), left_out="untwin")
                parts_of_page.append(f"{above}\n\n{table(known)}")
    parts_of_page += [
        "## Settings",
        table([{"rival": name, "settings": peer.settings} for name, peer in PEERS.items()]),
    ]
    features = [{"": name, **dict(zip(PACKAGES, cells, strict=True))} for name, cells in FEATURES.items()]
    return "\n\n".join([*parts_of_page, "## Features", table(features)]) + "\n"


COMMAND = "python -m bench.peers --data DATA --out OUT --page docs/comparison.md"
ABOUT = (
    "Written by `bench/peers.py`; nothing here is typed by hand. Published splits where there are any, else random "
    f"ones (one of {', '.join(LARGE)}); intervals are 95 % of a binomial over test rows. The best of a row is bold "
    "only where the paired interval "
    "to the second best excludes equality. Time is processor time, since the machine was shared with other work; "
    "packages and compiled loops are loaded before (once a process; untwin's in 0.7 s). "
    "`> N s`: stopped after N processor seconds (`--limit`); runs that were kept may have been given more. "
    "The size of untwin is that of its folder, training texts included. "
    "Settings are what each package's documentation recommends; untwin chooses its own by cross-validation on the "
    "training rows, which its training time includes."
)

SAID_BEFORE = (
    f"{OLDER}: a figure of an earlier page, for want of time; its seconds are those of a day when the machine was "
    "about half as fast, and it takes no part in what is bold."
)


def run_all(options: argparse.Namespace) -> dict[str, dict[str, Run]]:
    """Return the figures of all sets asked for."""
    found = {}
    for name in options.sets:
        rivals = [peer for peer in names_for(name) if not options.peers or peer in options.peers]
        found[name] = summary({peer: on_all_splits(name, peer, options) for peer in rivals})
    return found


def main() -> None:
    """Run what is asked for."""
    options = run_options(__doc__)
    options.add_argument("--sets", nargs="*", default=[*TEXT_SETS, *VECTOR_SETS])
    options.add_argument("--peers", nargs="*", choices=list(PEERS), help="only these")
    options.add_argument("--page", type=Path, help="write the comparison there")
    options.add_argument("--older", type=Path, help="a page written before, for what is not run (see --kept)")
    given = options.parse_args()
    found = run_all(given)
    if given.page:
        given.page.write_text(page(found, given), encoding="utf-8")
    show(accuracy_rows(found), as_json=given.json, seeds=given.seeds)


if __name__ == "__main__":
    main()
