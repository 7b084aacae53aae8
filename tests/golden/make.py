"""Make the golden model of the present format: `python tests/golden/make.py`. One that is there is never made again.

A small model of generated texts with ids, and what it answers, as this version of untwin saves them. Later versions of
the same format must read it and answer the same. Golden models of formats that are no longer read are deleted by hand.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from untwin.model import UntwinClassifier
from untwin.store.manifest import FORMAT

HERE = Path(__file__).parent
PARENTS = {"ape": "mammal", "bee": "insect", "cat": "mammal", "Lüx": "mammal"}
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
        "ids": model.ids_.tolist()[:3],
        "parents": model.parents_,
        "findings": [finding.code for finding in model.findings_],
        "measured": sorted(model.measured_),
        "about": getattr(model, "about_", None),
    }


def make(folder: Path) -> Path:
    """Fit, save and write down what is answered; refuse to touch a golden model that is there."""
    model, told = folder / f"format-{FORMAT}", folder / f"format-{FORMAT}.json"
    if model.exists() or told.exists():
        sys.exit(f"{model} is there already. A golden model stays as it was made: raise FORMAT for another format.")
    texts, labels = texts_and_labels()
    fitted = UntwinClassifier(preset="fast", cv=2).fit(texts, labels, ids=[f"A-{row}" for row in range(len(texts))])
    fitted.find(parents=PARENTS, keep=True)
    fitted.measure()
    fitted.save(model, about={"made by": "tests/golden/make.py"})
    found = answers(UntwinClassifier.load(model))
    told.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return model


if __name__ == "__main__":
    make(HERE)
