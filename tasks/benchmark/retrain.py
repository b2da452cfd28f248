"""Retraining with permuted labels (PermClass) or with features permuted within classes (PermFeats)."""

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sigstats._common.extreme import at_least
from sigstats.retraining.measured import values_of

from ..fan_out import FanOut, cell, replicates_table
from ..plan import Block, Cell
from ..schema import REPLICATE, column
from ..storage.store import Store
from ._retrainers import beside_others, draws_of, own_code, revision
from ._retrainers import lent_retrainer as lent_retrainer
from .observed import statistic
from .work import CrossValidated, Measured, MeasuredRetrain, Retrained

_WRONG = pa.schema([REPLICATE, column("wrong", pa.int32(), "rows", "rows that the retrained classifier got wrong")])
_VALUE = pa.schema(
    [
        REPLICATE,
        column("value", pa.float64(), "of the measure", "the measure of the retrained classifier; more is better"),
    ]
)


def _stream(work: Retrained | MeasuredRetrain) -> dict[str, Any]:
    """Keyed only by data set and null hypothesis, so that all classifiers get the same permutations."""
    return {"dataset": work.dataset.digest, "null": work.null}


def _count_wrong(block: Block, store: Store, work: Retrained) -> pa.Table:
    with lent_retrainer(store, work, null=work.null) as classifier:
        wrong = np.concatenate([classifier.count_wrong(draws) for draws in draws_of(block, classifier)])
    return replicates_table(block, _WRONG, wrong=wrong.astype(np.int32))


def _measure(block: Block, store: Store, work: MeasuredRetrain) -> pa.Table:
    measure = statistic(store, work)
    with lent_retrainer(store, work, null=work.null) as classifier:
        values = [values_of(classifier, measure, draws) for draws in draws_of(block, classifier)]
    return replicates_table(block, _VALUE, value=np.concatenate(values))


def _on_labels_as_they_are(retrains: Cell, name: str, kind: type[CrossValidated]) -> Cell:
    """The observed cell with which retrains are compared; `kind` is its work."""
    subject = {key: value for key, value in retrains.subject.items() if key != "null"}
    work = kind(**{field.name: getattr(retrains.work, field.name) for field in fields(kind)})
    return cell(name, subject=subject, work=work, seed=retrains.seed, replicates=1, limits=retrains.limits)


def _no_more_wrong(table: pa.Table, observed: pa.Table) -> NDArray[np.bool_]:
    label, prediction = (observed.column(name).to_numpy() for name in ("label", "prediction"))
    flags: NDArray[np.bool_] = table.column("wrong").to_numpy() <= np.count_nonzero(label != prediction)
    return flags


def _no_worse(table: pa.Table, observed: pa.Table) -> NDArray[np.bool_]:
    return at_least(table.column("value").to_numpy(), float(observed.column("value")[0].as_py()))


RETRAIN = FanOut(
    about="Retraining with permuted labels (PermClass) or with features permuted within classes (PermFeats).",
    in_words="retrains",
    work=Retrained,
    revision=revision,
    lane_size=10,
    stream=_stream,
    schema=_WRONG,
    compute=_count_wrong,
    compiles=True,
    observed=lambda retrains: _on_labels_as_they_are(retrains, "crossval", CrossValidated),
    exceeds=_no_more_wrong,
    beside_others=beside_others,
    own_code=own_code,
)

#: Its permutations are those of `RETRAIN`.
MEASURED_RETRAIN = replace(
    RETRAIN,
    about=(
        "Retraining under a null hypothesis, for a measure other than the error, with the permutations of `retrain`."
    ),
    work=MeasuredRetrain,
    schema=_VALUE,
    compute=_measure,
    compiles=False,
    observed=lambda retrains: _on_labels_as_they_are(retrains, "measured", Measured),
    exceeds=_no_worse,
)
