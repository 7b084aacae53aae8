"""Make the golden model: `python tests/golden/make.py`. Only for a new format; earlier golden models stay, and load.

A small model of generated texts, and what it answers, as this version of untwin saves them. Later versions must read it
and answer the same.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from untwin.model import UntwinClassifier

HERE = Path(__file__).parent
MODEL, ANSWERS = HERE / "format-1", HERE / "format-1.json"
ANIMALS = {
    "ape": ["banana", "tree", "fur", "climb"],
    "bee": ["honey", "wing", "hive", "fly"],
    "cat": ["fur", "paw", "milk", "purr"],
    "Lüx": ["fur", "paw", "wald", "jagd"],
}
PROBES = ["a banana up the tree", "milk on its paw", "fly to the hive", "die jagd im wald", "nothing known", ""]


def texts_and_labels() -> tuple[list[str], list[str]]:
    """Return ten texts a class, each of two words of its class and a word of all."""
    pairs = [
        (f"{words[row % 4]} {words[(row // 2 + 1) % 4]} {('the', 'one', 'some')[row % 3]} {name[0]}{row % 5}", name)
        for name, words in ANIMALS.items()
        for row in range(10)
    ]
    texts, labels = zip(*pairs, strict=True)
    return list(texts), list(labels)


def answers(model: UntwinClassifier) -> dict[str, object]:
    """Return what a model says about the probes."""
    return {
        "classes": model.classes_.tolist(),
        "probabilities": model.predict_proba(PROBES).tolist(),
        "labels": model.predict(PROBES).tolist(),
        "neighbours": [[near.row for near in reason.neighbours.neighbours] for reason in model.explain(PROBES)],
        "findings": [finding.code for finding in model.findings_],
        "about": getattr(model, "about_", None),
    }


def main() -> None:
    """Fit, save and write down what is answered."""
    shutil.rmtree(MODEL, ignore_errors=True)
    UntwinClassifier(preset="fast", cv=2).fit(*texts_and_labels()).save(
        MODEL, about={"made by": "tests/golden/make.py"}
    )
    told = answers(UntwinClassifier.load(MODEL))
    ANSWERS.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
