"""Leaderboards by a measure that is named, beside McNemar's and beside each pair as `compare` tests it."""

import html
import json
from itertools import permutations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sigstats
from sigstats.comparison.compare import compare_pair
from sigstats.comparison.paired_predictions import pair_arrays
from sigstats.comparison.rank_by_pairs import rank_by_pairs
from sigstats.comparison.rule import ComparisonRule
from tests.examples import examples

MODELS = {"a": 0.9, "b": 0.86, "c": 0.7}


@pytest.fixture
def said():
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, 300)
    return y, [np.where(rng.random(300) < share, y, 1 - y) for share in MODELS.values()]


def test_by_accuracy_the_ranks_are_those_of_mcnemars_tests(said):
    y, predictions = said
    found = rank_by_pairs([*MODELS], lambda a, b: pair_arrays(y, predictions[a], predictions[b]), "accuracy")
    known = sigstats.rank_models(np.column_stack(predictions) == y[:, np.newaxis], models=[*MODELS])
    assert found.models == known.models
    assert [pair.pvalue for pair in found.pairs] == pytest.approx([pair.pvalue for pair in known.pairs])
    assert [pair.better for pair in found.pairs] == [pair.better for pair in known.pairs]


def test_by_f1_a_pair_has_the_p_value_of_its_comparison(said):
    y, predictions = said

    def pair(a, b):
        return pair_arrays(y, predictions[a], predictions[b])

    found = rank_by_pairs([*MODELS], pair, "f1", positive="1")
    names = [*MODELS]
    for a, b in permutations(range(3), 2):
        (row,) = compare_pair(pair(a, b), ComparisonRule(n_resamples=10_000), ["f1"], positive="1").rows
        ranked = next((each for each in found.pairs if (each.a, each.b) == (names[a], names[b])), None)
        if ranked is not None:
            assert ranked.difference == pytest.approx(-row.difference)
            assert ranked.pvalue == pytest.approx(row.pvalue, abs=1e-3)
    assert [each.score for each in found.models] == sorted((each.score for each in found.models), reverse=True)


def test_pairs_of_many_models_have_the_p_values_of_their_comparisons_up_to_monte_carlo_error():
    rng = np.random.default_rng(6)
    y = rng.integers(0, 3, 200)
    models = {f"m{i}": np.where(rng.random(200) < 0.8 + i / 50, y, rng.integers(0, 3, 200)) for i in range(5)}
    for pair in sigstats.rank_models(models, label=y, measure="macro-f1").pairs:
        (row,) = sigstats.compare(y, models[pair.a], models[pair.b], measures="macro-f1").rows
        error = np.sqrt(2 * row.pvalue * (1 - row.pvalue) / 10_000)
        assert pair.pvalue == pytest.approx(row.pvalue, abs=5 * error + 2e-4)  # 1e-5 of a false alarm for ten pairs


def _answers(seed, rows=80, models=5, classes=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, rows)
    right = rng.random((rows, models)) < np.linspace(0.6, 0.9, models)
    return y, np.where(right, y[:, np.newaxis], rng.integers(0, classes, (rows, models)))


def _pairs(y, answers, measure, names):
    ranking = sigstats.rank_models(answers, label=y, measure=measure, models=names)
    return {frozenset((pair.a, pair.b)): (pair.a, pair.difference, pair.pvalue) for pair in ranking.pairs}


@pytest.mark.long
@settings(max_examples=examples(20), deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 5), st.sampled_from(["macro-f1", "weighted-f1", "mcc"]))
def test_no_order_of_rows_or_models_and_no_names_of_classes_change_the_p_values(seed, classes, measure):
    y, answers = _answers(seed, classes=classes)
    names, rng = [f"m{i}" for i in range(5)], np.random.default_rng(seed)
    rows, order, called = rng.permutation(len(y)), rng.permutation(5), rng.permutation(classes)
    other = _pairs(called[y][rows], called[answers][rows][:, order], measure, [names[i] for i in order])
    known = _pairs(y, answers, measure, names)
    for pair, (better, difference, pvalue) in known.items():
        assert other[pair][2] == pvalue
        assert other[pair][1] * (1 if other[pair][0] == better else -1) == pytest.approx(difference, abs=1e-12)


@pytest.mark.long
@pytest.mark.parametrize("change", ["copy", "unknown class", "slices", "many rows"])
def test_pairs_of_any_many_models_have_the_p_values_of_their_comparisons(change):
    y, answers = _answers(9, rows=500)
    if change == "copy":
        answers[:, 1] = answers[:, 0]
    elif change == "unknown class":
        answers[:5, 2] = 7
    elif change == "many rows":  # more distinct ones than the pairs have joint events
        y, answers = _answers(9, rows=3000, classes=2, models=12)
    slices = {"part": np.arange(500) % 2} if change == "slices" else None
    ranking = sigstats.rank_models(answers, label=y, measure="macro-f1", slices=slices)
    for pair in ranking.pairs[:10]:
        (row,) = sigstats.compare(
            y, *(answers[:, int(name) - 1] for name in (pair.a, pair.b)), measures="macro-f1"
        ).rows
        error = np.sqrt(2 * row.pvalue * (1 - row.pvalue) / 10_000)
        assert pair.pvalue == pytest.approx(row.pvalue, abs=5 * error + 2e-4)  # 1e-5 of a false alarm for ten pairs


@pytest.mark.long
def test_equal_models_are_seldom_told_apart_by_macro_f1():
    wrong = 0
    for seed in range(120):
        rng = np.random.default_rng(seed)
        y = rng.choice(3, 60, p=[0.6, 0.3, 0.1])
        answers = np.where(rng.random((60, 5)) < 0.75, y[:, np.newaxis], rng.integers(0, 3, (60, 5)))
        wrong += any(pair.better for pair in sigstats.rank_models(answers, label=y, measure="macro-f1").pairs)
    assert wrong <= 18  # 1e-5 of a false alarm at 5%


@pytest.mark.parametrize("decimals", [9, 0])
def test_areas_of_many_models_have_the_p_values_of_their_comparisons(decimals):
    rng = np.random.default_rng(7)
    y = rng.random(60) < 0.2
    models = {f"m{i}": rng.normal(y * (0.8 + i / 8), 0.7).round(decimals) for i in range(6)}
    pairs = sigstats.rank_models(models, label=y.astype(int), measure="auc").pairs
    rows = {pair: sigstats.compare(y, models[pair.a], models[pair.b], measures="auc").rows[0] for pair in pairs}
    assert all(pair.pvalue == pytest.approx(row.pvalue, rel=1e-9) for pair, row in rows.items())
    assert all(pair.difference == pytest.approx(-row.difference, abs=1e-12) for pair, row in rows.items())
    assert max(pair.pvalue for pair in pairs) > 0.5


@pytest.mark.parametrize("reversed_one", range(5))
def test_scores_of_the_other_class_are_refused_whichever_model_has_them(reversed_one):
    y = np.arange(60) % 2
    scores = 2 * y[:, np.newaxis] + np.random.default_rng(8).normal(size=(60, 5))
    scores[:, reversed_one] *= -1
    names = ["bad" if i == reversed_one else f"m{i}" for i in range(5)]
    with pytest.raises(ValueError, match="scores of bad are lower for the class"):
        sigstats.rank_models(scores, label=y, measure="auc", models=names)


def test_the_command_ranks_recipes_by_their_runs_and_costs_from_the_lowest(tmp_path, answer, refused):
    rng = np.random.default_rng(8)
    y = rng.integers(0, 2, 80)
    files = []
    for name, share in (("good", 0.95), ("bad", 0.6)):
        runs = [
            pd.DataFrame(
                {"id": range(80), "seed": seed, "label": y, "prediction": np.where(rng.random(80) < share, y, 1 - y)}
            )
            for seed in range(5)
        ]
        files.append(str(tmp_path / f"{name}.csv"))
        frame = pd.concat(runs).assign(errors=lambda each: each["label"] != each["prediction"], words=2)
        frame.astype({"errors": int}).to_csv(files[-1], index=False)
    for options, score in ((("--measure", "accuracy"), 1), (("--measure", "errors/words"), -0.5)):
        found = answer("rank", *files, "--run", "seed", *options)
        assert [each["model"] for each in found["models"]] == ["good", "bad"]
        ahead = found["models"][0]["score"] - found["models"][1]["score"]
        right = [1 - pd.read_csv(file)["errors"].mean() for file in files]
        assert ahead == pytest.approx(score * (right[0] - right[1]))
        assert found["pairs"][0]["pvalue"] == pytest.approx(1 / 252)  # of 5 and 5 runs, all of which are apart
    copy = tmp_path / "copy.csv"
    pd.read_csv(files[0]).sample(frac=1, random_state=1).to_csv(copy, index=False)
    copied = answer("rank", files[0], copy, "--run", "seed", "--measure", "accuracy")
    assert copied["answer"]["advice"].endswith("or rank them from more runs.")
    assert "--measure: 'nonsense' is not valid" in refused("rank", *files, "--run", "seed", "--measure", "nonsense")


def test_each_pair_of_recipes_states_the_numbers_of_runs_that_its_test_compares(tmp_path, printed):
    rng = np.random.default_rng(4)
    y, runs, files = rng.integers(0, 2, 80), {"best": 5, "single": 1, "worst": 5}, []
    for (name, count), share in zip(runs.items(), (0.95, 0.8, 0.55), strict=True):
        right = rng.random((count, 80)) < share
        seeds, ids = np.indices(right.shape).reshape(2, -1)
        files.append(str(tmp_path / f"{name}.csv"))
        columns = {"id": ids, "seed": seeds, "label": y[ids], "prediction": np.where(right.ravel(), y[ids], 1 - y[ids])}
        pd.DataFrame(columns).to_csv(files[-1], index=False)
    outputs = [tmp_path / "ranks.json", tmp_path / "ranks.html"]
    printed("rank", *files, "--run", "seed", "--json", str(outputs[0]), "--report", str(outputs[1]))
    pairs = json.loads(outputs[0].read_text())["pairs"]
    assert [(pair["a"], pair["b"]) for pair in pairs] == [("best", "single"), ("best", "worst"), ("single", "worst")]
    for pair in pairs:
        assert pair["test"] == f"Welch's t of {runs[pair['a']]} and {runs[pair['b']]} runs"
    texts = (printed("rank", *files, "--run", "seed"), html.unescape(outputs[1].read_text()))
    for text, pair in product(texts, pairs):
        assert f"{pair['test']} for {pair['a']} and {pair['b']}" in text


def test_copies_of_rows_are_told_once(tmp_path, printed):
    rng = np.random.default_rng(3)
    words = rng.integers(5, 30, 60)
    files = []
    for name, share in (("good", 0.1), ("fair", 0.12), ("bad", 0.3)):
        frame = pd.DataFrame(
            {"words": words, "errors": rng.binomial(words, share), "text": [f"t{i}" for i in range(60)]}
        )
        files.append(str(tmp_path / f"{name}.csv"))
        pd.concat([frame] * 2).assign(id=range(120)).to_csv(files[-1], index=False)
    (told,) = [
        line for line in printed("rank", *files, "--measure", "errors/words").splitlines() if "may be copies" in line
    ]
    assert told.startswith(
        "note: good and fair: 60 of 120 rows equal others in all columns and may be copies: without them p"
    )
