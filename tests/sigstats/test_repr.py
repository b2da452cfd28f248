"""The `repr` of every public record is the call that makes it again, with public names alone."""

import math
from dataclasses import astuple, is_dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sigstats
from sigstats.ranking.rank_sets import rank_sets

from ..examples import examples
from .test_public_fuzz import CALLS

#: What a reader of a `repr` has: the public names, the numbers that Python has no literals for, NumPy's array.
NAMES = {"inf": math.inf, "nan": math.nan, "array": np.array} | {
    name: getattr(space, name) for space in (sigstats, sigstats.results) for name in space.__all__
}
#: A table in place of its call.
TABLE = (sigstats.results.ComparisonResult, sigstats.results.CheckResult)


def records(value):
    """The public records in a result, the outermost alone."""
    if isinstance(value, TABLE):
        return [value.rule, *value.rows]
    if is_dataclass(value) or hasattr(value, "_fields"):
        return [value]
    return [record for each in value for record in records(each)] if isinstance(value, tuple) else []


def evaluated(record):
    """What the text of a record makes, and nothing else."""
    return eval(repr(record), {"__builtins__": {"True": True, "False": False, "None": None}}, NAMES)


def remade(record):
    """Whether the text makes an equal object of the same type; of a long one, an object of the same type."""
    found = evaluated(record)
    assert type(found) is type(record)
    assert repr(found) == repr(record)
    # As tuples, in which one NaN is equal to itself; from Python 3.13 on it is not in data classes.
    assert found == record or "..." in repr(record) or astuple(found) == astuple(record)
    return type(record).__name__


@pytest.mark.long
def test_every_kind_of_record_is_made_again_of_what_is_shown():
    seen = set()
    for calls in CALLS.values():
        for function, arguments in calls:
            if not isinstance(function, sigstats.Measure):
                found = records(function(**arguments))
                found += [each.rejection() for each in found if isinstance(each, sigstats.results.FuzzyTestResult)]
                seen |= {remade(record) for record in found}
    # Those that stand only within others, or are a table, or are nothing but a base.
    within = {
        "AnytimeLook",
        "PairOverDatasets",
        "SignedRankProbabilities",
        "RankedCost",
        "RankedModel",
        "RankedPair",
        "RankedSlice",
    }
    within |= {"JudgeAgreement"}
    shown_otherwise = {"TestResult", "ComparisonResult", "CheckResult", "SequentialResult", "StudyResults"}
    shown_otherwise |= {"RankedHypotheses"}  # as a tuple
    assert seen >= set(sigstats.results.__all__) - within - shown_otherwise
    assert seen <= {*sigstats.results.__all__, *sigstats.__all__}


def test_the_names_of_results_are_enough():
    """As the documentation says: ``from sigstats.results import *``, inf, nan and NumPy's array."""
    names = {name: each for name, each in NAMES.items() if name in {*sigstats.results.__all__, "inf", "nan", "array"}}
    for found in (
        sigstats.accuracy_difference(6, 16, 161),
        sigstats.mean_score_test([0.5, 0.7], [0.6, 0.9]),
        sigstats.anytime_test([1, -1, 1]),
        sigstats.rank_models([[1, 0], [1, 1], [0, 0]]),
        sigstats.clopper_pearson(7, 10),
    ):
        assert eval(repr(found), names) == found


@pytest.mark.parametrize(
    "rule",
    [
        sigstats.FixedRule(maximum=np.int64(99)),
        sigstats.BesagCliffordRule(maximum=99, exceedances=np.int8(5)),
        sigstats.GandyRule(maximum=99, alpha=np.float64(0.05)),
    ],
)
def test_rules_and_where_they_stop_are_made_again(rule):
    remade(rule)
    remade(rule.test(np.arange(99) % 2 == 1, confidence_level=np.float64(0.9)))


SMALL = st.integers(0, 12)
COUNT = st.builds(lambda kind, value: kind(value), st.sampled_from([int, np.int64, np.uint8, np.float64]), SMALL)


@pytest.mark.long
@settings(deadline=None, max_examples=examples(200))
@given(a=COUNT, b=COUNT, level=st.sampled_from([0.9, np.float64(0.95), np.float32(0.5)]))
def test_results_of_numpys_numbers_are_made_again(a, b, level):
    for method in ("exact", "mid-p", "chi2"):
        remade(sigstats.mcnemar_test(a, b, method=method))
    remade(sigstats.discordant_odds_ratio(a, b, confidence_level=level))  # 0 of 0 is nan, 3 of 0 inf
    remade(sigstats.accuracy_difference(a, b, 30, confidence_level=level))
    remade(sigstats.clopper_pearson(a, 12, confidence_level=level))
    remade(sigstats.results.DiscordantCounts(int(a), int(b)))
    remade(sigstats.sign_flip_test(np.array([1, -2, 3]) * a, confidence_level=level))
    remade(sigstats.number_correct([a, 12], [12, a]))


@pytest.mark.parametrize("dtype", [object, str, "U9"])
def test_names_of_numpy_are_names(dtype):
    rng = np.random.default_rng(5)
    names = np.array([f"m{number}" for number in range(40)], dtype=dtype)
    remade(rank_sets(rng.random((50, 40)) < 0.5, models=names))
    remade(sigstats.rank_models(rng.random((50, 4)), models=names[:4], slices={names[5]: names[np.arange(50) % 2]}))
    remade(sigstats.compare_over_datasets(rng.random((7, 4)), models=names[:4], control=names[2], rng=1))
    for ranked in sigstats.possibilistic.weigh_hypotheses({names[0]: np.float64(0.1), names[1]: 1}):
        remade(ranked)
    remade(sigstats.Measure(name=np.str_("f-beta"), parameters=((np.str_("beta"), np.float64(2)),)))
    remade(sigstats.JointEvents.from_predictions(names, names, names[::-1]))


def test_long_arrays_are_shown_by_their_ends_to_the_last_digit():
    law = sigstats.number_correct([3000, 1000], [1000, 3000])
    assert len(law.numbers) > 1000
    found = evaluated(law)
    for name in ("numbers", "log10_pmf"):
        first, dots, last = np.split(getattr(found, name), [3, 4])
        assert (first.tolist(), last.tolist()) == (getattr(law, name)[:3].tolist(), getattr(law, name)[-3:].tolist())
        assert dots.tolist() == [...]
    other = sigstats.number_correct([3000, 1001], [1000, 3001])
    assert law != other
    assert law != sigstats.results.NumberCorrect(numbers=law.numbers, log10_pmf=np.nextafter(law.log10_pmf, 0))
    assert law != "law"
    with pytest.raises(TypeError, match="unhashable"):
        hash(law)
    sets = rank_sets(np.random.default_rng(0).random((50, 40)) < 0.5)
    rings = [evaluated(sets).pvalues[:3, :3], evaluated(sets).pvalues[-3:, -3:]]
    assert [each.tolist() for each in rings] == [sets.pvalues[:3, :3].tolist(), sets.pvalues[-3:, -3:].tolist()]
    assert len(repr(sets)) < 4000
