"""untwin beside its peers: accuracy, macro-F1, seconds, memory and size, on text and on sentence vectors.

Every rival is trained and asked once for each split, in a process of its own; what it did is kept under `--out`, so
that a run can be taken up. Published splits are used where there are any, else random ones (four fifths to one).
Nothing is tuned on test rows. `--page` writes docs/comparison.md.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import norm
from sklearn.metrics import f1_score

from bench._features import FEATURES, PACKAGES
from bench._measure import parser, peak_of, show
from bench._peers import PEERS, made
from bench._rivals import model_bytes
from bench._sets import documents, paired_interval, parts, vectors
from untwin.reproduce.pages.markdown import table

if TYPE_CHECKING:
    import argparse

    from numpy.typing import NDArray

    Array = NDArray[Any]
    Run = dict[str, Any]

TEXT_SETS = (
    "banking77",
    "clinc150",
    "reuters21578",
    "reviews_ordinal",
    "20newsgroups",
    "dbpedia219_5k",
    "arxiv",
    "webdirectory",
)
VECTOR_SETS = ("banking77", "clinc150")
VECTORS = ".minilm"
QUICK_ROWS = 1_500
LIMIT = 900  # processor seconds
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


def splits(folder: Path, name: str, seeds: int, *, quick: bool) -> list[tuple[Any, Array, Any, Array]]:
    """Return training rows, labels, test rows, labels of each split."""
    plain = name.removesuffix(VECTORS)
    rows = documents(folder, plain)
    X = vectors(folder, plain, rows) if name.endswith(VECTORS) else np.array(rows["text"].to_list(), dtype=object)
    y = rows["label"].to_numpy().astype(str)
    found = []
    for train, test in parts(rows, seeds):
        if quick:
            rng = np.random.default_rng(0)
            train, test = (np.sort(rng.permutation(part)[:QUICK_ROWS]) for part in (train, test))  # noqa: PLW2901
        known = np.isin(y[test], np.unique(y[train]))
        sides = [part if name.endswith(VECTORS) else part.tolist() for part in (X[train], X[test[known]])]
        found.append((sides[0], y[train], sides[1], y[test[known]]))
    return found


def judged(name: str, peer: str, number: int, options: argparse.Namespace) -> Run:
    """Train and ask one rival here; who takes too long is killed."""
    resource.setrlimit(resource.RLIMIT_CPU, (options.limit, options.limit))
    X, y, X_test, y_test = splits(options.data, name, options.seeds, quick=options.quick)[number]
    model = made(peer, number, vectors=name.endswith(VECTORS))
    figures: Run = {}

    def work() -> None:
        start = time.process_time()
        model.fit(X, y)
        figures["fit s"] = time.process_time() - start

    figures["peak MiB"] = peak_of(work, ())
    start = time.process_time()
    said = model.predict(X_test)
    figures["predict s"] = time.process_time() - start
    right = said == y_test
    figures["macro-F1"] = float(f1_score(y_test, said, average="macro", zero_division=0))
    figures["model MB"] = model_bytes(model) / 1e6
    return {"accuracy": float(right.mean()), **figures, "right": "".join(map(str, right.astype(int).tolist()))}


def kept(name: str, peer: str, number: int, options: argparse.Namespace) -> Run:
    """Return what a rival did on a split, from the last run or from a process of its own."""
    slug = f"{name}-{number}-{peer}{'-quick' if options.quick else ''}".replace(" ", "_").replace(",", "")
    path = options.out / f"{slug}.json"
    if not path.is_file():
        print(f"{name} {number} {peer}", file=sys.stderr, flush=True)
        path.write_text(json.dumps(_apart(name, peer, number, options)))
    run: Run = json.loads(path.read_text())
    return run


def _apart(name: str, peer: str, number: int, options: argparse.Namespace) -> Run:
    command = [sys.executable, "-W", "ignore", "-m", "bench.peers", "--data", str(options.data)]
    command += ["--seeds", str(options.seeds), "--limit", str(options.limit), "--one", name, peer, str(number)]
    done = subprocess.run(command + ["--quick"] * options.quick, capture_output=True, text=True, check=False)
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return {"failed": f"> {options.limit} s"}
    if done.returncode:
        return {"failed": "failed", "said": done.stderr.strip().splitlines()[-1:]}
    run: Run = {**json.loads(done.stdout.splitlines()[-1]), "load": os.getloadavg()[0]}
    return run


def hits(run: Run) -> NDArray[np.float64]:
    """Return which test rows a rival got right."""
    return np.array([digit == "1" for digit in run["right"]], dtype=np.float64)


def summary(runs: dict[str, list[Run]]) -> dict[str, Run]:
    """Return for each rival the mean of each measure, the interval of its accuracy, and whether it is surely best."""
    done = {peer: found for peer, found in runs.items() if not any("failed" in run for run in found)}
    figures: dict[str, Run] = {peer: {"failed": runs[peer][0]["failed"]} for peer in runs if peer not in done}
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


def page(found: dict[str, dict[str, Run]], options: argparse.Namespace) -> str:
    """Return docs/comparison.md."""
    texts = {name: figures for name, figures in found.items() if not name.endswith(VECTORS)}
    numbers = {name: figures for name, figures in found.items() if name.endswith(VECTORS)}
    left_out = [name for name in (*TEXT_SETS, *(f"{name}{VECTORS}" for name in VECTOR_SETS)) if name not in found]
    sample = f"Quick run: {QUICK_ROWS:,} training and test rows of each set at most.\n\n" if options.quick else ""
    missing = f"Not run for want of time: {', '.join(left_out)}.\n\n" if left_out else ""
    parts_of_page = [
        "# untwin and what one would use instead",
        f"{sample}{missing}{ABOUT}\n\n`{COMMAND} --seeds {options.seeds}`",
    ]
    for title, tables in (("Texts", texts), ("Sentence vectors (MiniLM)", numbers)):
        if tables:
            parts_of_page += [f"## {title}", f"Accuracy in per cent.\n\n{table(accuracy_rows(tables))}"]
            parts_of_page += [f"{MEASURES[key]}.\n\n{table(measure_rows(tables, key))}" for key in MEASURES]
    parts_of_page += [
        "## Settings",
        table([{"rival": name, "settings": peer.settings} for name, peer in PEERS.items()]),
    ]
    features = [{"": name, **dict(zip(PACKAGES, cells, strict=True))} for name, cells in FEATURES.items()]
    return "\n\n".join([*parts_of_page, "## Features", table(features)]) + "\n"


COMMAND = "python -m bench.peers --data DATA --out OUT --page docs/comparison.md"
ABOUT = (
    "Written by `bench/peers.py`; nothing here is typed by hand. Published splits where there are any, else random "
    "ones; intervals are 95 % of a binomial over test rows. The best of a row is bold only where the paired interval "
    "to the second best excludes equality. Time is processor time, since the machine was shared with other work. "
    "Settings are what each package's documentation recommends; untwin chooses its own by cross-validation on the "
    "training rows, which its training time includes."
)


def run_all(options: argparse.Namespace) -> dict[str, dict[str, Run]]:
    """Return the figures of all sets asked for."""
    options.out.mkdir(parents=True, exist_ok=True)
    found = {}
    for name in options.sets:
        count = len(list(parts(documents(options.data, name.removesuffix(VECTORS)), options.seeds)))
        rivals = [peer for peer in names_for(name) if not options.peers or peer in options.peers]
        found[name] = summary({peer: [kept(name, peer, i, options) for i in range(count)] for peer in rivals})
    return found


def main() -> None:
    """Run what is asked for."""
    options = parser(__doc__)
    options.add_argument("--out", type=Path, default=Path("build/peers"), help="where results are kept")
    options.add_argument("--sets", nargs="*", default=[*TEXT_SETS, *(f"{name}{VECTORS}" for name in VECTOR_SETS)])
    options.add_argument("--peers", nargs="*", choices=list(PEERS), help="only these")
    options.add_argument("--seeds", type=int, default=3, help="splits of a set that has none")
    options.add_argument("--quick", action="store_true", help=f"{QUICK_ROWS} rows at most")
    options.add_argument("--limit", type=int, default=LIMIT, help="processor seconds for one rival on one split")
    options.add_argument("--page", type=Path, help="write the comparison there")
    options.add_argument("--one", nargs=3, metavar=("SET", "PEER", "SPLIT"), help="one run, as JSON")
    given = options.parse_args()
    if given.one:
        print(json.dumps(judged(given.one[0], given.one[1], int(given.one[2]), given)))
        return
    found = run_all(given)
    if given.page:
        given.page.write_text(page(found, given), encoding="utf-8")
    show(accuracy_rows(found), as_json=given.json, seeds=given.seeds)


if __name__ == "__main__":
    main()
