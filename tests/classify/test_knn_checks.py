"""scikit-learn's own checks. To be merged into tests/test_common.py."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from untwin.classify.knn import KNNClassifier


@parametrize_with_checks(
    [
        KNNClassifier(),
        KNNClassifier(metric="euclidean", weights="uniform"),
        KNNClassifier(n_neighbors="cv", cv=2),
    ]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)
