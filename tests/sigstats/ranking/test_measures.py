"""`rank_models` by measures, costs and quantiles, against scikit-learn, NumPy and the comparisons of all pairs."""

import itertools

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score, roc_auc_score

import sigstats
from sigstats import rank_models

NAMES = ["a", "b", "copy of a"]


def _said(rows=300):
    rng = np.random.default_rng(65)
    label = rng.integers(0, 3, rows)
    said = np.column_stack(
        [np.where(rng.random(rows) < right, label, rng.integers(0, 3, rows)) for right in (0.9, 0.6)]
    )
    return label, np.c_[said, said[:, :1]]


def _by_hand(y, prediction, weights):
    return float(weights[y == prediction].sum() / weights.sum())


@pytest.mark.parametrize(
    ("measure", "value"),
    [
        ("macro-f1", lambda y, said: f1_score(y, said, average="macro")),
        ("balanced-accuracy", balanced_accuracy_score),
        (_by_hand, accuracy_score),
    ],
)
def test_measures_are_ranked_by_the_comparisons_of_all_pairs(measure, value):
    label, said = _said()
    found = rank_models(said, label=label, models=NAMES, measure=measure)
    assert {model.model: pytest.approx(model.score, abs=1e-12) for model in found.models} == {
        name: value(label, column) for name, column in zip(NAMES, said.T, strict=True)
    }
    expected = {}
    for (a, of_a), (b, of_b) in itertools.permutations(zip(NAMES, said.T, strict=True), 2):
        (row,) = sigstats.compare(label, of_a, of_b, measures=measure).rows
        expected[a, b] = row.pvalue
    assert {(pair.a, pair.b): pair.pvalue for pair in found.pairs} == {
        (pair.a, pair.b): expected[pair.a, pair.b] for pair in found.pairs
    }
    # The first and the third are the same model; both are better than the second.
    assert {model.model: (model.rank_low, model.rank_high) for model in found.models} == {
        NAMES[0]: (1, 2),
        NAMES[1]: (3, 3),
        NAMES[2]: (1, 2),
    }


def test_costs_and_scores_are_measures_of_rankings():
    label, said = _said()
    costs = {str(true): {str(other): 10.0 if true == 0 else 1.0 for other in range(3)} for true in range(3)}
    for true in costs:
        costs[true][true] = 0.0
    paid = [(np.where(label == 0, 10, 1) * (column != label)).mean() for column in said.T]
    prices = np.tile([1.0, 2.0, 3.0], (len(label), 1))
    found = rank_models(said, label=label, models=NAMES, costs=costs, cost=prices, slices={"true": label})
    assert {model.model: model.score for model in found.models} == pytest.approx(dict(zip(NAMES, paid, strict=True)))
    assert found.models[-1].model == NAMES[1]  # the dearest
    assert [part.slice for part in found.slices] == ["true = 0", "true = 1", "true = 2"]
    assert [cost.cost for cost in sorted(found.costs, key=lambda cost: cost.model)] == [1.0, 2.0, 3.0]

    positive = label == 1
    scores = np.column_stack([positive + np.random.default_rng(seed).normal(size=len(label)) for seed in range(3)])
    areas = rank_models(scores, label=positive.astype(int), models=NAMES, measure="auc").models
    assert {model.model: pytest.approx(model.score) for model in areas} == {
        name: roc_auc_score(positive, column) for name, column in zip(NAMES, scores.T, strict=True)
    }
    quantiles = rank_models(scores, models=NAMES, measure="p95").models
    ranked = np.sort(scores, axis=0)[int(np.ceil(0.95 * len(label))) - 1]
    assert {model.model: model.score for model in quantiles} == dict(zip(NAMES, ranked, strict=True))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"measure": "f1", "label": None}, "label: is missing; f1 needs"),
        ({"measure": "nonsense"}, "measure: 'nonsense' is not valid; expected one of"),
        ({"measure": "macro-f1", "costs": {"fn": 1, "fp": 2}}, "costs: is not valid with measure"),
        ({"positive": 1}, "positive: is not valid without measure"),
        ({"measure": "macro-f1", "label": np.arange(300) % 3 + 7}, "prediction: '0', '1', '2' of 'a' are not valid"),
    ],
)
def test_a_measure_that_does_not_fit_is_refused(options, told: str):
    label, said = _said()
    with pytest.raises(ValueError, match=told):
        rank_models(said, **{"label": label, "models": NAMES, **options})
