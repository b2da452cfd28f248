import subprocess
import sys

import sigstats

PROMISED = {
    "JointOutcomes", "bootstrap_test", "dcf_test", "efficiency_test", "goodness_of_fit_test", "homogeneity_test",
    "mcnemar_test", "monte_carlo_size", "permutation_test", "possibility", "power", "proportion_test", "sample_size",
}  # fmt: skip


def test_the_promised_names_are_public():
    assert set(sigstats.__all__) >= PROMISED
    assert all(hasattr(sigstats, name) for name in sigstats.__all__)


def test_every_public_function_has_an_example_that_runs():
    for name in sigstats.__all__:
        thing = getattr(sigstats, name)
        if callable(thing) and not isinstance(thing, type):
            assert ">>>" in thing.__doc__, name


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
