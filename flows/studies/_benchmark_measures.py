"""What a benchmark study measures: the class that some measures refer to, and what cannot be measured."""

from collections.abc import Sequence
from typing import Any

from sigstats._common.validation import did_you_mean, refuse
from sigstats.retraining.measured import Statistic
from sigstats.tasks.datasets.dataset import Dataset

from ..pages.page import some_of
from ._benchmark_file import ERROR, BenchmarkStudy, Classifier, nulls_of


def require_named(study: BenchmarkStudy, datasets: Sequence[Dataset]) -> None:
    """Refuse positive classes of data sets that the study does not have, and slices by features that none has."""
    names = [dataset.name for dataset in datasets]
    for name in study.positive if isinstance(study.positive, dict) else ():
        if name not in names:
            raise refuse("positive", name, f"one of the data sets {', '.join(names)}{did_you_mean(name, names)}")
    features = list(dict.fromkeys(name for dataset in datasets for name in dataset.features))
    for name in study.slices:
        if name not in features:
            known = f"a feature of a data set, such as {some_of(features, 5)}"
            raise refuse("slices", name, known + did_you_mean(name, features))


def names_positive(study: BenchmarkStudy, dataset: Dataset) -> bool:
    """True if the study names the positive one of two classes."""
    if isinstance(study.positive, dict):
        return dataset.name in study.positive
    return study.positive is not None and len(dataset.classes) == 2


def positive_class(study: BenchmarkStudy, dataset: Dataset) -> int:
    """The code of the positive class: by default the second."""
    if not names_positive(study, dataset):
        return 1
    name = study.positive[dataset.name] if isinstance(study.positive, dict) else study.positive
    where = f"positive: {dataset.name}" if isinstance(study.positive, dict) else "positive"
    if len(dataset.classes) != 2:
        raise refuse(where, name, f"none, since the data set has {len(dataset.classes)} classes")
    if name not in dataset.classes:
        raise refuse(where, name, f"one of the classes {', '.join(dataset.classes)} of {dataset.name}")
    return dataset.classes.index(str(name))


def require_measurable(study: BenchmarkStudy, dataset: Dataset, classifier: Classifier, made: Any) -> None:
    """Refuse retrains by a measure that the data set or the classifier does not have."""
    measure = study.permutation.measure
    if measure == ERROR or not nulls_of(study):
        return
    try:
        statistic = Statistic(measure, len(dataset.classes))
    except ValueError as error:
        raise ValueError(f"permutation.{error} in {dataset.name}") from None
    try:
        statistic.require_of(made)
    except ValueError as error:
        raise ValueError(f"classifiers: {classifier.name}: permutation.{error}") from None


def measured_work(study: BenchmarkStudy, dataset: Dataset) -> dict[str, Any]:
    """The entries of a cell's work for the measure of retrains."""
    measure, code = study.permutation.measure, positive_class(study, dataset)
    return {"measure": measure, "positive": code if Statistic(measure, len(dataset.classes)).of_one_class else 1}
