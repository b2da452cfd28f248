"""Made files of predictions for the tests of regression studies."""

import os

import numpy as np
import pandas as pd

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
