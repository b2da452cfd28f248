"""Tables with a column of probabilities for each class, named by a pattern or a list."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss, roc_auc_score

import sigstats
from sigstats.flows.commands import main

RNG = np.random.default_rng(3)
N = 300
CLASSES = np.array(["a", "b", "c"])
Y = RNG.choice(CLASSES[1:], N)  # no row is of the first class


def probabilities(strength):
    values = np.exp(RNG.normal(size=(N, 3)) + strength * (Y[:, None] == CLASSES))
    return pd.DataFrame(values / values.sum(axis=1, keepdims=True), columns=CLASSES).round(3)


A, B = probabilities(3), probabilities(1)


def table(values, name, **more):
    return values.rename(columns=name.format).assign(id=range(N), **more)


def results_of(tmp_path, a, b, *options, command="compare"):
    paths = []
    for name, each in (("a.csv", a), ("b.csv", b)):
        if each is not None:
            each.to_csv(tmp_path / name, index=False)
            paths.append(str(tmp_path / name))
    main([command, *paths, *options, "--json", str(tmp_path / "result.json")])
    return {row["measure"]: row for row in json.loads((tmp_path / "result.json").read_text())["rows"]}


@pytest.mark.parametrize(
    ("name", "pattern", "more"),
    [
        ("prob_{}", "prob_*", {}),
        (".pred_{}", ".pred_*", {"prediction": CLASSES[A.to_numpy().argmax(axis=1)]}),
        ("prob.{}", "prob.*", {"response": "x"}),
        ("{}", "a, b, c", {}),
    ],
)
def test_columns_of_probabilities_give_accuracy_and_log_loss(tmp_path, name, pattern, more):
    columns = [table(A, name, label=Y, **more), table(B, name, label=Y)]
    rows = results_of(tmp_path, *columns, "--probabilities", pattern)
    for which, values in (("baseline", A), ("candidate", B)):
        assert rows["accuracy"][which] == pytest.approx((CLASSES[values.to_numpy().argmax(axis=1)] == Y).mean())
        shares = values.to_numpy() / values.to_numpy().sum(axis=1, keepdims=True)
        assert rows["neg-log-loss"][which] == pytest.approx(-log_loss(Y, shares, labels=CLASSES), abs=1e-3)
    arrays = sigstats.compare(Y, A, B)
    assert [row.difference for row in arrays.rows] == [pytest.approx(row["difference"]) for row in rows.values()]


def test_labels_may_be_columns_with_one_in_that_of_the_true_class(tmp_path):
    truth = table(pd.DataFrame({name: (name == Y).astype(float) for name in CLASSES}), "p_{}")
    truth.sample(frac=1, random_state=1).to_csv(tmp_path / "truth.csv", index=False)
    options = ["--labels", str(tmp_path / "truth.csv"), "--probabilities", "p_*"]
    rows = results_of(tmp_path, table(A, "p_{}"), table(B, "p_{}"), *options)
    own = results_of(tmp_path, table(A, "p_{}", label=Y), table(B, "p_{}", label=Y), "--probabilities", "p_*")
    assert rows == own


def test_a_bar_is_one_of_the_accuracy(tmp_path):
    rows = results_of(
        tmp_path, table(A, "p_{}", label=Y), None, "--probabilities", "p_*", "--at-least", "0.9", command="check"
    )
    assert list(rows) == ["accuracy"]


def test_the_scores_of_one_class_of_three_are_of_it_against_the_rest(tmp_path):
    y3 = RNG.choice(CLASSES, N)
    columns = [pd.DataFrame({"id": range(N), "label": y3, "NV": values["b"]}) for values in (A, B)]
    rows = results_of(tmp_path, *columns, "--score", "NV", "--positive", "b", "--measure", "auc")
    assert rows["auc"]["baseline"] == pytest.approx(roc_auc_score(y3 == "b", A["b"]))


@pytest.mark.parametrize(
    ("change", "options", "complaint"),
    [
        ({}, ["--probabilities", "q_*"], "probabilities: 'q_*' matches none of p_a, p_b"),
        ({}, ["--probabilities", "p_b,p_c"], "probabilities (sum of row "),
        ({"label": "d"}, ["--probabilities", "p_*"], "column 'label': 'd' is not one of a, b, c"),
        ({"p_a": "x"}, ["--probabilities", "p_*"], "column 'p_a': 'x' is not valid; expected a number"),
        ({"p_a": -0.5}, ["--probabilities", "p_*"], "probabilities"),
        ({}, ["--probabilities", "p_*", "--score", "p_a"], "--probabilities: 'p_*' is not valid with --score"),
    ],
)
def test_columns_that_are_no_probabilities_of_all_classes_are_refused(tmp_path, refused, change, options, complaint):
    for name in "ab":
        table(A, "p_{}", **{"label": Y, **change}).to_csv(tmp_path / name, index=False)
    assert complaint in refused("compare", tmp_path / "a", tmp_path / "b", *options)


@pytest.mark.long
@pytest.mark.parametrize("measure", ["auc", "neg-brier", "average-precision"])
@pytest.mark.parametrize("classes", [2, 3])
def test_measures_of_one_class_name_the_column_to_give_where_there_are_two(tmp_path, refused, measure, classes):
    paths = [tmp_path / "a", tmp_path / "b"]
    for path, values in zip(paths, (A, B), strict=True):
        of_class = values[CLASSES[-classes:]] + 0.001
        of_class = of_class.div(of_class.sum(axis=1), axis=0)
        table(of_class, "p_{}", label=Y).to_csv(path, index=False)
    hint = ", or the column of one class as the score (--score)"
    complaint = refused("compare", *paths, "--probabilities", "p_*", "--measure", measure)
    assert complaint.rstrip().endswith("expected macro-auc or neg-log-loss" + hint * (classes == 2))
    if classes == 2:  # what the message asks for runs
        words = ["--score", "p_c", "--measure", measure, "--positive", "c"]
        assert main(["compare", *map(str, paths), *words]) in (0, 1)


def test_equally_likely_classes_are_counted_and_do_not_depend_on_the_order_of_columns(tmp_path):
    rough = pd.DataFrame(RNG.multinomial(4, A.div(A.sum(axis=1), axis=0)) / 4, columns=CLASSES)
    ties = int((rough.eq(rough.max(axis=1), axis=0).sum(axis=1) > 1).sum())
    assert ties > 5
    truth = rough.to_numpy().argmax(axis=1).choose(CLASSES) == Y
    files = {name: table(rough[columns], "p_{}", label=Y) for name, columns in (("a", list("abc")), ("b", list("cab")))}
    rows = results_of(tmp_path, files["a"], files["b"], "--probabilities", "p_*", "--measure", "accuracy")
    assert rows["accuracy"]["baseline"] == rows["accuracy"]["candidate"] == pytest.approx(truth.mean())
    notes = json.loads((tmp_path / "result.json").read_text())["notes"]
    assert f"{ties} of {N} rows" in next(note["text"] for note in notes if note["name"] == "equal-probabilities")
    frames = rough, rough[list("cab")]
    in_python = sigstats.compare(Y, *frames, measures="accuracy")
    assert in_python.rows[0].difference == 0
    checked = sigstats.check(Y, frames[1], at_least=0.5)
    ranked = sigstats.rank_models(dict(zip("ab", frames, strict=True)), label=Y)
    for result in (in_python, checked, ranked):
        assert [note.name for note in result.notes].count("equal-probabilities") == (1 if result is checked else 2)


@pytest.mark.parametrize("digits", [1, 3])
def test_predictions_that_are_not_the_likeliest_class_are_counted(tmp_path, digits):
    """Rounded probabilities may tie; that is no contradiction."""
    values = A.round(digits)
    likeliest = CLASSES[A.to_numpy().argmax(axis=1)]
    other = np.where(np.arange(N) < 120, np.roll(CLASSES, 1)[A.to_numpy().argmax(axis=1)], likeliest)
    files = [
        table(values.div(values.sum(axis=1), axis=0), "p_{}", label=Y, prediction=own) for own in (likeliest, other)
    ]
    results_of(tmp_path, *files, "--probabilities", "p_*", "--measure", "accuracy")
    notes = json.loads((tmp_path / "result.json").read_text())["notes"]
    (told,) = [note["text"] for note in notes if note["name"] == "unlikely-predictions"]
    assert "b.csv: 1" in told
    assert "of 300 predictions are not the class of the highest probability" in told
