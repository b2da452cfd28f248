"""Every measure at every door: the value that scikit-learn gives, or one line that names what to use instead."""

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import PredefinedSplit, cross_val_predict

import sigstats
from sigstats.flows.commands import main
from sigstats.retraining.folds import stratified_folds

RNG = np.random.default_rng(65)
TRUE = {"two": np.arange(60) % 2, "three": np.arange(60) % 3, "numbers": RNG.normal(size=60)}
COSTS = {0: {1: 1, 2: 5}, 1: {0: 1, 2: 1}, 2: {0: 1, 1: 3}}
PRICES = np.array([[COSTS[true].get(said, 0) for said in range(3)] for true in range(3)])


def _tables(kind):
    logits = RNG.normal(size=(2, 60, 3 if kind == "three" else 2))
    logits[:, np.arange(60), TRUE[kind]] += 1.5
    return np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)


TABLES = {kind: _tables(kind) for kind in ("two", "three")}
SAID = {kind: [table.argmax(axis=1) for table in tables] for kind, tables in TABLES.items()}
SAID["numbers"] = [TRUE["numbers"] + RNG.normal(size=60) / 2 for _ in range(2)]


def right(y, prediction, weights):
    return np.average(y == prediction, weights=weights)


def wrong(y, prediction, weights):
    return np.average(y != prediction, weights=weights)


wrong.greater_is_better = False

#: The measure, its data, whether it needs scores, and the same by scikit-learn.
MEASURES = [
    ("average-precision", "two", True, lambda y, p: metrics.average_precision_score(y, p[:, 1])),
    ("auc", "two", True, lambda y, p: metrics.roc_auc_score(y, p[:, 1])),
    ("macro-auc", "three", True, lambda y, p: metrics.roc_auc_score(y, p, multi_class="ovr")),
    ("top-2-accuracy", "three", True, lambda y, p: metrics.top_k_accuracy_score(y, p, k=2)),
    ("weighted-f1", "three", False, lambda y, said: metrics.f1_score(y, said, average="weighted")),
    ("f-beta(beta=2)", "two", False, lambda y, said: metrics.fbeta_score(y, said, beta=2)),
    ("macro-f-beta(beta=2)", "three", False, lambda y, said: metrics.fbeta_score(y, said, beta=2, average="macro")),
    ("balanced-accuracy", "three", False, metrics.balanced_accuracy_score),
    (right, "three", False, metrics.accuracy_score),
    (wrong, "three", False, metrics.zero_one_loss),
    (COSTS, "three", False, lambda y, said: PRICES[y, said].mean()),
    ("r2", "numbers", False, metrics.r2_score),
    ("rmse", "numbers", False, metrics.root_mean_squared_error),
]
_NAMES = [str(getattr(measure, "__name__", "costs" if measure is COSTS else measure)) for measure, *_ in MEASURES]
_LOWER = (wrong, COSTS, "rmse")


@pytest.mark.long
@pytest.mark.parametrize(("measure", "kind", "of_scores", "theirs"), MEASURES, ids=_NAMES)
def test_the_doors_of_python(measure, kind, of_scores, theirs):
    y, sides = TRUE[kind], TABLES[kind] if of_scores else SAID[kind]
    expected = [theirs(y, side) for side in sides]
    one, several = [{"costs": measure}] * 2 if measure is COSTS else [{"measure": measure}, {"measures": measure}]
    rule = sigstats.ComparisonRule(n_resamples=200)
    (row,) = sigstats.compare(y, *sides, rule=rule, **several).rows
    assert [row.baseline, row.candidate] == pytest.approx(expected)
    assert row.lower_is_better == (measure in _LOWER)
    bar = {"at_most" if measure in _LOWER else "at_least": 0.5}
    assert sigstats.check(y, sides[0], rule=rule, **bar, **several).rows[0].value == pytest.approx(expected[0])
    models = dict(zip("ab", sides, strict=True)) if of_scores else np.column_stack(sides)
    ranked = sigstats.rank_models(models, label=y, **one).models
    assert [model.score for model in ranked] == pytest.approx(sorted(expected, reverse=measure not in _LOWER))
    if kind == "numbers":
        with pytest.raises(ValueError, match="expected one of classes or scores, since a classifier predicts these"):
            sigstats.permutation_test(LogisticRegression(), sides[0][:, None], np.arange(60) % 2, **one)
        return
    X, folds = y[:, None] + np.random.default_rng(1).normal(size=(60, 1)), stratified_folds(y, 3, 1)
    how = {"cv": PredefinedSplit(folds), "method": "predict_proba" if of_scores else "predict"}
    found = sigstats.permutation_test(LogisticRegression(), X, y, cv=folds, n_resamples=9, rng=1, **one)
    assert found.statistic == pytest.approx(theirs(y, cross_val_predict(LogisticRegression(), X, y, **how)))
    assert (found.alternative == "less") == (measure in _LOWER)


@pytest.mark.long
@pytest.mark.parametrize(("measure", "kind", "of_scores", "theirs"), MEASURES, ids=_NAMES)
def test_the_doors_of_the_command_line(measure, kind, of_scores, theirs, tmp_path, capsys):
    files = []
    for name, said, table in zip("ab", SAID[kind], TABLES.get(kind, [None] * 2), strict=True):
        frame = pd.DataFrame({"id": range(60), "label": TRUE[kind], "prediction": said})
        for place, column in enumerate(() if table is None else table.T):
            frame[f"prob_{place}"] = column
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
        files.append(str(tmp_path / f"{name}.csv"))
    rows = [f"{true},{said},{cost}" for true, of in COSTS.items() for said, cost in of.items()]
    (tmp_path / "costs.csv").write_text("\n".join(["label,prediction,cost", *rows]))
    name = f"{__name__}:{measure.__name__}" if callable(measure) else measure
    named = ["--measure", str(tmp_path / "costs.csv")] if measure is COSTS else ["--measure", name]
    if of_scores:
        named += ["--probabilities", "prob_*"] if kind == "three" else ["--score", "prob_1"]
    bar = "--at-most" if measure in _LOWER else "--at-least"
    for command in (["compare", *files], ["rank", *files], ["check", files[0], bar, "0.5"]):
        assert main([*command, *named]) in (0, 1), capsys.readouterr().err
        shown = capsys.readouterr().out
        value = theirs(TRUE[kind], (TABLES if of_scores else SAID)[kind][0])
        assert f"{value:.4g}"[:5] in shown or f"{100 * value:.2f}%" in shown


@pytest.mark.parametrize("name", ["pass^3", "mean-score", "p95", "ndcg", "ece", "top-k", "r2", "rmse"])
def test_measures_that_a_retrained_classifier_cannot_have_are_refused(name):
    with pytest.raises(ValueError, match=r"^measure: '.*' is not valid; expected one of"):
        sigstats.permutation_test(LogisticRegression(), np.eye(20), np.arange(20) % 2, measure=name)
    counts = sigstats.JointOutcomes(e1=4, e2=1, e3=5, e4=3, e5=2, e6=6, e7=9, e8=1)
    with pytest.raises(ValueError, match=r"^measure: '.*' is not valid; expected one of accuracy, "):
        sigstats.bootstrap_test(counts, measure=name)


@pytest.mark.parametrize(
    ("measure", "complaint"),
    [
        ("f-beta", r"expected f-beta\(beta=2\), with your beta"),
        ("f-beta(2)", r"expected f-beta\(parameter=number\), as in f-beta\(beta=2\)"),
        ("f-beta(gamma=2)", "'gamma' is not valid; expected one of beta"),
        ("macro-auc", "not valid for two classes; expected auc"),
        ("top-1-accuracy", "not valid for two classes; expected accuracy"),
        (sigstats.Measure(name="micro-f-beta"), r"expected f-beta\(beta=2\), with your beta"),
        (sigstats.Measure(name="weighted-recall"), "is the accuracy if every row has one class; use accuracy"),
        (sigstats.Measure(name="macro-mcc"), "'macro-mcc' is not valid; expected one of accuracy, "),
    ],
)
def test_messages_name_the_measure_to_use(measure, complaint):
    tables = dict(zip("ab", TABLES["two"], strict=True))
    for call in (
        lambda: sigstats.compare(TRUE["two"], *TABLES["two"], measures=measure),
        lambda: sigstats.rank_models(tables, label=TRUE["two"], measure=measure),
    ):
        with pytest.raises(ValueError, match=complaint) as caught:
            call()
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"correct": dict(zip("ab", TABLES["three"], strict=True))}, "give tables of two or more models, with label"),
        ({"correct": {}, "label": TRUE["three"]}, "give tables of two or more models, with label"),
        ({"correct": TABLES["three"], "label": TRUE["three"]}, r"expected \{model: table\}"),
    ],
)
def test_tables_that_cannot_be_ranked(given, complaint):
    with pytest.raises(ValueError, match=complaint):
        sigstats.rank_models(**given)


def test_groups_of_several_values_are_refused_with_the_cure():
    with pytest.raises(ValueError, match=r"groups: .*, such as 'a/b' in place of \('a', 'b'\)$"):
        sigstats.compare([0, 1] * 9, [0, 0] * 9, [1, 1] * 9, groups=[("p1", "x"), ("p2", "x")] * 9)


def test_truths_of_several_columns_are_refused_with_the_cure():
    one_hot, said = np.eye(3)[TRUE["three"]], SAID["three"][0]
    for call in (
        lambda y: sigstats.compare(y, said, said),
        lambda y: sigstats.check(y, said, at_least=0.5),
        lambda y: sigstats.rank_models(np.column_stack([said, said]), label=y),
        lambda y: sigstats.permutation_test("1-nn", np.eye(60), y),
    ):
        with pytest.raises(ValueError, match=r"such as np.argmax\((y|label), axis=1\) of one-hot columns$"):
            call(one_hot)
        with pytest.raises(ValueError, match=r"such as np.ravel\((y|label)\)$"):
            call(TRUE["three"][:, None])


@pytest.mark.parametrize("name", ["weighted-f1", "macro-recall", "kappa"])
def test_a_measure_by_its_name_is_that_name(name):
    both = [
        sigstats.compare(TRUE["three"], *TABLES["three"], measures=["accuracy", measure]).rows[1]
        for measure in (name, sigstats.Measure(name=name))
    ]
    assert both[0] == both[1]
