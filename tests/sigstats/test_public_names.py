import importlib.metadata
import inspect
import re
import subprocess
import sys

import pytest

import sigstats
from sigstats._common.calls import MOVED
from sigstats.files.frames._arguments import CompareOptions
from sigstats.files.frames.check import CheckOptions

PROMISED = {
    "JointOutcomes", "bootstrap_test", "dcf_test", "efficiency_test", "goodness_of_fit_test", "homogeneity_test",
    "mcnemar_test", "monte_carlo_size", "permutation_test", "paired_power", "paired_sample_size", "possibility",
    "proportion_test",
}  # fmt: skip


def test_the_promised_names_are_public():
    assert {*sigstats.__all__, *MOVED} >= PROMISED
    assert not {*sigstats.__all__} & {*MOVED}
    assert all(hasattr(sigstats, name) for name in sigstats.__all__)


def test_every_public_function_has_an_example_that_runs():
    for name in sigstats.__all__:
        thing = getattr(sigstats, name)
        if callable(thing) and not isinstance(thing, type):
            assert ">>>" in thing.__doc__, name


def test_help_says_when_not_to_use_every_function_and_where_it_comes_from():
    functions = {name for name in sigstats.__all__ if inspect.isfunction(getattr(sigstats, name))}
    docs = {name: inspect.getdoc(getattr(sigstats, name)) for name in functions}
    assert [name for name in functions if "When not to use: " not in docs[name].partition("Parameters\n")[0]] == []
    of_compare = {"assert_at_least", "assert_no_regression"}
    own = {"discordant_counts", "open_results", "read_predictions", "run_study", *of_compare}
    assert {name for name in functions if "References\n" not in docs[name]} == own
    assert all(re.search(r"that of `sigstats\.(compare|check)`", docs[name]) for name in of_compare)


def test_the_version_is_that_of_the_package():
    assert sigstats.__version__ == importlib.metadata.version("sigstats")
    assert "__version__" not in sigstats.__all__


def test_an_assertion_takes_the_options_of_a_comparison():
    for function, known in ((sigstats.compare, CompareOptions), (sigstats.check, CheckOptions)):
        options = inspect.signature(function).parameters.values()
        assert {each.name for each in options if each.kind is each.KEYWORD_ONLY} == set(known.__annotations__)


@pytest.mark.long
def test_importing_and_testing_cost_numpy_and_scipy_alone():
    code = (
        "import sys, sigstats; sigstats.mcnemar_test(9, 5); sigstats.efficiency_test([[9, 7], [1, 9]])\n"
        "sigstats.compare([0, 1] * 9, [0, 1] * 9, [0, 0] * 9); sigstats.bootstrap_test; sigstats.permutation_test\n"
        "print(sorted({name.split('.')[0] for name in sys.modules}))"
    )
    loaded = eval(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
    unwanted = "dask distributed prefect sklearn pandas pyarrow pydantic matplotlib fsspec joblib narwhals rich"
    assert not {*unwanted.split()} & set(loaded)
    assert {"numpy", "scipy"} <= set(loaded)


def test_a_mistyped_name_is_told_with_the_nearest():
    with pytest.raises(AttributeError, match=r"sigstats has no mcnemar_tst \(did you mean 'mcnemar_test'\?\)"):
        sigstats.mcnemar_tst


#: Other packages' words for what is called pvalue, adjusted_pvalue, confidence_interval, standard_error, n, rng,
#: n_resamples, confidence_level, y and positive here.
OTHER_WORDS = {
    *("p", "p_value", "p_val", "pval", "p_null", "p_worse", "p_differs", "p_adj", "p_adjusted", "pvalue_adjusted"),
    *("ci", "conf_int", "interval", "std_error", "stderr", "se", "sem", "nobs", "n_obs", "n_samples", "trials"),
    *("seed", "random_state", "replicates", "resamples", "n_boot", "n_bootstrap", "n_permutations", "n_perm"),
    *("confidence", "conf_level", "y_true", "truth", "true_labels", "pos_label", "positive_class", "category"),
}


def public_names():
    """The parameters of all public functions and methods, and the attributes of all public classes."""
    for module in (sigstats, sigstats.fuzzy, sigstats.possibilistic, sigstats.results):
        for name in module.__all__:
            thing = getattr(module, name)
            if not isinstance(thing, type):
                members = {"": thing, **{key: value for key, value in vars(thing).items() if callable(value)}}
            else:
                fields = getattr(thing, "__dataclass_fields__", {})
                members = {key: getattr(thing, key, None) for key in (*dir(thing), *fields) if key[0] != "_"}
                yield from ((f"{name}.{key}", key) for key in members)
            for key, value in members.items():
                if callable(value) and not isinstance(value, type) and not inspect.isbuiltin(value):
                    yield from ((f"{name}.{key}({each})", each) for each in inspect.signature(value).parameters)


def test_parameters_and_attributes_have_one_name_each():
    found = dict(public_names())
    assert {"adjusted_pvalue", "confidence_level", "n_resamples", "standard_error"} <= set(found.values())
    # The stored replicates of a study are a table, and no number of them.
    assert {place for place, name in found.items() if name in OTHER_WORDS} == {"StudyResults.replicates"}


def test_every_estimate_of_a_test_has_an_interval_but_where_none_is_known():
    results = [getattr(sigstats.results, name) for name in sigstats.results.__all__]
    tests = [each for each in results if issubclass(each, sigstats.results.TestResult)]
    without = {each.__name__ for each in tests if has(each, "estimate") and not has(each, "confidence_interval")}
    # F of 5x2cv is no distance to an estimate; predictions of a cross-validation depend on each other.
    assert without == {"FiveByTwoResult", "PermutationTestResult"}


def has(kind, name):
    return name in getattr(kind, "__dataclass_fields__", {}) or hasattr(kind, name)
