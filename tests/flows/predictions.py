"""Made files of predictions for the tests of regression studies, their evaluation and its history."""

import os

import numpy as np
import pandas as pd

from sigstats.flows.commands import main

REGIONS = np.array(["north", "south", "west"])


def write(path, *, wrong=0.10, on_west=None, n=2000, seed=0, at=None, first=0):
    """Predictions with an expected share of wrong ones, another one on the slice ``region = west``.

    All files of a size have the same labels and regions, and ids from `first`. `at` is when the file was changed, in
    seconds.
    """
    fixed = np.random.default_rng(n)
    label, region = fixed.integers(0, 5, n), REGIONS[fixed.integers(0, 3, n)]
    rng = np.random.default_rng(seed)
    missed = rng.random(n) < np.where(region == "west", wrong if on_west is None else on_west, wrong)
    prediction = np.where(missed, (label + rng.integers(1, 5, n)) % 5, label)
    path.parent.mkdir(parents=True, exist_ok=True)
    frame = pd.DataFrame({"id": first + np.arange(n), "label": label, "prediction": prediction, "region": region})
    frame.to_csv(path, index=False)
    if at is not None:
        os.utime(path, (at, at))
    return path


STUDY = """\
kind = "regression"
baseline = "predictions/production.csv"
candidate = "predictions/candidate-*.csv"
measures = ["accuracy", "macro-f1"]
slices = ["region"]

[rule]
resamples = 999
"""


def evaluate(folder, *more):
    """The exit code of a quiet run of the study ``nightly.toml`` of a folder."""
    return main(["run", str(folder / "nightly.toml"), "--output", str(folder / "out"), "--quiet", *more])


def history(folder):
    """The history of the study, each evaluation with a row for each measure on each slice."""
    return pd.read_parquet(folder / "out/history").sort_values(["evaluated_at", "slice"])
