"""The data sets that ship with scikit-learn: ``{name = "iris"}``, or just ``"iris"``."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sigstats._common.validation import as_choice

from ..dataset import Dataset
from ..options import Kinds, validate_options

_LOADERS = {
    "iris": "load_iris",
    "wine": "load_wine",
    "breast-cancer": "load_breast_cancer",
    "breast_cancer": "load_breast_cancer",
    "digits": "load_digits",
}

OPTIONS: Mapping[str, Kinds] = {}
REQUIRED = ("name",)


def load(spec: Mapping[str, Any], base: Path) -> Dataset:  # noqa: ARG001
    """Load the data set with this name."""
    from sklearn import datasets

    name = as_choice(validate_options(spec, OPTIONS, required=REQUIRED)["name"], "datasets: name", list(_LOADERS))
    bunch = getattr(datasets, _LOADERS[name])()
    classes, features = map(str, bunch.target_names), map(str, bunch.feature_names)
    return Dataset.of_numbers(name, bunch.data, bunch.target, classes=[*classes], features=[*features])
