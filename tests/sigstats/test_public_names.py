import importlib.metadata
import inspect
import subprocess
import sys

import pytest

import sigstats
from sigstats.frames.compare import CompareOptions

PROMISED = {
    "JointOutcomes", "bootstrap_test", "dcf_test", "efficiency_test", "goodness_of_fit_test", "homogeneity_test",
    "mcnemar_test", "monte_carlo_size", "permutation_test", "paired_power", "paired_sample_size", "possibility",
    "proportion_test",
}  # fmt: skip


def test_the_promised_names_are_public():
    assert set(sigstats.__all__) >= PROMISED
    assert all(hasattr(sigstats, name) for name in sigstats.__all__)


def test_every_public_function_has_an_example_that_runs():
    for name in sigstats.__all__:
        thing = getattr(sigstats, name)
        if callable(thing) and not isinstance(thing, type):
            assert ">>>" in thing.__doc__, name


def test_the_version_is_that_of_the_package():
    assert sigstats.__version__ == importlib.metadata.version("sigstats")
    assert "__version__" not in sigstats.__all__


def test_an_assertion_takes_the_options_of_a_comparison():
    options = inspect.signature(sigstats.compare).parameters.values()
    assert {each.name for each in options if each.kind is each.KEYWORD_ONLY} == set(CompareOptions.__annotations__)


def test_importing_and_testing_cost_numpy_and_scipy_alone():
    code = (
        "import sys, sigstats; sigstats.mcnemar_test(9, 5); sigstats.efficiency_test([[9, 7], [1, 9]])\n"
        "print(sorted({name.split('.')[0] for name in sys.modules}))"
    )
    loaded = eval(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
    unwanted = {
        "dask",
        "distributed",
        "prefect",
        "sklearn",
        "pandas",
        "pyarrow",
        "pydantic",
        "matplotlib",
        "fsspec",
        "joblib",
    }
    assert not unwanted & set(loaded)
    assert {"numpy", "scipy"} <= set(loaded)


def test_a_mistyped_name_is_told_with_the_nearest():
    with pytest.raises(AttributeError, match=r"sigstats has no mcnemar_tst \(did you mean 'mcnemar_test'\?\)"):
        sigstats.mcnemar_tst  # noqa: B018
