"""Every public function, with one or two of its arguments spoiled: an answer, or ValueError of one line."""

import math
import re
import tempfile
from datetime import date
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.neighbors import KNeighborsClassifier

import sigstats
from sigstats._common.calls import MOVED
from sigstats.proportions import dcf_test, proportion_test
from sigstats.ranking.rank_sets import rank_sets
from sigstats.retraining.retrainer import Retrainer
from sigstats.sequential.rules import deciding_exceedances
from sigstats.subsampling import draw_samples, draw_subsamples, finite_power

from ..examples import examples, thorough


class UnreadableArray:
    def __array__(self, *arguments, **options):
        raise RuntimeError("two\nlines")

    def __repr__(self):
        raise KeyError("two\nlines")


class UnreadableSequence:
    def __len__(self):
        raise MemoryError

    def __getitem__(self, item):
        raise ZeroDivisionError

    def __iter__(self):
        raise ZeroDivisionError


class UnreadableNumber:
    __hash__ = None

    def __int__(self):
        raise ZeroDivisionError

    __float__ = __index__ = __int__

    def __eq__(self, other):
        raise ZeroDivisionError


def misleading(*arguments):
    raise LookupError("two\nlines")


HUGE, MANY, FEWER = 10**400, 2**31, -3
#: No argument of any function.
NEVER = [
    b"x", bytearray(b"1"), 1j, UnreadableArray(), UnreadableSequence(), UnreadableNumber(), object(), math.nan,
    math.inf,
    -math.inf, FEWER, -0.5, HUGE, -(2**63) - 1, 1e300, [[1, 2], [3]], [[[1]]], [math.nan, 1.0], [-1, 2], [[1, -2], [3,
    4]],
    [0.5, math.inf], [10**400, 1], [None, 1], [b"a", b"b"], np.array([1 + 1j, 2]), np.ma.masked,
    np.ma.array([1, 2], mask=[False, True]), np.array([(1, 2)], dtype=[("a", int), ("b", int)]), date(2020, 1, 1),
    np.datetime64("2020-01-01"), Decimal("NaN"), np.longdouble("1e400"), "no\nsuch", {"a": "x"}, {1, 2},
    pd.NA, np.timedelta64(3, "D"), [None, math.nan, "c"],
]  # fmt: skip
#: Arguments of some.
SOMETIMES = [
    None, True, False, "", "exact", "chi2", "x" * 1000, 0, 1, 2, 7, -0.0, 0.5, 1.5, 5e-324, MANY, 2**53, 2**53 + 1,
    2**63, 2**64,
    Fraction(1, 3), Decimal("0.5"), np.int64(5), np.float16(0.5), np.bool_(True), np.array(5), np.array([]),
    np.array(None),
    [], [[]], [[], []], [1], [0, 0], [1, 2], [3, 2, 1], [[0, 0], [0, 0]], [[1, 2], [3, 4]], [[1, 2, 3], [4, 5, 6]],
    [0.5, 0.5],
    [0.5, 0.6], [1.0, 0.0], [0.0, 1.0], [1e-320, 1.0], [1e308, 1e308], [2**53, 2**53], [2**63, 1], [2**64, 1],
    [[2**52, 1], [1, 2**50]],
    [2**50] * 4, [[2**40] * 3] * 3, [100_000] * 3, [5] * 5, ["a", "b"], ["two\nlines", "b"], [True, False], (1,),
    range(3), {}, {"a": 0.1, "b": 0.2},
    np.array([1, 2], dtype=object), np.zeros((0, 3)), np.zeros((2, 2, 2)), np.array([1.0, 2.0], dtype=np.float16),
    np.array([1.5, 2.5], dtype=np.float16), np.array([1, 2], dtype=np.longdouble), misleading, int,
    [np.array(0), np.array(1)], [0j, 1 + 0j, 0j],
]  # fmt: skip

X, Y = np.random.default_rng(0).normal(size=(12, 2)), [0, 1] * 6
FUZZY = [[1, 0.5], [0, 1], [1, 0]]
OUTCOMES = sigstats.JointOutcomes(5, 4, 3, 2, 1, 2, 3, 4)
EVENTS = sigstats.JointEvents.from_predictions([0, 1, 2, 2], [0, 1, 1, 2], [0, 2, 2, 2])
SCORES = [[0.9, 0.8, 0.7], [0.6, 0.7, 0.5], [0.8, 0.8, 0.9], [0.7, 0.6, 0.6]]
FEW = {"n_resamples": 99, "rng": 1}
FRAME = pd.DataFrame({"id": range(12), "label": Y, "prediction": Y, "part": ["x", "y"] * 6})
FILE = Path(tempfile.mkdtemp(), "predictions.csv")
FRAME.to_csv(FILE, index=False)
RULE = sigstats.ComparisonRule(n_resamples=99, alpha=0.45)
TEST = {"alpha": 0.05, "alternative": "two-sided", "method": "mid-p", "correction": False}

#: Good arguments, by which each public name can be called; a list where there are several ways to go.
CALLS = {
    "ComparisonRule": [
        (sigstats.ComparisonRule, {"alpha": 0.05, "adjust": "holm", "minimum_effect": 0.01, "margin": 0.01,
                                   "confidence_level": 0.9, "n_resamples": 99, "rng": 1, "smallest_slice": 2}),
    ],
    "compare": [
        (sigstats.compare, {"y": Y, "baseline": Y, "candidate": [0] * 12, "scores": ([0.5] * 12, [0.1, 0.9] * 6),
                            "groups": list(range(4)) * 3, "slices": {"s": ["x", "y", "z"] * 4},
                            "measures": ["accuracy", "auc"], "positive": 1, "rule": RULE}),
        (sigstats.compare, {"y": ["n", "y"] * 6, "baseline": ["y"] * 12, "candidate": ["n"] * 12,
                            "measures": ["macro-f1"], "rule": RULE}),
        (sigstats.compare, {"y": FRAME, "baseline": FRAME.assign(prediction=0), "id": "id", "slices": ["part"],
                            "groups": "part", "label": "label", "measures": ["accuracy"], "rule": RULE}),
    ],
    "assert_no_regression": [
        (sigstats.assert_no_regression, {"y": FRAME, "baseline": FRAME.assign(by=1), "fail_on": "fail",
                                         "rule": RULE}),
        (sigstats.assert_no_regression, {"y": Y, "baseline": Y, "candidate": list(Y), "fail_on": "fail",
                                         "rule": RULE}),
    ],
    "check": [
        (sigstats.check, {"y": FRAME, "prediction": "prediction", "at_least": 0.1, "id": "id",
                                    "label": "label", "groups": "part", "slices": ["part"],
                                    "measures": ["accuracy"],
                                    "rule": RULE}),
        (sigstats.check, {"y": Y, "prediction": Y, "at_least": 0.1, "groups": list(range(4)) * 3,
                                    "slices": {"s": ["x", "y", "z"] * 4}, "measures": ["f1"], "positive": 1,
                                    "rule": RULE}),
    ],
    "assert_at_least": [
        (sigstats.assert_at_least, {"y": FRAME, "prediction": "prediction", "at_least": 0.1, "id": "id",
                                    "label": "label", "groups": "part", "slices": ["part"],
                                    "measures": ["accuracy"], "fail_on": "fail",
                                    "rule": RULE}),
        (sigstats.assert_at_least, {"y": Y, "prediction": Y, "at_least": 0.1, "groups": list(range(4)) * 3,
                                    "slices": {"s": ["x", "y", "z"] * 4}, "measures": ["f1"], "positive": 1,
                                    "rule": RULE}),
    ],
    "read_predictions": [
        (sigstats.read_predictions, {"paths": FILE, "id": "id", "label": "label", "prediction": "prediction",
                                     "slices": ["part"], "groups": "part", "unscored": "drop"}),
    ],
    "BesagCliffordRule": [(sigstats.BesagCliffordRule, {"maximum": 99, "exceedances": 10})],
    "FixedRule": [
        (sigstats.FixedRule, {"maximum": 99}),
        (sigstats.FixedRule(maximum=9).test, {"exceeds": [0, 1], "confidence_level": 0.9}),
    ],
    "GandyRule": [(sigstats.GandyRule, {"maximum": 99, "alpha": 0.05, "reject_at": 0.04, "risk": 0.001,
                                        "half_spent": 9})],
    "JointEvents": [
        (sigstats.JointEvents, {"categories": (0, 1), "kind": "classes", "events": (((0,), (0,), (1,)),),
                                "counts": (3,)}),
        (sigstats.JointEvents.from_predictions, {"y": [0, 1], "a": [0, 1], "b": [1, 1], "classes": [0, 1]}),
        (sigstats.JointEvents.from_indicators, {"y": [[0, 1]], "a": [[0, 1]], "b": [[1, 1]], "categories": ["a",
                                                "b"]}),
        (EVENTS.outcomes, {"positive": 1}),
    ],
    "JointOutcomes": [
        (sigstats.JointOutcomes, {f"e{i}": i for i in range(1, 9)}),
        (sigstats.JointOutcomes.from_predictions, {"y": [0, 1], "a": [0, 1], "b": [1, 1], "positive": 1}),
    ],
    "Measure": [
        (sigstats.Measure, {"name": "f1", "greater_is_better": True, "parameters": (), "function": None}),
        (sigstats.Measure(name="f1"), {"tp": 1, "fn": 2, "fp": 3, "tn": 4, "kind": "binary", "undefined": 0.0}),
        (sigstats.Measure(name="kappa"), {"tp": [1, 1], "fn": [2, 1], "fp": [3, 1], "tn": [4, 1], "kind": "classes"}),
    ],
    "Retrainer": [
        (Retrainer, {"estimator": KNeighborsClassifier(1), "X": X, "y": Y, "folds": [0, 0, 1, 1] * 3,
                              "null": "labels", "batched": True, "transforms": "fold"}),
        (Retrainer(KNeighborsClassifier(1), X, Y, [0, 0, 1, 1] * 3, null="features").wrong, {"rng": 1,
                                                                                                      "size": 2}),
    ],
    "accuracy_difference": [
        (sigstats.accuracy_difference, {"only_a": 3, "only_b": 4, "n": 10, "confidence_level": 0.9}),
    ],
    "adjust_pvalues": [(sigstats.adjust_pvalues, {"pvalues": [0.1, 0.2], "method": "holm"})],
    "auc_test": [
        (sigstats.auc_test, {"y": [1, 1, 0, 0, 1, 0], "score_a": [1, 2, 3, 1, 2, 3],
                             "score_b": [3, 2, 1, 1, 0, 0], "groups": groups, "alternative": "less",
                             "confidence_level": 0.9, "method": method})
        for groups, method in ((None, "asymptotic"), ([0, 0, 1, 1, 2, 2], "t"))
    ],
    "mean_score_test": [
        (sigstats.mean_score_test, {"score_a": [1, 2, 3, 1], "score_b": [3, 2, 1, 1], "groups": [0, 0, 1, 1],
                                    "alternative": "greater", "confidence_level": 0.9}),
        (sigstats.mean_score_test, {"score_a": [1, 2, 3, 1, 2], "score_b": [3, 2, 1, 1, 1], "order": [1, 2, 5, 4, 3]}),
    ],
    "calibration_test": [
        (sigstats.calibration_test, {"y": [0, 1, 1, 0], "probabilities": [0.2, 0.7, 0.9, 0.4], "bins": 2,
                                     "positive": 1, "statistic": "ece", **FEW}),
        (sigstats.calibration_test, {"y": [0, 1, 1, 0], "probabilities": [[0.8, 0.2], [0.3, 0.7], [0.1, 0.9], [1, 0]],
                                     "classes": [0, 1], "statistic": "kuiper", **FEW}),
    ],
    "bootstrap_test": [
        (sigstats.bootstrap_test, {"outcomes": OUTCOMES, "measure": "f1", "confidence_level": 0.9,
                                   "method": "percentile",
                                   "alternative": "two-sided", "null_value": 0.0, "keep_replicates": True, **FEW}),
        (sigstats.bootstrap_test, {"outcomes": EVENTS, "measure": "macro-f1", "method": "bca", "alternative": "less",
                                   **FEW}),
    ],
    "deciding_exceedances": [(deciding_exceedances, {"alpha": 0.05, "maximum": 999})],
    "clopper_pearson": [(sigstats.clopper_pearson, {"successes": 3, "n": 9, "confidence_level": 0.9})],
    "dcf_test": [(dcf_test, {"outcomes": OUTCOMES, "cost_fn": 1, "cost_fp": 1, "prior": 0.5, "paired": True,
                                      "alternative": "less", "confidence_level": 0.9})],
    "detectable_difference": [(sigstats.detectable_difference, {"n": 100, "discordance": 0.5, "power": 0.8,
    **TEST})],
    "discordant_counts": [(sigstats.discordant_counts, {"y": [0, 1], "a": [0, 1], "b": [1, 1]})],
    "discordant_odds_ratio": [(sigstats.discordant_odds_ratio, {"only_a": 3, "only_b": 4, "confidence_level": 0.9,
    "method": "mid-p"})],
    "dominance": [(sigstats.possibilistic.dominance, {"first": [0.1, 1], "second": [1, 0.2]})],
    "draw_samples": [
        (partial(draw_samples, size=2), {"probabilities": [0.5, 0.5], "n": 1, "rng": 1}),
        (partial(draw_subsamples, size=2), {"counts": [3, 4], "n": 1, "rng": 1}),
    ],
    "efficiency_test": [
        (sigstats.efficiency_test, {"table": [[3, 1], [2, 5]], "method": method, "confidence_level": 0.9, **FEW})
        for method in ("exact", "monte-carlo", "chi2")
    ],
    "finite_power": [(finite_power, {"n": 5, "only_a": 2, "only_b": 3, "total": 10, "swapped": True, "alpha": 0.05,
                                     "method": "exact"})],
    "fuzzy.efficiency_test": [
        (sigstats.fuzzy.efficiency_test, {"y": FUZZY, "assigned": FUZZY[::-1], "n_tables": 50})
    ],
    "fuzzy.goodness_of_fit_test": [
        (sigstats.fuzzy.goodness_of_fit_test, {"assigned": FUZZY, "probabilities": [0.4, 0.6], "method": method,
                                               "n_tables": 50})
        for method in ("exact", "chi2")
    ],
    "fuzzy.homogeneity_test": [
        (sigstats.fuzzy.homogeneity_test, {"first": FUZZY, "second": FUZZY[::-1], "method": method, "n_tables": 50})
        for method in ("exact", "chi2")
    ],
    "goodness_of_fit_test": [
        (sigstats.goodness_of_fit_test, {"counts": [3, 4], "probabilities": [0.4, 0.6], "method": method,
                                         "ordering": ordering,
                                         **FEW})
        for method in ("exact", "monte-carlo", "chi2", "likelihood-ratio")
        for ordering in ("probability", "chi2", "likelihood-ratio")
    ],
    "homogeneity_test": [
        (sigstats.homogeneity_test, {"counts_a": [3, 4], "counts_b": [4, 5], "method": method, **FEW})
        for method in ("exact", "bounds", "monte-carlo", "chi2")
    ],
    "mcnemar_test": [
        (sigstats.mcnemar_test, {"only_a": 3, "only_b": 4, "alternative": "less", "method": "chi2",
                                 "correction": True, "confidence_level": 0.9}),
        (sigstats.mcnemar_test, {"only_a": 3, "only_b": 4, "method": "exact"}),
        (sigstats.mcnemar_test, {"only_a": 3, "only_b": 4, "method": "unconditional", "n": 20}),
    ],
    "membership": [(sigstats.possibilistic.membership, {"pvalue": 0.1})],
    "monte_carlo_size": [(sigstats.monte_carlo_size, {"alpha": 0.1})],
    "number_correct": [(sigstats.number_correct, {"row_totals": [3, 4], "column_totals": [4, 3]})],
    "permutation_test": [
        (sigstats.permutation_test, {"classifier": classifier, "X": X, "y": Y, "null": null, "cv": 2, "n_resamples": 3,
                                     "rng": 1,
                                     "transforms": "fold", "n_jobs": 1, "groups": None, **measured})
        for classifier, null, measured in (("1-nn", "labels", {"measure": "error"}),
                                           (KNeighborsClassifier(1), "features", {"measure": "f1", "positive": None}))
    ],
    "possibility": [(sigstats.possibilistic.possibility, {"pvalue": 0.1, "alternative_pvalue": 0.2})],
    "paired_power": [
        (sigstats.paired_power, {"n": 20, "only_a": 0.3, "only_b": 0.1, **TEST}),
        (sigstats.paired_power, {"n": 4, "accuracy_a": [0.3, 0.9], "accuracy_b": [0.1, 0.7], "answers": 2}),
        (sigstats.paired_power, {"n": 4, "only_a": 0.3, "only_b": 0.1, "answers": 2, "correlation": 0.2}),
    ],
    "proportion_test": [(proportion_test, {"outcomes": OUTCOMES, "paired": True, "alternative": "less",
                                                    "confidence_level": 0.9})],
    "weigh_hypotheses": [(sigstats.possibilistic.weigh_hypotheses, {"pvalues": {"a": 0.1, "b": 0.2}})],
    "relax_probabilities": [(sigstats.possibilistic.relax_probabilities, {"probabilities": [0.5, 0.5], "share": 0.1,
    "classes": [0]})],
    "paired_sample_size": [(sigstats.paired_sample_size, {"only_a": 0.3, "only_b": 0.1, "power": 0.8, **TEST})],
    "compare_over_datasets": [
        (sigstats.compare_over_datasets, {"scores": SCORES, "models": ["a", "b", "c"], "datasets": ["x", "y", "z", "w"],
                                          "control": control, "adjust": "none", "alpha": 0.1, "rope": 0.1,
                                          "greater_is_better": False, "n_resamples": 9, "rng": 1})
        for control in ("a", "b")
    ],
    "five_by_two_test": [(sigstats.five_by_two_test, {"differences": [[0.1, 0.2]] * 5})],
    "corrected_resampled_test": [
        (sigstats.corrected_resampled_test, {"differences": [0.1, 0.2, 0.0], "n_train": 9, "n_test": 1,
                                             "alternative": "less", "confidence_level": 0.9}),
    ],
    "f1_difference_interval": [(sigstats.f1_difference_interval, {"outcomes": OUTCOMES, "confidence_level": 0.9})],
    "f1_interval": [(sigstats.f1_interval, {"true_positives": 8, "false_positives": 1, "false_negatives": 3,
                                            "method": "wilson", "confidence_level": 0.9})],
    "friedman_test": [
        (sigstats.friedman_test, {"scores": SCORES, "method": method, "greater_is_better": False, "n_resamples": 9,
                                  "rng": 1})
        for method in ("f", "chi2", "exact", "monte-carlo")
    ],
    "pair_probability": [(sigstats.pair_probability, {"only_a": 3, "only_b": 4, "prior": 0.5})],
    "rank_models": [
        (sigstats.rank_models, {"correct": correct, "label": label, "models": ["a", "b", "c"], "groups": [1, 1, 2, 3],
                         "slices": {"half": [1, 1, 2, 2]}, "items": [1, 1, 2, 3], "confidence_level": 0.9,
                         "smallest_slice": 2})
        for correct, label in ((SCORES, None), ([[1, 0, 1], [1, 1, 0], [0, 0, 1], [1, 0, 0]], [1, 0, 1, 0]))
    ],
    "rank_votes": [
        (sigstats.rank_votes, {"model_a": ["x", "y", "x"], "model_b": ["y", "z", "z"], "winner": ["a", "tie", "b"],
                               "groups": [1, 1, 2], "confidence_level": 0.9}),
    ],
    "rank_sets": [
        (rank_sets, {"correct": correct, "models": ["a", "b", "c"], "groups": [1, 1, 2, 3],
                              "confidence_level": 0.9})
        for correct in (SCORES, [[1, 0, 1], [1, 1, 0], [0, 0, 1], [1, 0, 0]])
    ],
    "signed_rank_test": [
        (sigstats.signed_rank_test, {"differences": [1, -2, 3, 0], "alternative": "less", "zero_method": "pratt",
                                     "method": method, "confidence_level": 0.9})
        for method in ("exact", "normal")
    ],
    "unpaired_test": [
        (sigstats.unpaired_test, {"a": [2.5, 2.9, 2.6], "b": [2.5, 2.8], "score_range": [2.5, 2.9], "margin": 0.1,
                                  "alternative": "less", "confidence_level": 0.9}),
    ],
    "joint_tasks_test": [
        (sigstats.joint_tasks_test, {"only_a": [3, 4], "only_b": [4, 5], "n": [20, 30], "alternative": "less",
                                     "confidence_level": 0.9, "n_resamples": 9, "rng": 1}),
    ],
    "stratified_paired_test": [
        (sigstats.stratified_paired_test, {"only_a": [3, 4], "only_b": [4, 5], "n": [20, 30], "weights": "rows",
                                           "alternative": "less", "confidence_level": 0.9}),
    ],
    "sign_flip_test": [
        (sigstats.sign_flip_test, {"differences": [1, -2, 3, 0], "sizes": [3, 3, 3, 1], "limit": 1.0,
                                   "alternative": "less", "method": method, "n_resamples": 9, "confidence_level": 0.9,
                                   "rng": 1})
        for method in ("exact", "monte-carlo")
    ],
    "judged_test": [
        (sigstats.judged_test, {"judge_a": [1, 1, 0], "judge_b": [1, 0, 0], "people_a": [1, None, 0],
                                "people_b": [1, 0, 0], "alternative": "less", "confidence_level": 0.9,
                                "n_resamples": 999, "rng": 1}),
    ],
    "anytime_test": [
        (sigstats.anytime_test, {"differences": [0.4, -0.4, 0.2], "counts": [3, 1, 2], "looks": [1, 1, 2], "limit": 0.4,
                                 "margin": 0.1, "alternative": "less", "confidence_level": 0.9}),
    ],
    "type_one_error": [(sigstats.type_one_error, {"n": 20, "discordance": 0.1, **TEST})],
}  # fmt: skip
#: Plain records of results, and constants: nothing is computed.
#: Names of the program, which read and write files: `tests/flows/api` has their bad input.
PROGRAM = {"open_results", "run_study"}

ALL = [(name, *call) for name, calls in CALLS.items() for call in calls]
#: Labels may be any numbers or strings, values and hypothetical differences as large as they like.
LENIENT = {
    *("id", "label", "prediction", "y", "a", "b", "model_a", "classes", "categories", "positive"),
    *("differences", "undefined", "null_value", "tp", "fn", "fp", "tn"),
    "paths",  # complaints of a file begin with its name
}
#: Other names under which an argument is refused.
ALIASES = {
    "events": "counts",  # of which there are as many
    "score_range": "a",  # values beyond the limits
    "differences": "sizes",
    "scores": "models|datasets",
    "correct": "models|groups|label|slices",
    "estimator": "classifier",
    "score_a": "score_b",
    "folds": "cv|n_splits",
    "cv": "n_splits",
    "name": "measure",
    "y": "n_splits",
    "baseline": "candidate",
    "slices": "baseline|predictions",
    "groups": "baseline|predictions",
    "parameters": "f1",
}


def complaint(function, arguments):
    """What the call complains of, or None; any other exception escapes, and any warning is an exception here."""
    try:
        function(**arguments)
    except ValueError as error:
        message = str(error)
        assert message
        assert len(message.splitlines()) == 1
        assert len(message) < 700
        return message
    return None


def test_every_public_name_is_here():
    fuzzy = {f"fuzzy.{name}" for name in sigstats.fuzzy.__all__}
    inner = {"Retrainer", "deciding_exceedances", "draw_samples", "finite_power", *MOVED}
    public = {*sigstats.__all__} - {"fuzzy", "possibilistic", "results", "Interval"}
    assert set(CALLS) | PROGRAM == public | fuzzy | inner
    assert all(complaint(function, good) is None for _, function, good in ALL)


def some(values, first):
    """All values, or, in a run such as `make test`, every fifth of them."""
    return values if thorough() else values[first % 5 :: 5]


@pytest.mark.parametrize("name", CALLS)
def test_one_spoiled_argument_is_an_answer_or_one_line(name):
    for function, good in CALLS[name]:
        for number, argument in enumerate(good):
            for bad in some(NEVER, number):
                if argument == "n_jobs" and bad is FEWER:
                    continue
                found = complaint(function, {**good, argument: bad})
                if argument not in LENIENT and not (argument == "rng" and bad is HUGE):
                    assert found is not None, (argument, type(bad))
                    fields = rf"\b({ALIASES.get(argument, argument)}|{argument})\b"
                    assert re.search(fields, found.split(": ")[0]), (argument, found)
            for bad in some(SOMETIMES, number):
                # Processes would be started, and so many replicates counted as were asked for.
                if argument != "n_jobs" and not (argument == "n_resamples" and bad is MANY):
                    complaint(function, {**good, argument: bad})


@settings(deadline=None, derandomize=True, max_examples=examples(600))
@given(st.data())
def test_two_spoiled_arguments_are_an_answer_or_one_line(data):
    _, function, good = data.draw(st.sampled_from(ALL))
    spoiled = data.draw(st.sets(st.sampled_from(sorted(set(good) - {"n_jobs", "n_resamples"})), min_size=1, max_size=2))
    complaint(function, {**good, **{argument: data.draw(st.sampled_from(NEVER + SOMETIMES)) for argument in spoiled}})
