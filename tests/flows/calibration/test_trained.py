"""Calibration on classifiers that the study trains (Keller, Mariethoz and Bengio, section 5)."""

import json
import tomllib
from collections import Counter
from dataclasses import replace
from itertools import product
from math import comb
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import f1_score
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

import sigstats
from sigstats.flows.report.evidence import Evidence
from sigstats.intervals import clopper_pearson
from sigstats.joint.events import JointEvents
from sigstats.joint.outcomes import JointOutcomes
from sigstats.tasks.calibration.computed import events, outcomes
from sigstats.tasks.calibration.populations.trained import likely_answers, train_pair
from sigstats.tasks.calibration.trained import resampled_differences
from sigstats.tasks.fan_out import fanout, input_cells, stand_in
from sigstats.tasks.record import Learner
from sigstats.tasks.results import Results
from sigstats.tasks.storage.store import Store

from ..conftest import results, run_serial, study_file
from .conftest import completed

STUDY = """\
kind = "calibration"
seed = 3
sizes = [30, 60]
trials = 400

[[populations]]
name = "Breast"
source = "trained"
dataset = { source = "scikit-learn", name = "breast_cancer" }
train = 40
test = 60
a = { learner = "linear-svm" }
b = { learner = "svm", params = { C = 0.3 } }
sets = [{ name = "malignant", positive = ["malignant"] }]

[[tests]]
test = "mcnemar"

[[tests]]
test = "bootstrap"
resamples = 499
"""

NEWS = """\
kind = "calibration"
seed = 8
sizes = [50]
trials = 60

[[populations]]
name = "News"
source = "trained"
documents = { path = "news.parquet", text = ["title", "text"], categories = "topics" }
train = 60
test = 50
a = { learner = "sklearn.svm.LinearSVC" }
b = { learner = "LEARNER", params = {} }
sets = [{ name = "food", positive = ["grain", "sugar"] }, { name = "oil", positive = ["crude"] }]

[[tests]]
test = "mcnemar"
"""

WORDS = {"grain": "wheat corn harvest", "sugar": "cane beet sweet", "crude": "oil barrel well", "": "match team goal"}


def rows(stored, test):
    return [row for row in stored.summary.to_pylist() if row["test"] == test]


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    return completed(tmp_path_factory.mktemp("done"), STUDY)


@pytest.fixture(scope="module")
def news(tmp_path_factory):
    """Texts of words that their topics have in common, some with two topics, some with a title alone."""
    rng = np.random.default_rng(4)
    folder = tmp_path_factory.mktemp("news")
    topics, texts, titles = [], [], []
    for _ in range(260):
        own = sorted(set(rng.choice(list(WORDS), size=2)) - {""})
        words = " ".join(WORDS[topic] for topic in own or [""]).split() + WORDS[rng.choice(list(WORDS))].split()
        topics.append(own)
        titles.append(str(rng.choice(words)))
        texts.append(None if rng.random() < 0.1 else " ".join(rng.choice(words, size=5)))
    columns = {"title": titles, "text": texts, "topics": pa.array(topics, pa.list_(pa.string()))}
    pq.write_table(pa.table(columns), folder / "news.parquet")
    return folder


def parts(stored, rows):
    """The rows of the split by the recorded seed, drawn anew."""
    (cell, *_) = stored.cells("predict")
    settings = cell.work.split
    order = np.random.default_rng(settings.seed).permutation(rows)
    cuts = np.cumsum([settings.train, settings.test])
    return np.split(order, cuts)


@pytest.mark.long
def test_outcomes_are_those_of_classifiers_trained_by_hand(done):
    X, y = load_breast_cancer(return_X_y=True)
    malignant = y == 0
    (cell,) = done.cells("predict")
    train, test, rest = parts(done, len(y))
    fitted = [
        make_pipeline(StandardScaler(), machine).fit(X[train], malignant[train])
        for machine in (LinearSVC(dual=False, tol=1e-6, random_state=0), SVC(C=0.3))
    ]
    for part, in_test in ((test, True), (rest, False)):
        a, b = (each.predict(X[part]) for each in fitted)
        expected = JointOutcomes.from_predictions(malignant[part], a, b, positive=True)
        assert outcomes(done.table(cell), test=in_test) == expected.counts
    assert len(rest) == 569 - 100


def enumerated_share(counts, n):
    """How likely B is right more often than A on n rows drawn without replacement."""
    joint = JointOutcomes(*counts)
    only_a, only_b = joint.discordant
    other = joint.n - only_a - only_b
    total = comb(joint.n, n)
    return (
        sum(
            comb(only_a, i) * comb(only_b, j) * comb(other, n - i - j)
            for i, j in product(range(only_a + 1), range(only_b + 1))
            if j > i and i + j <= n
        )
        / total
    )


@pytest.mark.long
def test_achieved_confidence_is_that_of_all_test_sets(done):
    (cell,) = done.cells("predict")
    population = outcomes(done.table(cell), test=False)
    (row,) = [row for row in rows(done, "confidence") if row["method"].startswith("McNemar")]
    joint = JointOutcomes(*outcomes(done.table(cell), test=True))
    only_a, only_b = joint.discordant
    assert (row["b"] == "B (svm)") == (only_b > only_a)
    counts = population if only_b > only_a else JointOutcomes(*population).swapped().counts
    low, high = clopper_pearson(round(row["estimate"] * 400), 400, confidence_level=0.999)
    assert low <= enumerated_share(counts, 60) <= high
    most = max(only_a, only_b)
    tail = sum(comb(only_a + only_b, k) for k in range(most, only_a + only_b + 1)) / 2 ** (only_a + only_b)
    assert row["statistic"] == pytest.approx(1 - tail)  # the sign test, one-sided


@pytest.mark.long
def test_exact_rates_and_the_null_are_those_of_the_trained_population(done):
    found = rows(done, "calibration")
    mcnemar = [row for row in found if row["method"].startswith("McNemar")]
    assert {row["measure"] for row in found if row["slice"].endswith("swapped")} == {"type I error", "coverage"}
    for row in mcnemar:
        assert row["statistic"] is not None
        count = round(row["estimate"] * 400)
        low, high = clopper_pearson(count, 400, confidence_level=0.999)
        assert low <= row["statistic"] <= high


def test_cells_that_take_turns_train_each_pair_once(done):
    (cell,) = done.cells("predict")
    works = [replace(cell.work, b=Learner(learner="svm", params={"C": c})) for c in (0.1, 0.2, 0.4, 0.8, 1.6, 3.2)]
    first = [train_pair(done.store, work, {}) for work in works]
    assert all(train_pair(done.store, work, {}) is pair for work, pair in zip(works, first, strict=True))
    assert len(set(map(id, first))) == 6


def test_the_report_says_how_sure_and_how_often(done):
    said = done.store.files.read("report.html").decode()
    assert "Does the confidence of a test match the agreement of other test sets of the same size?" in said
    assert "sure that" in said
    powers = [row for row in rows(done, "calibration") if row["measure"] == "power"]
    least = {
        share: min(row["n"] for row in powers if row["method"].startswith("bootstrap") and row["estimate"] >= share)
        for share in (0.5, 0.8)
    }
    assert least[0.5] == least[0.8]
    assert f"of the sizes that were tried, {least[0.8]} rows are the fewest that find it four times in five." in said


def test_the_replicates_behind_a_confidence_are_drawn_and_exchanged_outputs_have_no_power(done):
    (found,) = [row for row in Evidence(done).rows_of("confidence") if row.method.startswith("bootstrap")]
    drawn, observed = resampled_differences(done, found)
    assert drawn.size == 499
    assert (drawn > 0).mean() == found.statistic  # eq. (13): what the report states is what the histogram shows
    assert observed > 0
    made = {figure.title: str(figure.body) for figure in Evidence(done).figures}
    body = made["Resampled differences on a single test set"]
    # Keller's Figure 1: the bins are the replicates, and those below 0 are in the other colour.
    assert ('class="extreme"' in body) == bool((drawn < 0).any())
    assert not any("swapped" in str(body) for title, body in made.items() if title.startswith("Power of"))
    assert any(title.startswith("Stated and achieved") and "swapped" in title for title in made)


@pytest.mark.long
def test_documents_of_a_data_frame_have_the_bytes_of_their_file(news, tmp_path):
    (tmp_path / "news.parquet").symlink_to(news / "news.parquet")
    study = tomllib.loads(NEWS.replace("LEARNER", "ridge")) | {"name": "news"}
    (population,) = study["populations"]
    documents = population["documents"] | {"path": pd.read_parquet(news / "news.parquet")}
    given = {**study, "populations": [{**population, "documents": documents}]}
    for name, each in (("file", {**study, "folder": str(tmp_path)}), ("frame", given)):
        sigstats.run_study(each, output=tmp_path / name, cluster="serial", quiet=True)
    one, other = (results(tmp_path / name) for name in ("file", "frame"))
    assert {name: one[name] for name in one if name != "report.html"} == {
        name: other[name] for name in other if name != "report.html"
    }


def test_a_classifier_that_fails_fails_its_population_alone_and_once(news, tmp_path):
    # A naive Bayes classifier of numbers refuses the sparse matrix of words.
    text = (
        NEWS.replace("LEARNER", "sklearn.naive_bayes.GaussianNB")
        + STUDY.split("trials = 400\n")[1].split("[[tests]]")[0]
    )
    study = study_file(news, text.replace("sizes = [50]", "sizes = [30]"))
    assert run_serial(study, tmp_path / "out") == 3
    failures = {}
    for path in (tmp_path / "out" / "receipts").glob("*.json"):
        record = json.loads(path.read_text())
        failures[record["cell"].split(".")[0], record["subject"]["dataset"]] = record["failures"]
    assert failures["predict", "News"][0]["message"].startswith("classifier b: sklearn.naive_bayes.GaussianNB failed")
    found = rows(Results(Store(str(tmp_path / "out"))), "calibration")
    assert {row["dataset"] for row in found if row["decision"] == "missing"} == {"News"}
    assert {row["dataset"] for row in found if row["decision"] != "missing"} == {"Breast"}
    said = (tmp_path / "out" / "report.html").read_text()
    assert "failed with ValueError: classifier b" in said


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ("train = 40", "train = 560", "train, test: 560 and 60 are not valid; expected less than 569 together"),
        ('positive = ["malignant"]', 'positive = ["malignnt"]', "did you mean 'malignant'?"),
        ('["malignant"] }', '["malignant", "benign"] }', "expected labels that some of the training"),
        ("sets = [", 'sets = [{ name = "malignant", positive = ["benign"] }, ', "expected each name of sets once"),
        ('learner = "svm"', 'learner = "desicion-tree"', "expected one of"),
        ('learner = "svm"', 'learner = "mypackage:Net"', "'mypackage:Net' is not valid; expected a ready learner or"),
        ("C = 0.3", "c = 0.3", "params: 'c' is not valid; expected a parameter of SVC: C, kernel"),
        ("sizes = [30, 60]", "sizes = [470]", "470 is not valid; expected at most 469, the rows of Breast"),
        ("dataset = {", "# {", "dataset, documents: give exactly one of them"),
        ("[[tests]]", 'documents = { path = "x", text = ["t"], categories = "c", stem = "nl" }\n[[tests]]', "stem"),
    ],
)
def test_bad_settings_are_named_in_one_line(refusal, old, new, wanted):
    assert wanted in refusal(STUDY, old, new)


LISTS = pa.list_(pa.string())
EMPTY = {name: pa.array([], pa.string()) for name in ("title", "text")} | {"topics": pa.array([], LISTS)}


@pytest.mark.parametrize(
    ("columns", "wanted"),
    [
        ({}, "there is no column 'topics'"),
        ({"topics": pa.array([None], LISTS)}, "column 'topics', row 0: a category is missing (null)"),
        ({"topics": pa.array([[None]], LISTS)}, "column 'topics', row 0: a category is missing (null)"),
        ({"topics": [3]}, "has the type int64; expected lists of strings, or strings"),
        ({"topics": [["x"]], "text": [1]}, "column 'text' has the type int64; expected strings"),
        (EMPTY, "has no rows"),
        (None, "is not a readable Parquet file"),
    ],
)
def test_bad_documents_are_named_in_one_line(tmp_path, refusal, columns, wanted):
    path = tmp_path / "news.parquet"
    if columns is None:
        path.write_bytes(b"PAR1 no more")
    else:
        pq.write_table(pa.table({"title": ["a"], "text": ["b"]} | columns), path)
    said = refusal(NEWS, "LEARNER", "svm")
    assert wanted in said
    assert "news.parquet" in said


@pytest.mark.long
def test_words_are_taken_by_their_stems_where_it_is_asked_for(tmp_path):
    rng = np.random.default_rng(5)
    forms = {"crude": ["exports", "exported", "exporting"], "grain": ["harvests", "harvested", "harvesting"]}
    topics = [str(name) for name in rng.choice(list(forms), size=120)]
    texts = [f"{rng.choice(forms[name])} {rng.choice(['monday', 'friday'])}" for name in topics]
    columns = {"title": texts, "text": [None] * 120, "topics": [[name] for name in topics]}
    pq.write_table(pa.table(columns | {"text": pa.array([None] * 120, pa.string())}), tmp_path / "news.parquet")
    text = NEWS.replace("LEARNER", "ridge").replace('categories = "topics"', 'categories = "topics", stem = "english"')
    text = text.replace('["grain", "sugar"] }, { name = "oil", positive = ["crude"] }', '["grain"] }')
    text = text.replace("train = 60", "train = 8").replace("sizes = [50]", "sizes = [20]")
    stored = completed(tmp_path, text)
    (cell,) = stored.cells("predict")
    assert (cell.work.a.stem, cell.work.b.stem) == ("english", "english")
    # Eight rows have not all forms, but both stems: every other row is then recognised.
    assert sum(outcomes(stored.table(cell), test=True)[i] for i in (0, 7)) == 50


SETS = """\
kind = "calibration"
seed = 8
sizes = [50]
trials = 40

[[populations]]
name = "News"
source = "trained"
documents = { path = "news.parquet", text = ["title", "text"], categories = "topics" }
train = 90
test = 50
a = { learner = "sklearn.svm.LinearSVC" }
b = { learner = "sklearn.svm.SVC", tune = { grid = { C = [0.01, 1.0], gamma = [0.1, 1.0] }, folds = 3 } }
sets = [{ name = "all", categories = ["grain", "sugar", "crude"] }]

[[tests]]
test = "bootstrap"
measure = "macro-f1"
resamples = 99

[[tests]]
test = "mcnemar"
"""


@pytest.fixture(scope="module")
def sets(news):
    return completed(news, SETS)


def indicators(news, columns=("grain", "sugar", "crude")):
    table = pq.read_table(news / "news.parquet")
    texts = [
        f"{title} {text or ''}".strip()
        for title, text in zip(*(table[n].to_pylist() for n in ("title", "text")), strict=True)
    ]
    return np.array(texts, dtype=object), np.array(
        [[name in own for name in columns] for own in table["topics"].to_pylist()]
    )


@pytest.mark.long
def test_a_set_has_a_machine_for_each_category_and_parameters_of_the_best_f1(sets, news):
    texts, truth = indicators(news)
    (cell,) = sets.cells("categorise")
    order = np.random.default_rng(cell.work.split.seed).permutation(len(texts))
    train, test, rest = np.split(order, [90, 140])
    words = TfidfVectorizer(stop_words="english").fit(texts[train])
    X = words.transform(texts)

    def said(machine, fit, at):
        return np.column_stack([clone(machine).fit(X[fit], own[fit]).predict(X[at]) for own in truth.T])

    def score(machine):
        """Micro-averaged F1 of all folds together, from counts."""
        found = np.zeros_like(truth[train])
        for fit, at in KFold(3, shuffle=True, random_state=0).split(train):
            found[at] = said(machine, train[fit], train[at])
        right, both = (found & truth[train]).sum(), found.sum() + truth[train].sum()
        return 2 * right / both

    scores = {(c, gamma): score(SVC(C=c, gamma=gamma)) for c in (0.01, 1.0) for gamma in (0.1, 1.0)}
    c, gamma = max(scores, key=scores.get)
    assert len(set(scores.values())) > 1
    machines = {"A": LinearSVC(random_state=0), "B": SVC(C=c, gamma=gamma, random_state=0)}
    shown = {(row.classifier[0], row.measure): row for row in Evidence(sets).rows_of("trained")}
    for rows, in_test in ((test, True), (rest, False)):
        answers = [said(machine, train, rows) for machine in machines.values()]
        expected = JointEvents.from_indicators(truth[rows], *answers, categories=["grain", "sugar", "crude"])
        assert events(sets.table(cell), cell.work.categories, test=in_test) == expected
        for (side, answer), average in product(zip(machines, answers, strict=True), ("micro", "macro")):
            row = shown[side, f"{average}-f1"]
            value = row.statistic if in_test else row.estimate
            assert value == pytest.approx(f1_score(truth[rows], answer, average=average))
    assert shown["B", "micro-f1"].method == f"C = {c:g}, gamma = {gamma:g}"
    page = (Path(sets.store.root) / "report.html").read_text()
    assert f"cross-validation of the training rows chose C = {c:g}, gamma = {gamma:g} for 1 of 1 set" in page


@pytest.mark.long
def test_a_plan_counts_the_choice_of_parameters_and_the_tests_of_classifiers_not_yet_trained(news, tmp_path, printed):
    """Every cell is timed though all but the choice read what others compute."""
    study = study_file(news, SETS, "planned.toml")
    said = printed("plan", study, "--output", tmp_path / "out")
    lines = [line for line in said.splitlines() if " to do, " in line and line.startswith("  ")]
    assert {line.split()[0] for line in lines} == {"parameters", "categories", "test"}
    assert all(line.split(" done ")[1].endswith(" s") for line in lines)
    assert "cells read results of other cells, and were timed with invented ones" in said
    assert "cannot be timed" not in said
    assert not (tmp_path / "out").exists()


def test_a_stand_in_reads_no_other_cell_and_has_the_rows_that_are_left(sets, done):
    for stored, fanouts in ((sets, {"categorise", "subsample"}), (done, {"subsample"})):
        cells = [each for each in stored.plan.cells if input_cells(each)]
        assert {each.fanout for each in cells} == fanouts
        for each in cells:
            other = stand_in(each, stored.store)
            assert input_cells(other) == []
            assert other.fingerprint != each.fingerprint
            assert (
                fanout(other.fanout)
                .compute(replace(other, replicates=1).block(0, 1), stored.store, other.work)
                .num_rows
                > 0
            )
    (trained,) = sets.cells("categorise")
    likely = likely_answers(sets.store, "all", trained.work)
    truth = events(sets.table(trained), trained.work.categories, test=False)
    assert likely.rows == truth.n

    def of_truth(joint):
        counted = Counter()
        for (true, _, _), count in zip(joint.events, joint.counts, strict=True):
            counted[true] += count
        return counted

    assert of_truth(likely.joint) == of_truth(truth)


def test_the_confidence_of_a_set_is_the_bootstrap_s_of_its_macro_f1(sets):
    (cell,) = sets.cells("categorise")
    joint = events(sets.table(cell), cell.work.categories, test=True)
    by_test = {row.method.split(" ")[0]: row for row in Evidence(sets).rows_of("confidence")}
    row = by_test["bootstrap"]
    y, a, b = (
        [[int(j in side) for j in range(3)] for side, n in zip(part, joint.counts, strict=True) for _ in range(n)]
        for part in zip(*joint.events, strict=True)
    )
    f1 = [f1_score(y, answers, average="macro", zero_division=0) for answers in (a, b)]
    assert row.b.startswith("B" if f1[1] > f1[0] else "A")
    differences, observed = resampled_differences(sets, row)
    assert observed == pytest.approx(abs(f1[1] - f1[0]))
    assert row.statistic == pytest.approx(np.mean(differences > 0), abs=0.02)
    page = (Path(sets.store.root) / "report.html").read_text()
    assert "Resampled differences on a single test set" in page
    for each in by_test.values():
        sure, agree = (f"{100 * value:.1f}%" for value in (each.statistic, each.estimate))
        assert f"was {sure} sure that {each.b} is better" in page
        assert f"it was better on {agree} of " in page


GRAINS = 'categories = ["grain", "sugar", "crude"]'


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (GRAINS, 'categories = ["grain", "sugr"]', "did you mean 'sugar'?"),
        (GRAINS, 'categories = ["grain", "grain"]', "expected each label once"),
        (f", {GRAINS}", "", "positive, categories: give exactly one of them"),
        (GRAINS, 'positive = ["grain"]', "positive is not valid with tune"),
        ("gamma = [0.1, 1.0]", "gama = [0.1]", "tune: 'gama' is not valid; did you mean 'gamma'?"),
        ("folds = 3", "folds = 1", "folds: 1 is not valid"),
        ('measure = "macro-f1"', 'measure = "f1"', "f1"),
    ],
)
def test_a_set_that_cannot_be_trained_is_one_line(news, refusal, old, new, said):
    assert said in refusal(SETS, old, new, news)
