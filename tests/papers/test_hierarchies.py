"""Paper 2's experiments on small made collections: what is in them, that training sees no test row, what is printed."""

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from papers.hierarchies import experiments, published
from papers.hierarchies.collections import flat_bayes, gain, kept_header, newsgroups, reuters, web_directory
from papers.hierarchies.graph import best_terms, run_graph
from papers.hierarchies.levels import run_levels, told_the_group
from papers.hierarchies.links import AREA_END, DOUBTFUL, GOOD, judgement, parents_and_children, soft_links
from papers.hierarchies.trees import agreements, described, grown

from untwin.classify.multilevel.classifier import MultiLevelClassifier


def test_of_a_header_subject_and_organisation_are_kept():
    post = "From: me\nOrganization: A club\nSubject: Bikes\nLines: 2\n\nFirst\n\nSecond"
    assert pl.DataFrame({"text": [post]}).select(kept_header(pl.col("text"))).item() == "Bikes\nA club\nFirst\n\nSecond"


def test_newsgroups_at_random_and_by_date(made_data):
    drawn, dated = (newsgroups(made_data, by_date=by_date) for by_date in (False, True))
    assert drawn.X_test.shape[0] == 0.3 * 160
    assert (np.unique(drawn.y_test, return_counts=True)[1] == 12).all()
    assert dated.X_test.shape[0] == 4 * 14
    assert dated.parents == {"rec.cat": "rec", "rec.lynx": "rec", "sci.tram": "sci", "sci.bus": "sci"}


def test_a_training_document_of_two_topics_is_there_for_each_and_test_documents_have_one(made_data):
    news = pl.read_parquet(made_data / "text" / "reuters21578.parquet")
    topics = news["labels"].list.len()
    found = reuters(made_data)
    assert found.X.shape[0] == topics.filter(news["split"] == "train").sum()
    assert found.X_test.shape[0] == ((topics == 1) & (news["split"] == "test")).sum()


def test_words_of_test_documents_alone_are_not_counted(made_data):
    path = made_data / "text" / "20newsgroups.parquet"
    posts = pl.read_parquet(path)
    told = posts.with_columns(text=pl.when(split="test").then(pl.format("{} zebra", "text")).otherwise("text"))
    before = newsgroups(made_data, by_date=True)
    told.write_parquet(path)
    assert newsgroups(made_data, by_date=True).X.shape == before.X.shape


def test_parents_compete_with_their_children(made_data):
    found = web_directory(made_data, competing=True)
    areas = {name for name in found.y if name.endswith(AREA_END)}
    assert areas == {"rec/", "sci/"}
    assert 0.1 < np.mean([name in areas for name in found.y]) < 0.3
    row = parents_and_children(grown(found))
    assert row["areas"] == 2
    assert row["by chance"] == pytest.approx(2 / 5)
    assert row["joins an own list first"] == 1.0


def test_soft_links_join_lists_of_different_areas(made_data):
    found = grown(web_directory(made_data))
    for link in soft_links(found, 5):
        assert link["area"] != link["its area"]
        assert link["judged"] == "not judged"


def test_judgement_counts_what_was_judged():
    rows = [{"judged": GOOD}, {"judged": DOUBTFUL}, {"judged": "not judged"}]
    assert judgement(rows) == ("holds in part", "1 of 2 links judged are good; 1 are not judged")
    assert judgement(rows[2:])[0] == "not judged"


def test_the_tree_is_of_training_rows_and_the_accuracy_of_test_rows(made_data):
    collection = newsgroups(made_data, by_date=True)
    found = grown(collection)
    assert found.confusion.total == len(collection.y)
    model = flat_bayes().fit(collection.X, collection.y)
    assert found.accuracy == (model.predict(collection.X_test) == collection.y_test).mean()
    row = described(found, n_bootstrap=3)
    assert row["resampled, low"] <= row["resampled, high"]


def test_levels_are_those_of_the_report(made_data):
    collection = newsgroups(made_data, by_date=True)
    groups = [("rec.cat", "rec.lynx"), ("sci.bus", "sci.tram")]
    found = run_levels(collection, groups, "given")
    for row, kind in zip(found.rows, ("naive Bayes", "SVM"), strict=True):
        by_class = {one["class"]: one[kind] for one in found.classes}
        mean = np.mean([by_class[name] for name in collection.y_test])
        assert mean == pytest.approx(100 * row["level 2, right group given"])
        assert row["level 2, right group given"] >= row["end to end"]


def test_who_is_told_the_group_names_a_class_of_it(made_data):
    collection = newsgroups(made_data, by_date=True)
    groups = [("rec.cat", "sci.bus"), ("rec.lynx", "sci.tram")]
    model = MultiLevelClassifier(groups=groups, routing="hard", cv=None).fit(collection.X, collection.y)
    group_of = {name: number for number, group in enumerate(groups) for name in group}
    told = told_the_group(model, collection)
    assert [group_of[name] for name in told] == [group_of[name] for name in collection.y_test]


def test_terms_are_chosen_by_training_documents(made_data):
    collection = newsgroups(made_data, by_date=True)
    chosen = best_terms(collection, 5)
    kept = np.sort(np.argsort(-gain(collection.X, collection.y), kind="stable")[:5])
    assert_array_equal(chosen.X.toarray(), collection.X[:, kept].toarray())
    other = best_terms(collection._replace(y_test=collection.y_test[::-1]), 5)
    assert_array_equal(chosen.X_test.toarray(), other.X_test.toarray())


def test_the_graph_keeps_to_its_bound(made_data):
    rows, classes = run_graph(newsgroups(made_data, by_date=True), (0.03,))
    assert [row["classifier"] for row in rows[:2]] == ["naive Bayes", "SVM"]
    assert all(row["accuracy"] <= row["bound"] + 1e-12 for row in rows[2:])
    assert rows[0]["times naive Bayes"] == 1.0
    assert set(classes["SVM"]) == {"rec.cat", "rec.lynx", "sci.tram", "sci.bus"}


def test_trees_of_confusion_and_of_words_are_compared(made_data):
    collection = newsgroups(made_data, by_date=True)
    rows = agreements("made", collection.X, collection.y, collection.parents)
    assert [row["tree of"] for row in rows[2:]] == ["words", "both"]
    assert {row["adjusted_rand"] for row in rows} == {1.0}


def test_what_is_printed_follows_from_what_is_printed(tmp_path):
    found = experiments.printed(tmp_path, True)
    assert [claim.verdict for claim in found.claims] == ["holds", "holds in part", "holds", "holds"]
    assert "88 is 56, 88 is 56" in found.claims[1].evidence


def test_the_printed_tables_are_whole():
    assert {len(row) for row in published.CONFUSION} == {len(published.CONFUSION)} == {len(published.NEWSGROUPS)}
    assert set(published.GROUPS) == set(published.NEWSGROUPS)
    assert set(published.GRAPH_CLASSES) <= set(published.NEWSGROUPS)
    assert sorted(map(len, published.published_groups())) == [3, 3, 3, 4, 7]


def test_reuters_is_nearly_the_papers(real_data):
    found = reuters(real_data)
    assert len(np.unique(found.y)) == pytest.approx(published.REUTERS["classes"], abs=1)
