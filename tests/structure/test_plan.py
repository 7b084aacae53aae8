"""SprinklingPlan: kernels against literal copies of indicator columns, factors, names."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from untwin.structure.hierarchy import Hierarchy
from untwin.structure.plan import SprinklingPlan
from untwin.tables.confusion import Confusion

few = settings(max_examples=30, deadline=None)
CLASSES = ["ape", "bee", "cat", "dog"]
COUNTS = [[6, 3, 0, 0], [1, 8, 0, 1], [0, 0, 5, 0], [0, 2, 0, 8]]


@st.composite
def confusions(draw):
    n = draw(st.integers(2, 7))
    rows = draw(st.lists(st.lists(st.integers(0, 5), min_size=n, max_size=n), min_size=n, max_size=n))
    return Confusion(rows, [f"c{i}" for i in range(n)])


def literal_pair_strengths(confusion, msl):
    """s_ij by plain loops."""
    counts = confusion.toarray().astype(float)
    n = len(counts)
    p = [[counts[i, j] / counts[i].sum() if counts[i].sum() else float(i == j) for j in range(n)] for i in range(n)]
    mutual = np.array([[(p[i][j] + p[j][i]) / 2 if i != j else 0.0 for j in range(n)] for i in range(n)])
    return msl * mutual / mutual.max() if mutual.any() else mutual


def plans_of(confusion):
    return [
        SprinklingPlan.uniform(confusion.classes, 3),
        SprinklingPlan.adaptive(confusion, 4),
        SprinklingPlan.adaptive(confusion, 4, rounded=True),
        SprinklingPlan.contrast(confusion, 4),
        SprinklingPlan.ordinal(confusion.classes),
        SprinklingPlan.from_hierarchy(Hierarchy.from_confusion(confusion)),
    ]


@few
@given(confusions())
def test_kernels_are_psd_and_factors_give_them_back(confusion):
    for plan in plans_of(confusion):
        kernel, factor = plan.kernel.toarray(), plan.factor()
        scale = max(np.abs(kernel).max(), 1.0)
        np.testing.assert_array_equal(kernel, kernel.T)
        assert np.linalg.eigvalsh(kernel).min() >= -1e-12 * scale * len(kernel)
        np.testing.assert_allclose((factor @ factor.T).toarray(), kernel, atol=1e-9 * scale)
        assert factor.shape[1] <= len(kernel)
        assert (abs(factor).sum(axis=0) > 0).all()
        assert plan.trace == pytest.approx(plan.per_class.sum())


@few
@given(confusions(), st.randoms(use_true_random=False))
def test_permuting_classes_permutes_the_kernel(confusion, random):
    names = confusion.classes.tolist()
    random.shuffle(names)
    for plan, other in zip(plans_of(confusion), plans_of(confusion.reordered(names)), strict=True):
        if plan.kind != "ordinal":  # whose kernel is the order
            np.testing.assert_allclose(
                other.aligned(confusion.classes).kernel.toarray(),
                plan.aligned(confusion.classes).kernel.toarray(),
                atol=1e-12,
            )


@few
@given(confusions())
def test_adaptive_and_contrast_by_plain_loops(confusion):
    strengths = literal_pair_strengths(confusion, 5)
    adaptive, contrast = SprinklingPlan.adaptive(confusion, 5), SprinklingPlan.contrast(confusion, 5)
    if strengths.any():
        received = np.diag(strengths.sum(axis=1))
        np.testing.assert_allclose(adaptive.kernel.toarray(), received, atol=1e-12)
        np.testing.assert_allclose(contrast.kernel.toarray(), received - strengths, atol=1e-12)
    else:
        assert adaptive == contrast == SprinklingPlan.uniform(confusion.classes, 5)


@pytest.mark.parametrize("make", [SprinklingPlan.adaptive, SprinklingPlan.contrast])
def test_no_confusion_gives_the_uniform_plan(make):
    plan = make(Confusion([[3, 0], [0, 2]], ["a", "b"]), 7)
    assert plan == SprinklingPlan.uniform(["a", "b"], 7)
    assert plan.kind == "uniform"


def documents(n=30):
    rng = np.random.default_rng(0)
    X = rng.poisson(0.6, (n, 9)).astype(float)
    return X, np.eye(4)[rng.integers(0, 4, n)]


def test_literal_copies_and_the_factor_have_one_gram_matrix():
    X, Y = documents()
    plan = SprinklingPlan.adaptive(Confusion(COUNTS, CLASSES), 9, rounded=True)
    copies = [Y[:, [c]] for c, s in enumerate(plan.per_class) for _ in range(int(s))]
    literal = np.hstack([X, *copies])
    ours = np.hstack([X, Y @ plan.factor().toarray()])
    assert literal.shape[1] > ours.shape[1]
    np.testing.assert_allclose(ours @ ours.T, literal @ literal.T, atol=1e-9)
    values = np.linalg.svd(ours, compute_uv=False)
    np.testing.assert_allclose(values, np.linalg.svd(literal, compute_uv=False)[: len(values)], atol=1e-9)


def test_contrast_is_one_column_of_plus_and_minus_a_pair():
    _, Y = documents()
    confusion = Confusion(COUNTS, CLASSES)
    strengths = literal_pair_strengths(confusion, 3)
    columns = [np.sqrt(strengths[i, j]) * (Y[:, i] - Y[:, j]) for i in range(4) for j in range(i) if strengths[i, j]]
    ours = Y @ SprinklingPlan.contrast(confusion, 3).factor().toarray()
    np.testing.assert_allclose(ours @ ours.T, sum(np.outer(c, c) for c in columns), atol=1e-9)


def test_ordinal_is_at_least_and_below():
    _, Y = documents()
    grade = Y.argmax(axis=1)
    columns = [side.astype(float) for t in range(1, 4) for side in (grade >= t, grade < t)]
    ours = Y @ SprinklingPlan.ordinal(CLASSES).factor().toarray()
    np.testing.assert_allclose(ours @ ours.T, sum(np.outer(c, c) for c in columns), atol=1e-9)


def test_hierarchy_is_one_column_for_each_node_below_the_root():
    _, Y = documents()
    tree = Hierarchy.from_confusion(Confusion(COUNTS, CLASSES))
    height = np.concatenate([np.zeros(4), tree.heights])
    gram = np.zeros((len(Y), len(Y)))
    for parent, children in enumerate(tree.merges, start=4):
        for child in children:
            column = Y[:, np.isin(CLASSES, tree.members(child))].sum(axis=1)
            gram += (height[parent] - height[child]) * np.outer(column, column)
    ours = Y @ SprinklingPlan.from_hierarchy(tree).factor().toarray()
    np.testing.assert_allclose(ours @ ours.T, gram, atol=1e-9)


def test_from_kernel_refuses_with_the_reason():
    with pytest.raises(ValueError, match="symmetric"):
        SprinklingPlan.from_kernel([[1, 2], [0, 1]], ["a", "b"])
    with pytest.raises(ValueError, match=r"eigenvalue -1 "):
        SprinklingPlan.from_kernel([[1, 2], [2, 1]], ["a", "b"])
    with pytest.raises(ValueError, match=r"eigenvalue -3 "):
        SprinklingPlan.from_kernel([[1, 0], [0, -3]], ["a", "b"])
    with pytest.raises(ValueError, match="must be 2 x 2"):
        SprinklingPlan.from_kernel(np.eye(3), ["a", "b"])
    with pytest.raises(ValueError, match="finite"):
        SprinklingPlan.from_kernel([[np.nan]], ["a"])
    rank_one = SprinklingPlan.from_kernel(np.ones((3, 3)), ["a", "b", "c"])
    assert rank_one.factor().shape == (3, 1)


def test_alignment_by_name():
    plan = SprinklingPlan.contrast(Confusion(COUNTS, CLASSES), 2)
    some = plan.aligned(["dog", "bee"])
    np.testing.assert_array_equal(some.kernel.toarray(), plan.kernel.toarray()[np.ix_([3, 1], [3, 1])])
    assert some.classes.tolist() == ["dog", "bee"]
    with pytest.raises(ValueError, match="Unknown class 'owl'"):
        plan.aligned(["ape", "owl"])


def test_unbound_plans_wait_for_the_classes():
    plan = SprinklingPlan.uniform(s=4)
    assert plan.kernel is None
    assert plan.classes is None
    assert plan.bound(["b", "a"]) == SprinklingPlan.uniform(["b", "a"], 4) == plan.aligned(["b", "a"])
    assert SprinklingPlan.ordinal().scaled(6).aligned(CLASSES) == SprinklingPlan.ordinal(CLASSES).scaled(6)
    assert SprinklingPlan.ordinal() != SprinklingPlan.ordinal(CLASSES)
    assert SprinklingPlan.uniform(s=2) != plan
    assert plan.bound(CLASSES).bound(["x"]).classes.tolist() == CLASSES
    assert "waiting" in plan.describe()
    for read in (plan.factor, plan.frame, lambda: plan.trace):
        with pytest.raises(ValueError, match="must know its classes"):
            read()


@pytest.mark.parametrize("plan", plans_of(Confusion(COUNTS, CLASSES)), ids=lambda plan: plan.kind)
def test_scaling_changes_the_trace_only(plan):
    scaled = plan.scaled(12.5)
    assert scaled.trace == pytest.approx(12.5)
    ratio = 12.5 / plan.trace
    np.testing.assert_allclose(scaled.kernel.toarray(), plan.kernel.toarray() * ratio, rtol=1e-12)


def test_amounts_are_checked():
    with pytest.raises(ValueError, match="msl must be a finite number"):
        SprinklingPlan.adaptive(Confusion(COUNTS, CLASSES), -1)
    with pytest.raises(ValueError, match="s must be a finite number"):
        SprinklingPlan.uniform(s=float("nan"))
    nothing = SprinklingPlan.from_kernel(np.zeros((2, 2)), ["a", "b"])
    assert nothing.factor().shape == (2, 0)
    with pytest.raises(ValueError, match="sprinkles nothing"):
        nothing.scaled(1)


def test_it_is_a_value():
    plan = SprinklingPlan.adaptive(Confusion(COUNTS, CLASSES), 3)
    assert pickle.loads(pickle.dumps(plan)) == plan
    assert pickle.loads(pickle.dumps(SprinklingPlan.ordinal())) == SprinklingPlan.ordinal()
    assert plan != SprinklingPlan.adaptive(Confusion(COUNTS, CLASSES), 4)
    assert plan.frame()["columns"].to_list() == plan.per_class.tolist()
    assert "nothing for 1 of them" in plan.describe()
    assert "adaptive" in plan._repr_html_()
    with pytest.raises(AttributeError):
        plan.kind = "uniform"
    with pytest.raises(ValueError, match="read-only"):
        plan.kernel.data[0] = 1


def test_a_diagonal_plan_of_many_classes_stays_sparse():
    plan = SprinklingPlan.uniform(np.arange(20_000), 2.0)
    factor = plan.factor()
    assert isinstance(factor, csr_array)
    assert factor.nnz == plan.kernel.nnz == 20_000
    assert factor.shape == (20_000, 20_000)
