"""The data sets that ship with scikit-learn."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sigstats.checks import as_choice

from ..datasets import Dataset

KIND = "scikit-learn"

_LOADERS = {
    "iris": "load_iris",
    "wine": "load_wine",
    "breast-cancer": "load_breast_cancer",
    "breast_cancer": "load_breast_cancer",
    "digits": "load_digits",
}


def load(spec: Mapping[str, Any], base: Path) -> Dataset:  # noqa: ARG001
    """``{source = "scikit-learn", name = "iris"}``."""
    from sklearn import datasets

    name = as_choice(spec["name"], "datasets: name", list(_LOADERS))
    bunch = getattr(datasets, _LOADERS[name])()
    d = bunch.data.shape[1]
    return Dataset(
        name=name,
        X=np.ascontiguousarray(bunch.data, dtype=np.float64),
        nominal=np.zeros(d, dtype=bool),
        y=bunch.target.astype(np.int64),
        classes=tuple(str(label) for label in bunch.target_names),
        features=tuple(str(feature) for feature in bunch.feature_names),
        categories=((),) * d,
    )
