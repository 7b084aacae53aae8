"""`DriftRule`: the rule that decides when an updated space is decomposed again.

Updates stay orthonormal while they drift, so that orthogonality cannot tell. What tells is energy: the share of the
squares of A that the kept triples do not hold. It may rise because an update had to let go of directions that a new
decomposition would find (that is drift), or because the documents have become harder to compress (no decomposition
helps). Only trying tells the two apart, so the rule learns from its own tries.
"""

from __future__ import annotations

from dataclasses import dataclass

LIMIT = 0.01  # share of all energy; see bench/update.py


@dataclass(frozen=True, slots=True)
class DriftRule:
    """The rule for a new decomposition, by the share of energy that is discarded.

    Parameters
    ----------
    baseline : float
        The share that the last full decomposition discarded.
    limit : float
        How far the share may rise above it.

    Examples
    --------
    >>> drift = DriftRule(baseline=0.70)
    >>> drift.is_exceeded(0.705), drift.is_exceeded(0.715)
    (False, True)
    >>> drift.after_restart(before=0.715, after=0.703)  # decomposing anew was worth it
    DriftRule(baseline=0.703, limit=0.01)
    >>> drift.after_restart(before=0.715, after=0.714)  # it was not: wait for twice the rise
    DriftRule(baseline=0.714, limit=0.02)
    """

    baseline: float
    limit: float = LIMIT

    def is_exceeded(self, discarded: float) -> bool:
        """Tell whether the discarded share calls for a new decomposition."""
        return discarded - self.baseline > self.limit

    def after_restart(self, before: float, after: float) -> DriftRule:
        """Return the rule after a new decomposition brought the discarded share from `before` to `after`.

        The limit has hysteresis: where less than half of the rise was won back it doubles, so that a stream that is
        hard to compress is not decomposed again and again; where more was won back it halves, down to where it began.
        """
        in_vain = 2 * (before - after) < before - self.baseline
        return DriftRule(after, 2 * self.limit if in_vain else max(LIMIT, self.limit / 2))
