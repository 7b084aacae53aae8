"""cleanlab's side of `bench/labels.py`, run by a Python that has it: labels and probabilities in, verdicts out."""

from __future__ import annotations

import json
import sys

import cleanlab  # type: ignore[import-not-found]
import numpy as np
from cleanlab.filter import find_label_issues  # type: ignore[import-not-found]
from cleanlab.rank import get_label_quality_scores  # type: ignore[import-not-found]

FILTERS = ("prune_by_noise_rate", "both", "confident_learning", "low_normalized_margin", "low_self_confidence")
SCORES = ("self_confidence", "normalized_margin")


def main() -> None:
    """Read what the benchmark wrote, write which rows cleanlab would name and how it scores all rows."""
    with np.load(sys.argv[1]) as arrays:
        labels, P = arrays["labels"], arrays["P"]
    named = {how: find_label_issues(labels, P, filter_by=how, n_jobs=1).nonzero()[0].tolist() for how in FILTERS}
    quality = {how: get_label_quality_scores(labels, P, method=how).tolist() for how in SCORES}
    print(json.dumps({"version": cleanlab.__version__, "named": named, "quality": quality}))


if __name__ == "__main__":
    main()
