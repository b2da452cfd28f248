"""The `repr` of every public record is the call that makes it again, with public names alone."""

import math
from dataclasses import fields, is_dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sigstats
from sigstats.anytime.test import AnytimeLook

from ..examples import examples
from .test_public_fuzz import CALLS, RECORDS

#: What a reader of a `repr` has: the public names and parts of results, the numbers without literals, NumPy's array.
NAMES = {"AnytimeLook": AnytimeLook, "inf": math.inf, "nan": math.nan, "array": np.array} | {
    name: getattr(sigstats, name) for name in sigstats.__all__
}
#: A table in place of its call.
TABLE = (sigstats.ComparisonResult, sigstats.CheckResult)


def records(value):
    """The public records in a result, the outermost alone."""
    if isinstance(value, TABLE):
        return [value.rule, *value.rows]
    named = hasattr(value, "_fields")
    if is_dataclass(value) or named:
        return [value]
    return [record for each in value for record in records(each)] if isinstance(value, tuple) else []


def remade(record):
    """Whether the text, and nothing else, makes an equal object of the same type."""
    found = eval(repr(record), {"__builtins__": {"True": True, "False": False, "None": None}}, NAMES)
    assert type(found) is type(record)
    assert found == record
    assert repr(found) == repr(record)
    return type(record).__name__


def test_every_kind_of_record_is_made_again_of_what_is_shown():
    seen = set()
    for calls in CALLS.values():
        for function, arguments in calls:
            if not isinstance(function, sigstats.Measure):
                found = records(function(**arguments))
                found += [each.rejection() for each in found if isinstance(each, sigstats.FuzzyTestResult)]
                seen |= {remade(record) for record in found}
    # Those that stand only within others, or are a table, or are nothing but a base.
    within = {"Interval", "PairOverDatasets", "SignedRankProbabilities", "RankedModel", "RankedPair", "RankedSlice"}
    shown_otherwise = {"ALTERNATIVES", "TestResult", "ComparisonResult", "CheckResult", "SequentialResult"}
    assert seen >= RECORDS - within - shown_otherwise
    assert seen <= set(sigstats.__all__)


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


@settings(deadline=None, max_examples=examples(200))
@given(a=COUNT, b=COUNT, level=st.sampled_from([0.9, np.float64(0.95), np.float32(0.5)]))
def test_results_of_numpys_numbers_are_made_again(a, b, level):
    for method in ("exact", "mid-p", "chi2"):
        remade(sigstats.mcnemar_test(a, b, method=method))
    remade(sigstats.discordant_odds_ratio(a, b, confidence_level=level))  # 0 of 0 is nan, 3 of 0 inf
    remade(sigstats.accuracy_difference(a, b, 30, confidence_level=level))
    remade(sigstats.clopper_pearson(a, 12, confidence_level=level))
    remade(sigstats.DiscordantCounts(int(a), int(b)))
    remade(sigstats.sign_flip_test(np.array([1, -2, 3]) * a, confidence_level=level))
    remade(sigstats.number_correct([a, 12], [12, a]))


@pytest.mark.parametrize("dtype", [object, str, "U9"])
def test_names_of_numpy_are_names(dtype):
    rng = np.random.default_rng(5)
    names = np.array([f"m{number}" for number in range(40)], dtype=dtype)
    remade(sigstats.rank_sets(rng.random((50, 40)) < 0.5, models=names))
    remade(sigstats.rank(rng.random((50, 4)), models=names[:4], slices={names[5]: names[np.arange(50) % 2]}))
    remade(sigstats.compare_over_datasets(rng.random((7, 4)), models=names[:4], control=names[2], rng=1))
    for ranked in sigstats.rank_hypotheses({names[0]: np.float64(0.1), names[1]: 1}):
        remade(ranked)
    remade(sigstats.Measure(name=np.str_("f-beta"), parameters=((np.str_("beta"), np.float64(2)),)))
    remade(sigstats.JointEvents.from_predictions(names, names, names[::-1]))


def test_large_arrays_are_shown_whole_and_to_the_last_digit():
    law = sigstats.number_correct([3000, 1000], [1000, 3000])
    assert len(law.numbers) > 1000
    assert -math.inf in law.log10_pmf
    remade(law)
    other = sigstats.number_correct([3000, 1001], [1000, 3001])
    assert law != other
    assert law != sigstats.NumberCorrect(numbers=law.numbers, log10_pmf=np.nextafter(law.log10_pmf, 0))
    assert law != "law"
    with pytest.raises(TypeError, match="unhashable"):
        hash(law)
    assert {field.name for field in fields(law)} == {"numbers", "log10_pmf"}
