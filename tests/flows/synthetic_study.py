"""A benchmark study made up of random numbers: plan, replicates and summary in a store, without training anything."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sigstats.flows.benchmark.plan import KIND
from sigstats.multiplicity import Adjustment
from sigstats.tasks.benchmark.work import CrossValidated, Retrained
from sigstats.tasks.fan_out import cell_of, fanout
from sigstats.tasks.plan import Cell, Plan
from sigstats.tasks.record import Folds, Learner, Named
from sigstats.tasks.results import write_plan
from sigstats.tasks.storage.store import Store
from sigstats.tasks.summary import summarize

#: Rows, classes, and how much error the features' independence would add.
DATASETS = {"breast-cancer": (569, 2, 0.01), "digits": (1797, 10, 0.09), "iris": (150, 3, 0.0), "wine": (178, 3, 0.03)}
#: The error of each classifier, as a part of the error of chance; and how much it uses dependence.
CLASSIFIERS = {"1-nn": (0.04, 1.0), "decision-tree": (0.17, 0.6), "linear-svm": (0.03, 0.8), "naive-bayes": (0.13, 0.0)}
CONFIG: dict[str, Any] = {
    "kind": "benchmark",
    "name": "synthetic",
    "seed": 20,
    "alpha": 0.05,
    "adjust": "holm",
    "datasets": list(DATASETS),
    "classifiers": list(CLASSIFIERS),
    "cross_validation": {"folds": 10},
    "permutation": {"nulls": ["labels", "features"], "resamples": 999},
}
VERSIONS = {"sigstats": "0.1.0", "python": "3.11.7", "numpy": "2.4.6", "scikit-learn": "1.9.1"}


def make_study(
    root: Path,
    *,
    datasets: Sequence[str] = tuple(DATASETS),
    classifiers: Sequence[str] = tuple(CLASSIFIERS),
    lost: Sequence[tuple[str, ...]] = (("digits", "linear-svm", "features"),),
    replicates: int = 999,
    adjust: Adjustment = "holm",
    analyses: Sequence[str] = ("permutation", "efficiency", "mcnemar"),
) -> Store:
    """A store with the files of a study, except the replicates of the cells `lost`."""
    store = Store(str(root))
    cells = list(_cells(datasets, classifiers, replicates))
    plan = Plan(
        study="synthetic", kind="benchmark", cells=tuple(cells), analyses=tuple(analyses), alpha=0.05, adjust=adjust
    )
    write_plan(store, plan)
    for one in cells:
        if tuple(one.subject.values()) not in lost:
            store.write_block(one, 0, one.replicates, _replicates(one))
    summarize(store, KIND.analyses)
    store.write_json("study.json", {"study": CONFIG, "versions": VERSIONS, "fingerprint": "f" * 64})
    return store


def _cells(datasets: Sequence[str], classifiers: Sequence[str], replicates: int) -> Iterator[Cell]:
    for null in (None, "labels", "features"):
        for dataset in datasets:
            for classifier in classifiers:
                work: dict[str, Any] = {
                    "dataset": Named(name=dataset, digest=dataset.encode().hex()),
                    "classifier": Learner(learner=classifier, params={}),
                    "cross_validation": Folds(folds=10, seed=1),
                }
                subject = {"dataset": dataset, "classifier": classifier}
                if null is None:
                    yield cell_of("crossval", subject=subject, work=CrossValidated(**work), seed=20, replicates=1)
                else:
                    subject, permuted = {**subject, "null": null}, Retrained(**work, null=null)
                    yield cell_of("retrain", subject=subject, work=permuted, seed=20, replicates=replicates)


def _replicates(one: Cell) -> pa.Table:
    dataset, classifier = one.subject["dataset"], one.subject["classifier"]
    n, classes, dependence = DATASETS.get(dataset, DATASETS["iris"])
    part, use = CLASSIFIERS.get(classifier, CLASSIFIERS["1-nn"])
    chance = 1 - 1 / classes
    rng = np.random.default_rng([n, round(1000 * part), len(one.subject)])
    schema = fanout(one.fanout).schema
    if one.fanout == "crossval":
        row = np.arange(n)
        label = row % classes
        prediction = np.where(rng.random(n) < part * chance, (label + 1) % classes, label)
        values: dict[str, Any] = {
            "replicate": 0 * row,
            "row": row,
            "fold": row % 10,
            "label": label,
            "prediction": prediction,
        }
    else:
        error = chance if one.subject["null"] == "labels" else part * chance + use * dependence
        spread = rng.normal(error, 0.03 * error, one.replicates).clip(0, 1)
        values = {"replicate": np.arange(one.replicates), "wrong": rng.binomial(n, spread)}
    return pa.table(
        {name: pa.array(values[name]).cast(schema.field(name).type) for name in schema.names}, schema=schema
    )
