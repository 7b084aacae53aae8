"""A made-up help-desk export with what real ones hold: a long tail, HTML, escapes, gaps, repeats, dates, two labels."""

from __future__ import annotations

import csv
import random
from datetime import date, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

N_CLASSES, N_RARE = 80, 25  # a rare class has one to three rows
THINGS = ["printer", "mailbox", "laptop", "invoice", "badge", "phone", "network", "screen", "licence", "account"]
TROUBLES = ["broken", "missing", "locked", "slow", "expired", "lost", "wrong", "noisy"]
FILLING = [
    "please",
    "help",
    "the",
    "my",
    "is",
    "not",
    "again",
    "with",
    "today",
    "since",
    "and",
    "why",
    "still",
    "urgent",
    "thanks",
    "after",
    "update",
]
QUEUES = ("hardware", "software", "office")
INTENTS = ("request", "incident", "question")
DRESSES = (
    "{}",
    "<p>{}</p>",
    "<div>{}<br/>\nSent from my phone</div>",
    "Hello,\r\n{}\r\n-- \r\nRegards",
    '"{}", she said &amp; left &nbsp;',
    "{} \\n\\t {{ticket}}",
    "\u202e{}\u202c",
    "Bonjour, {} s'il vous plaît",
    "Grüße: {} – danke",
)
COLUMNS = ("ticket", "opened", "summary", "queue", "category", "intent", "priority", "minutes")


def rows(seed: int = 0, *, rows_a_class: int = 5) -> list[dict[str, str]]:
    """Return the export: 80 categories, 25 of them with one to three rows; some rows occur twice."""
    rng = random.Random(seed)
    names = [f"{thing} {trouble}" for thing in THINGS for trouble in TROUBLES]
    sizes = [1 + i % 3 if i < N_RARE else rows_a_class + i % 4 for i in range(N_CLASSES)]
    made = [_row(name, rng) for name, size in zip(names, sizes, strict=True) for _ in range(size)]
    made += [dict(row) for row in rng.sample(made[-150:], 12)]
    rng.shuffle(made)
    for number, row in enumerate(made):
        row["ticket"] = f"INC-{number + 1000}"
    return made


def write(path: Path, made: list[dict[str, str]]) -> Path:
    """Write rows as a help desk exports them: CSV with a byte order mark and quoted line breaks."""
    with path.open("w", newline="", encoding="utf-8-sig") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(made)
    return path


def _row(name: str, rng: random.Random) -> dict[str, str]:
    thing, trouble = name.split()
    words = [thing, trouble, *rng.choices(FILLING, k=5)] if rng.random() < 0.85 else rng.choices(FILLING, k=4)
    rng.shuffle(words)
    text = rng.choice(DRESSES).format(" ".join(words)) if rng.random() > 0.03 else ""
    opened = date(2025, 1, 1) + timedelta(days=rng.randrange(400))
    return {
        "opened": opened.isoformat(),
        "summary": text,
        "queue": QUEUES[THINGS.index(thing) % len(QUEUES)],
        "category": name,
        "intent": rng.choice(INTENTS),  # could be the label just as well
        "priority": rng.choice(["P1", "P2", "P3", ""]),
        "minutes": str(rng.randrange(5, 300)) if rng.random() < 0.6 else "",
    }
