"""Top-k accuracy and macro-averaged areas of probabilities of all classes: scikit-learn's, in every door."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest
from sklearn.metrics import roc_auc_score, top_k_accuracy_score

import sigstats
from sigstats.flows.commands import main
from sigstats.measures.weighted import FIRST, LAST, macro_area

CLASSES = ["a", "b", "c", "d"]


def models(n=120, seed=0, classes=CLASSES):
    """Labels and two tables of probabilities with many ties."""
    rng = np.random.default_rng(seed)
    codes, tables = rng.integers(0, len(classes), n), []
    for strength in (1.0, 1.6):
        odds = np.exp(rng.normal(size=(n, len(classes))) + strength * np.eye(len(classes))[codes])
        parts = np.maximum((8 * odds / odds.sum(axis=1, keepdims=True)).round(), 0.0) + 1
        tables.append(parts / parts.sum(axis=1, keepdims=True))
    return np.array(classes)[codes], tables[0], tables[1]


def one(rows, measure):
    (row,) = (row for row in rows if row.measure == measure and row.slice == "all rows")
    return row


@pytest.mark.long
@pytest.mark.parametrize("k", [1, 2, 3])
def test_top_k_accuracy_is_scikit_learns_and_its_test_mcnemars(k):
    y, a, b = models()
    row = one(sigstats.compare(y, a, b, measures=f"top-{k}-accuracy").rows, f"top-{k}-accuracy")
    assert row.baseline == pytest.approx(top_k_accuracy_score(y, a, k=k, labels=CLASSES))
    assert row.candidate == pytest.approx(top_k_accuracy_score(y, b, k=k, labels=CLASSES))
    right = [
        np.array([top_k_accuracy_score([label], [p], k=k, labels=CLASSES) for label, p in zip(y, table, strict=True)])
        for table in (a, b)
    ]
    only_a, only_b = int((right[0] > right[1]).sum()), int((right[0] < right[1]).sum())
    assert row.pvalue == pytest.approx(binomtest(only_b, only_a + only_b, alternative="less").pvalue)
    marks = sigstats.compare(y, y, y, scores=right, measures="mean-score", score_range=(0, 1)).rows[0]
    assert row.difference == pytest.approx(marks.difference)


def test_the_macro_averaged_area_is_scikit_learns():
    y, a, b = models()
    row = one(sigstats.compare(y, a, b, measures="macro-auc").rows, "macro-auc")
    assert row.baseline == pytest.approx(roc_auc_score(y, a, multi_class="ovr"))
    assert row.candidate == pytest.approx(roc_auc_score(y, b, multi_class="ovr"))
    assert row.low < row.difference < row.high
    weights = np.random.default_rng(1).integers(1, 4, len(y))
    weighted = one(sigstats.compare(y, a, b, measures="macro-auc", weights=weights).rows, "macro-auc")
    assert weighted.baseline == pytest.approx(roc_auc_score(y, a, multi_class="ovr", sample_weight=weights))
    top = one(sigstats.compare(y, a, b, measures="top-2-accuracy", weights=weights).rows, "top-2-accuracy")
    assert top.baseline == pytest.approx(top_k_accuracy_score(y, a, k=2, sample_weight=weights))


def test_a_class_without_rows_is_no_class_of_the_mean():
    y, a, b = models()
    kept = y != "d"
    y, a, b = y[kept], a[kept], b[kept]
    found = sigstats.compare(y, a, b, classes=CLASSES, measures=["macro-auc", "top-2-accuracy"]).rows
    areas = [roc_auc_score(y == name, a[:, place]) for place, name in enumerate("abc")]
    assert one(found, "macro-auc").baseline == pytest.approx(np.mean(areas))
    wanted = top_k_accuracy_score(y, a, k=2, labels=CLASSES)
    assert one(found, "top-2-accuracy").baseline == pytest.approx(wanted)


def test_the_order_of_columns_does_not_matter_and_binary_tables_are_refused():
    y, a, b = models()
    plain = sigstats.compare(y, a, b, measures=["macro-auc", "top-2-accuracy"]).rows
    frames = [pd.DataFrame(table, columns=CLASSES)[["c", "a", "d", "b"]] for table in (a, b)]
    assert sigstats.compare(y, *frames, measures=["macro-auc", "top-2-accuracy"]).rows == plain
    y, a, b = models(classes=["0", "1"])
    with pytest.raises(ValueError, match="'macro-auc' is not valid for two classes; expected auc"):
        sigstats.compare(y, a, b, measures="macro-auc")


def test_one_model_and_rows_that_are_read_as_frames():
    y, a, b = models()
    row = one(sigstats.check(y, a, at_least=0.5, measures="macro-auc").rows, "macro-auc")
    assert row.value == pytest.approx(roc_auc_score(y, a, multi_class="ovr"))
    row = one(sigstats.check(y, a, at_least=0.5, measures="top-2-accuracy").rows, "top-2-accuracy")
    assert row.value == pytest.approx(top_k_accuracy_score(y, a, k=2))
    plain, as_frames = (
        sigstats.compare(y, a, b, measures=["macro-auc", "top-2-accuracy"], **how).rows
        for how in ({}, {"missing": "NA", "unscored": "drop"})
    )
    assert plain == as_frames


def test_files_with_a_column_for_each_class(tmp_path, capsys):
    y, a, b = models()
    for name, table in (("a", a), ("b", b)):
        frame = pd.DataFrame(table, columns=[f"p_{name}" for name in CLASSES])
        frame.insert(0, "label", y)
        frame.sample(frac=1, random_state=len(name)).rename_axis("id").to_csv(tmp_path / f"{name}.csv")
    files = [str(tmp_path / f"{name}.csv") for name in "ab"]
    how = ["--probabilities", "p_*", "--measure", "top-2-accuracy"]
    assert main(["compare", *files, *how, "--measure", "macro-auc", "--json", str(tmp_path / "c.json")]) in (0, 1)
    rows = sigstats.compare(y, a, b, measures=["top-2-accuracy", "macro-auc"]).rows
    stored = pd.read_json(tmp_path / "c.json", typ="series")["rows"]
    for row in rows:
        (same,) = (item for item in stored if item["measure"] == row.measure)
        assert (same["baseline"], same["difference"]) == (pytest.approx(row.baseline), pytest.approx(row.difference))
    for measure in ("top-2-accuracy", "macro-auc"):
        assert main(["rank", *files, "--probabilities", "p_*", "--measure", measure]) == 0
        assert main(["check", files[0], "--at-least", "0.4", "--probabilities", "p_*", "--measure", measure]) in (0, 1)
    assert "macro-auc" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "cure"),
    [
        ("ndcg", "mean-score of a column with the ndcg of each query"),
        ("ndcg@10", "one row per query"),
        ("top_k_accuracy", "a number in place of k"),
        ("ece", "neg-brier or neg-log-loss"),
        ("expected_calibration_error", "depends on bins"),
    ],
)
def test_other_measures_of_probabilities_are_answered_by_name(name, cure):
    with pytest.raises(ValueError, match=f"measures: '{name}' is not valid; expected .*{cure}") as caught:
        sigstats.compare([0, 1] * 20, [0, 1] * 20, [1, 0] * 20, measures=name)
    assert "\n" not in str(caught.value)


def test_unseen_rows_of_several_classes_have_the_highest_and_the_lowest_scores():
    y, a, _ = models()
    codes, kinds = np.searchsorted(CLASSES, y), [(0, FIRST), (2, FIRST), (2, LAST), (3, LAST)]
    vectors, label, said = a, codes, np.arange(len(y))
    for code, end in kinds:
        is_own = np.arange(len(CLASSES)) == code
        vectors = np.vstack([vectors, np.where(is_own == (end == FIRST), 2.0, -1.0)])
        label, said = np.append(label, code), np.append(said, end)
    weights = np.random.default_rng(0).gamma(1.0, size=(5, len(label)))
    scored = macro_area(vectors, label, np.arange(len(label)), weights)
    assert macro_area(a, label, said, weights) == pytest.approx(scored)


def test_slices_and_groups_are_those_of_rows():
    y, a, b = models()
    part, group = np.arange(len(y)) % 2, np.arange(len(y)) // 3
    rows = sigstats.compare(y, a, b, measures="macro-auc", slices={"part": part}, groups=group).rows
    for code in (0, 1):
        (row,) = (row for row in rows if row.slice == f"part = {code}")
        own = part == code
        assert row.baseline == pytest.approx(roc_auc_score(y[own], a[own], multi_class="ovr"))
    assert one(rows, "macro-auc").test.kind == "unseen"
