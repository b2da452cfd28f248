"""The table of measures: what it says of each, and the formulas of scores beside scikit-learn's."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
import sklearn.metrics as sk
from hypothesis import given, settings
from hypothesis import strategies as st

from sigstats.flows.report.rows import measure_of_difference
from sigstats.measures.measure import as_measure
from sigstats.measures.score_formulas import pass_at
from sigstats.measures.table import COUNT_MEASURES, MEASURES, SCORE_MEASURES

PREFIXES = ("", "micro-", "macro-", "weighted-")
rows = st.lists(st.tuples(st.booleans(), st.integers(0, 20)), min_size=2, max_size=40).filter(
    lambda each: len({positive for positive, _ in each}) == 2
)


@pytest.mark.long
@settings(deadline=None, derandomize=True)
@given(rows)
def test_measures_of_scores_are_scikit_learns(each):
    positive = np.array([truth for truth, _ in each])
    score = np.array([twentieths / 20 for _, twentieths in each])
    assert MEASURES["auc"].of(positive, score) == pytest.approx(sk.roc_auc_score(positive, score), abs=1e-14)
    loss, brier = sk.log_loss(positive, score), sk.brier_score_loss(positive, score)
    assert MEASURES["neg-log-loss"].of(positive, score) == pytest.approx(-loss, rel=1e-12)
    assert MEASURES["neg-brier"].of(positive, score) == pytest.approx(-brier, abs=1e-14)
    assert MEASURES["mean-score"].of(positive, score) == pytest.approx(score.mean())


def test_every_measure_can_be_computed_from_what_it_needs():
    positive, score = np.array([False, True, True]), np.array([0.2, 0.6, 0.4])
    for name, spec in MEASURES.items():
        assert spec.name == name
        if spec.needs in ("answers", "classes"):
            assert name in COUNT_MEASURES
            assert as_measure(name)(3, 1, 2, 4) is not None
        elif spec.needs == "tables":
            areas = spec.of_weights(np.stack([1 - score, score], axis=1), positive, np.arange(3), np.ones((1, 3)))
            assert areas.tolist() == [1.0]
        else:
            assert name not in COUNT_MEASURES
            assert -1 <= spec.of(positive, score) <= 1
    assert SCORE_MEASURES == ("auc", "neg-log-loss", "neg-brier")


def test_errors_and_costs_alone_are_the_better_the_less():
    less = {name for name, spec in MEASURES.items() if not spec.greater_is_better}
    assert less == {"rmse", *(prefix + name for prefix in PREFIXES for name in ("error", "dcf"))}


def test_units_and_parameters():
    own = {name for name, spec in MEASURES.items() if not spec.in_points}
    of_rows = {"neg-log-loss", "neg-brier", "mean-score", "ratio", "neg-mae", "neg-mse", "rmse", "r2"}
    assert own == {f"{prefix}dcf" for prefix in PREFIXES} | of_rows
    assert {name: spec.parameters for name, spec in MEASURES.items() if spec.parameters} == {
        prefix + name: parameters
        for prefix in PREFIXES
        for name, parameters in (("f-beta", ("beta",)), ("dcf", ("cost_fn", "cost_fp", "prior")))
    }


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("accuracy", "accuracy"),
        ("difference of accuracies (a - b)", "accuracy"),
        ("difference of error rates (a - b)", "error"),
        ("difference of detection costs (a - b)", "dcf"),
        ("difference of macro-F1 (a - b)", "macro-f1"),
        ("difference of balanced-accuracy (a - b)", "balanced-accuracy"),
        ("type I error", None),  # neither the error of a classifier nor any other measure of one
        ("coverage", None),
        (None, None),
    ],
)
def test_what_a_summary_names_is_found(title, name):
    found = measure_of_difference(title)
    assert (found.name if found else None) == name


@settings(deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.floats(-1e3, 1e3), st.floats(-1e3, 1e3)), min_size=1, max_size=30))
def test_errors_of_numbers_are_scikit_learns(pairs):
    label, said = np.array(pairs).T
    assert MEASURES["neg-mae"].of(label, said) == pytest.approx(-sk.mean_absolute_error(label, said), abs=1e-9)
    assert MEASURES["neg-mse"].of(label, said) == pytest.approx(-sk.mean_squared_error(label, said), abs=1e-6)


@pytest.mark.parametrize("n", range(1, 7))
def test_pass_at_k_is_the_share_of_draws_of_k_answers_with_a_right_one(n):
    """All draws of k of the n answers, of which the first are right, counted one by one."""
    for right, k in itertools.product(range(n + 1), range(1, n + 1)):
        draws = [min(draw) < right for draw in itertools.combinations(range(n), k)]
        assert pass_at(k, n, right) == Fraction(sum(draws), len(draws)), (right, k)
