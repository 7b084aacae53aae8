"""One small model, fitted once by the installed command, and the tables around it."""

from __future__ import annotations

import csv
import json
import random
from types import SimpleNamespace

import pytest
from tests.conftest import run_untwin

from untwin.cli.run import run

WORDS = {
    "billing": "invoice charge payment refund bill price fee",
    "delivery": "parcel courier late delivery address arrived tracking",
    "password": "login password reset account locked code access",
    "printer": "printer paper jam toner page print cable",
}
KINDS = {"billing": "office", "delivery": "office", "password": "computer", "printer": "computer"}
FILLING = ["please", "help", "the", "my", "is", "not", "again", "with", "a", "today", "since", "and", "why"]


def sentence(label, rng):
    words = rng.choices(WORDS[label].split(), k=2) + rng.choices(FILLING, k=4)
    if rng.random() < 0.4:  # some texts speak of something else as well
        words += rng.choices(WORDS[rng.choice(list(WORDS))].split(), k=2)
    rng.shuffle(words)
    return " ".join(words)


def records(n, seed):
    rng = random.Random(seed)
    labels = [rng.choice(list(WORDS)) for _ in range(n)]
    return [
        {
            "id": f"T{seed}-{i}",
            "text": sentence(label, rng),
            "label": label,
            "split": "test" if i % 5 == 0 else "train",
            "kind": KINDS[label],
            "customer": f"c{rng.randrange(30)}",
        }
        for i, label in enumerate(labels)
    ]


def write_csv(path, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.fixture(scope="session")
def tickets(tmp_path_factory):
    """A table of 160 labelled rows, 32 of them marked as test."""
    return write_csv(tmp_path_factory.mktemp("data") / "tickets.csv", records(160, 1))


@pytest.fixture(scope="session")
def fitted(tickets, tmp_path_factory):
    """The folder of a model, and how the command ended that made it."""
    folder = tmp_path_factory.mktemp("model") / "model"
    columns = ["--text", "text", "--parent", "kind", "--group", "customer"]
    options = ["--preset", "fast", "--target-error", "0.1", *columns]
    done = run_untwin("fit", tickets, "-o", folder, "--json", *options)
    assert done.returncode == 0, done.stderr.decode()
    return SimpleNamespace(folder=folder, record=json.loads(done.stdout), talk=done.stderr.decode())


@pytest.fixture
def command(capsys):
    """The command inside this process, which is loaded already; what it prints as text and as JSON."""

    def call(*arguments):
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        shown = capsys.readouterr()
        return SimpleNamespace(code=code, out=shown.out, err=shown.err, json=lambda: json.loads(shown.out))

    return call


@pytest.fixture
def new_rows():
    """Rows without a label."""
    return [{"id": row["id"], "text": row["text"]} for row in records(12, 2)]
