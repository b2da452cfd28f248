"""The fan-outs of benchmark studies: training on the true labels, and retraining with permuted data.

On the true labels they compute the observed run, its scores and measure, and runs with other folds. Retraining permutes
the labels (PermClass), or each feature within the classes (PermFeats).
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sigstats._common.extreme import at_least
from sigstats.retraining.measured import Statistic, class_scores, observed_value, values_of

from ..datasets.dataset import Dataset
from ..fan_out import FanOut, cell_of, replicates_table
from ..own_code import build_as_planned, measure_as_planned
from ..plan import Block, Cell
from ..schema import REPLICATE, column
from ..storage.store import Store
from .work import (
    CrossValidated,
    Measured,
    MeasuredRetrain,
    Retrained,
    dataset_of,
    draws_of,
    folds_of,
    is_parallel,
    lent_retrainer,
    new_retrainer,
    own_code,
    repeated_folds,
    revision,
)

_ROW = column("row", pa.int64(), "number", "the row of the data set, from 0")

_PREDICTIONS = pa.schema(
    [
        REPLICATE,
        _ROW,
        column("fold", pa.int32(), "number", "the fold in which the row was tested, from 0"),
        column("label", pa.int32(), "class", "the true class, a position in the data set's sorted classes"),
        column("prediction", pa.int32(), "class", "the predicted class, likewise"),
    ]
)

_SCORES = pa.schema(
    [
        REPLICATE,
        _ROW,
        column(
            "probabilities",
            pa.list_(pa.field("element", pa.float64())),
            "probability",
            "of each of the data set's sorted classes; null where the classifier gives none",
            nullable=True,
        ),
        column(
            "decision",
            pa.float64(),
            "of the classifier",
            "how much the second of two classes is preferred; null where the classifier does not say",
            nullable=True,
        ),
    ]
)

_MEASURE = pa.schema(
    [REPLICATE, column("value", pa.float64(), "of the measure", "the measure of the classifier; more is better")]
)


def _observe(block: Block, store: Store, work: CrossValidated) -> pa.Table:  # noqa: ARG001
    dataset = dataset_of(store, work)
    with lent_retrainer(store, work, null="labels") as classifier:
        return _predictions(0, dataset, folds_of(dataset, work), classifier.observed())


def _predictions(number: int, dataset: Dataset, folds: NDArray[Any], predicted: NDArray[Any]) -> pa.Table:
    """Return the predictions of one run as the replicate `number`, with a row per row of the data set."""
    columns: dict[str, Any] = {
        "replicate": np.full(len(dataset), number, dtype=np.int64),
        "row": np.arange(len(dataset), dtype=np.int64),
        "fold": folds.astype(np.int32),
        "label": dataset.y.astype(np.int32),
        "prediction": predicted.astype(np.int32),
    }
    return pa.table(columns, schema=_PREDICTIONS)


CROSSVAL = FanOut(
    about="The observed run: cross-validated predictions of one classifier on one data set.",
    in_words="cross-validation",
    work=CrossValidated,
    revision=revision,
    stream=lambda work: {"dataset": work.dataset, "draws": "none"},
    schema=_PREDICTIONS,
    compute=_observe,
    own_code=own_code,
)


def _stream_of_folds(work: CrossValidated) -> dict[str, Any]:
    """Return a key of the data set and its splits, so that all classifiers get the same folds."""
    return {"dataset": work.dataset.digest, "cross_validation": replace(work.cross_validation, transforms="fold")}


def _repetitions(block: Block, store: Store, work: CrossValidated) -> pa.Table:
    dataset = dataset_of(store, work)
    tables = []
    for number, (rng, _) in enumerate(block.lanes(), block.first):
        folds = repeated_folds(dataset, work, rng)
        predicted = new_retrainer(dataset, work, folds, null="labels").observed()
        tables.append(_predictions(number, dataset, folds, predicted))
    return pa.concat_tables(tables).combine_chunks()


#: The first repetition is the observed run, with the folds of the study.
REPETITION = replace(
    CROSSVAL,
    about=(
        "Repetitions of the cross-validation: the predictions of one classifier on one data set, with different "
        "folds each time."
    ),
    in_words="repetitions of the cross-validation",
    like="crossval",
    stream=_stream_of_folds,
    compute=_repetitions,
)


def _scores(block: Block, store: Store, work: CrossValidated) -> pa.Table:  # noqa: ARG001
    dataset = dataset_of(store, work)
    estimator = build_as_planned(work.classifier, **dataset.described)
    transforms = work.cross_validation.transforms
    scores = class_scores(estimator, dataset.X, dataset.y, folds_of(dataset, work), transforms=transforms)
    n = len(dataset)
    columns: dict[str, Any] = {
        "replicate": np.zeros(n, dtype=np.int64),
        "row": np.arange(n, dtype=np.int64),
        "probabilities": [None] * n if scores.probabilities is None else scores.probabilities.tolist(),
        "decision": [None] * n if scores.decision is None else scores.decision.tolist(),
    }
    return pa.table(columns, schema=_SCORES)


SCORES = replace(
    CROSSVAL,
    about="The scores of each class in the folds of the observed run: probabilities, or decision values.",
    in_words="scores",
    revision=lambda work: 0,
    schema=_SCORES,
    compute=_scores,
)


def statistic(store: Store, work: Measured) -> Statistic:
    """Return the measure of a cell."""
    measure = measure_as_planned(work.measure, work.measure_code)
    return Statistic(measure, dataset_of(store, work).classes, work.positive)


def _measure_observed(block: Block, store: Store, work: Measured) -> pa.Table:
    with lent_retrainer(store, work, null="labels") as classifier:
        return replicates_table(block, _MEASURE, value=[observed_value(classifier, statistic(store, work))])


MEASURED = replace(
    CROSSVAL,
    about="The observed run's value of a measure other than the error. Retrained classifiers are compared with it.",
    in_words="observed measure",
    work=Measured,
    schema=_MEASURE,
    compute=_measure_observed,
)


_WRONG = pa.schema([REPLICATE, column("wrong", pa.int32(), "rows", "rows that the retrained classifier got wrong")])
_VALUE = pa.schema(
    [
        REPLICATE,
        column("value", pa.float64(), "of the measure", "the measure of the retrained classifier; more is better"),
    ]
)


def _stream_of_permutations(work: Retrained | MeasuredRetrain) -> dict[str, Any]:
    """Return a key of only the data set and the null hypothesis, so that all classifiers get the same permutations."""
    return {"dataset": work.dataset.digest, "null": work.null}


def _count_wrong(block: Block, store: Store, work: Retrained) -> pa.Table:
    with lent_retrainer(store, work, null=work.null) as classifier:
        wrong = np.concatenate([classifier.count_wrong(draws) for draws in draws_of(block, classifier)])
    return replicates_table(block, _WRONG, wrong=wrong.astype(np.int32))


def _measure_retrained(block: Block, store: Store, work: MeasuredRetrain) -> pa.Table:
    measure = statistic(store, work)
    with lent_retrainer(store, work, null=work.null) as classifier:
        values = [values_of(classifier, measure, draws) for draws in draws_of(block, classifier)]
    return replicates_table(block, _VALUE, value=np.concatenate(values))


def _on_labels_as_they_are(retrains: Cell, name: str, kind: type[CrossValidated]) -> Cell:
    """Return the cell of the observed result with which retrains are compared; `kind` is the type of its work."""
    subject = {key: value for key, value in retrains.subject.items() if key != "null"}
    work = kind(**{field.name: getattr(retrains.work, field.name) for field in fields(kind)})
    return cell_of(name, subject=subject, work=work, seed=retrains.seed, replicates=1, limits=retrains.limits)


def ways_of_fitting(cells: Iterable[Cell], scratch: Store) -> Iterator[str]:
    """Yield at most one line, which lists the classifiers by how they are fitted: shared, compiled or refitted."""
    names_by_way = defaultdict[str, dict[str, None]](dict)
    for retrains in cells:
        if retrains.fanout in ("retrain", "measured-retrain"):
            null: Any = retrains.subject["null"]
            with lent_retrainer(scratch, retrains.work_of(CrossValidated), null=null) as classifier:
                names_by_way[classifier.fits][retrains.subject["classifier"]] = None
    if names_by_way:
        yield "; ".join(f"{way}: {', '.join(names)}" for way, names in sorted(names_by_way.items(), reverse=True))


def _no_more_wrong(table: pa.Table, observed: pa.Table) -> NDArray[np.bool_]:
    label, prediction = (observed.column(name).to_numpy() for name in ("label", "prediction"))
    return np.asarray(table.column("wrong").to_numpy() <= np.count_nonzero(label != prediction))


def _no_worse(table: pa.Table, observed: pa.Table) -> NDArray[np.bool_]:
    return at_least(table.column("value").to_numpy(), float(observed.column("value")[0].as_py()))


RETRAIN = FanOut(
    about="Retraining with permuted labels (PermClass) or with features permuted within classes (PermFeats).",
    in_words="retrains",
    work=Retrained,
    revision=revision,
    lane_size=10,
    stream=_stream_of_permutations,
    schema=_WRONG,
    compute=_count_wrong,
    compiles=True,
    observed=lambda retrains: _on_labels_as_they_are(retrains, "crossval", CrossValidated),
    exceeds=_no_more_wrong,
    is_parallel=is_parallel,
    own_code=own_code,
)

#: The permutations are those of `RETRAIN`.
MEASURED_RETRAIN = replace(
    RETRAIN,
    about=(
        "Retraining under a null hypothesis, for a measure other than the error, with the permutations of `retrain`."
    ),
    work=MeasuredRetrain,
    schema=_VALUE,
    compute=_measure_retrained,
    compiles=False,
    observed=lambda retrains: _on_labels_as_they_are(retrains, "measured", Measured),
    exceeds=_no_worse,
)
