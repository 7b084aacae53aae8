"""What a fitted model measures about itself once, when first asked for it: it is noted, and saved with the model.

Notes belong to what the model knows: whatever it learns takes all of them away but the known tree, and the neighbours
of rows that were there ("carried"). They are shared by the copies of a model, so that the copy that answers (`_now`)
notes for the one that was asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Mapping

    from untwin._types import Array, Floats
    from untwin.answer.spread import UnknownChance
    from untwin.model.curves import SpaceCurves
    from untwin.model.findings import Finding
    from untwin.model.findings.evidence import Evidence
    from untwin.model.state import FittedState
    from untwin.structure.hierarchy import GroupRange, Hierarchy
    from untwin.taxonomy import Taxonomy

MEASURED = ("findings", "neighbours", "group_range", "unknown_chance")  # of the notes, what every report shows
REDRAWN_CLASSES = 10_000  # classes that are put into trees to see how far the number of groups can be trusted
MOST_REDRAWN, FEWEST_REDRAWN = 100, 10


def times_redrawn(n_classes: int) -> int:
    """Return from how many redrawn confusions of so many classes the range of the number of groups is read.

    >>> times_redrawn(20), times_redrawn(200), times_redrawn(5000)
    (100, 50, 10)
    """
    return max(FEWEST_REDRAWN, min(MOST_REDRAWN, REDRAWN_CLASSES // n_classes))


class NotesMixin:
    """Gives a fitted model what it measures once; the model has `_noted`, `_now` and what is measured."""

    if TYPE_CHECKING:
        state_: FittedState
        preset: str
        classes_: Array
        hierarchy_: Hierarchy
        taxonomy_: Taxonomy
        _noted: dict[str, Any]

        def _now(self) -> Self: ...
        def _prepare_rows(self, X: Any, *, reset: bool) -> Any: ...
        def _prepare_labels(self, given: Any, y: Any, ids: Any = None) -> tuple[Array, Array]: ...
        def predict_proba(self, X: Any) -> Floats: ...  # noqa: D102

    def find(
        self,
        *,
        test: tuple[Any, ...] | None = None,
        unlabelled: Any = None,
        parents: Mapping[Any, object] | None = None,
        keep: bool = False,
    ) -> list[Finding]:
        """Return findings about data and labels; more kinds of them if more than the training rows is given.

        Parameters
        ----------
        test : (X, y) or (X, y, ids), optional
            A test set, to find rows that are in both.
        unlabelled : rows, optional
            Rows without labels, to rank which to label next.
        parents : mapping from class to parent, or to a tuple of ancestors, optional
            A known tree of classes, to find classes confused across its branches. None: the tree kept before, if any.
        keep : bool
            Keep them as `findings_`, which are saved with the model and shown in its report; the tree is kept too.
        """
        from untwin.model.findings import found

        now = self._now()
        chances = None if unlabelled is None else now.predict_proba(unlabelled)
        held = None
        if test is not None:
            given = now._prepare_rows(test[0], reset=False)
            held = (given, *now._prepare_labels(given, *test[1:]))
        tree = now.parents_ if parents is None else parents
        findings = found(now._evidence(test=held, unlabelled=chances, parents=tree))
        if keep:  # in `_noted`, which the next update clears
            now._noted.update(findings=findings, parents=None if tree is None else list(tree.items()))
        return findings

    def measure(self) -> Self:
        """Measure all that the report shows, so that it is saved with the model: see `measured_`.

        The curves of sprinkled spaces are measured for the preset "best" only, which has such spaces as candidates.
        """
        _ = self.findings_, self.neighbours_, self.group_range_, self.unknown_chance_
        if self.preset == "best":
            _ = self.curves_
        return self

    @property
    def measured_(self) -> frozenset[str]:
        """What has been measured so far, of `MEASURED` and "curves"."""
        return frozenset(self._noted) & {*MEASURED, "curves"}

    @property
    def findings_(self) -> list[Finding]:
        """What the owner of the labels should know, the most serious first; looked for once."""
        now = self._now()
        if "findings" not in now._noted:
            now.find(keep=True)
        found: list[Finding] = now._noted["findings"]
        return found

    @property
    def parents_(self) -> dict[Any, Any] | None:
        """The tree of classes that `find` was told to keep, else that of the taxonomy, if there is one.

        A class that was learnt since then stands alone, one with another name stays where it was.
        """
        from untwin.model.history.known_tree import known_tree

        noted = self._noted.get("parents")
        return known_tree(self.taxonomy_, None if noted is None else dict(noted), self.classes_.tolist())

    @property
    def evidence_(self) -> Evidence:
        """What findings and the report are drawn from, of the rows that were held out; put together when asked for."""
        return self._now()._evidence()

    @property
    def neighbours_(self) -> Array:
        """For each row of `evidence_` its nearest rows of other folds by their terms, -1 for none; searched once."""
        now = self._now()
        if "neighbours" not in now._noted:
            now._evidence()
        found: Array = now._noted["neighbours"]
        return found

    @property
    def group_range_(self) -> GroupRange:
        """How far the number of groups can be trusted: the tree is grown again from redrawn confusions, once."""
        now = self._now()
        if "group_range" not in now._noted:
            now._noted["group_range"] = now.hierarchy_.group_range(n_bootstrap=times_redrawn(len(now.classes_)))
        found: GroupRange = now._noted["group_range"]
        return found

    @property
    def curves_(self) -> SpaceCurves | None:
        """What sprinkling does to a sample of the rows, by dimension and by strength; None if there are too few."""
        now = self._now()
        if "curves" not in now._noted:
            from untwin.model.curves import space_curves

            now._noted["curves"] = space_curves(now.state_)
        found: SpaceCurves | None = now._noted["curves"]
        return found

    @property
    def by_words_(self) -> bool:
        """Whether nearly all training texts share a word with others, so that one without a known word is strange."""
        if "by_words" not in self._noted:
            self._noted["by_words"] = self.state_.view.shares_words()
        return bool(self._noted["by_words"])

    @property
    def unknown_chance_(self) -> UnknownChance | None:
        """The chance that a row belongs to no class, by leaving classes out; None if none can be. Measured once."""
        now = self._now()
        if "unknown_chance" not in now._noted:
            from untwin.model.unknown import measure_chance

            now._noted["unknown_chance"] = measure_chance(now.state_)
        found: UnknownChance | None = now._noted["unknown_chance"]
        return found

    def _evidence(self, **more: Any) -> Evidence:
        """Return what findings are drawn from, with more at hand than the training rows; note the neighbours."""
        from untwin.model.findings.evidence import Evidence

        noted, learning = self._noted, self.state_.learning
        known = noted.get("neighbours", noted.pop("carried", None))
        found = Evidence.of_state(self.state_, neighbours=known, **more)
        if known is None:
            noted["searched_at"] = 0 if learning is None else learning.changed
        noted["neighbours"] = found.neighbours
        return found
