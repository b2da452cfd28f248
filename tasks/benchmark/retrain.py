"""Retrains under a null hypothesis: permuted labels (PermClass) or features permuted inside classes (PermFeats)."""

from dataclasses import fields
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..fan_out import cell, replicates_table
from ..plan import Block, Cell
from ..schema import REPLICATE, column
from ..storage.store import Store
from ._retrainers import beside_others as beside_others
from ._retrainers import draws_of
from ._retrainers import lent_retrainer as lent_retrainer
from ._retrainers import own_code as own_code
from ._retrainers import revision as revision
from .work import CrossValidated, Retrained

WORK = Retrained
COMPILES = True
IN_WORDS = "retrains"
VERSION = 1
LANE_SIZE = 10

SCHEMA = pa.schema([REPLICATE, column("wrong", pa.int32(), "rows", "rows that the retrained classifier got wrong")])


def stream(work: Retrained) -> dict[str, Any]:
    """Keyed only by data set and null hypothesis, so that all classifiers get the same permutations."""
    return {"dataset": work.dataset.digest, "null": work.null}


def compute(block: Block, store: Store, work: Retrained) -> pa.Table:
    """The number of wrong rows of every replicate of the block."""
    with lent_retrainer(store, work, null=work.null) as classifier:
        wrong = np.concatenate([classifier.count_wrong(draws) for draws in draws_of(block, classifier)])
    return replicates_table(block, SCHEMA, wrong=wrong.astype(np.int32))


def observed(retrains: Cell) -> Cell:
    """The cell of the observed run: the same classifier on the labels as they are."""
    return on_labels_as_they_are(retrains, "crossval", CrossValidated)


def on_labels_as_they_are(retrains: Cell, name: str, kind: type[CrossValidated]) -> Cell:
    """The observed cell with which retrains are compared; `kind` is its work."""
    subject = {key: value for key, value in retrains.subject.items() if key != "null"}
    work = kind(**{field.name: getattr(retrains.work, field.name) for field in fields(kind)})
    return cell(name, subject=subject, work=work, seed=retrains.seed, replicates=1, limits=retrains.limits)


def exceeds(table: pa.Table, observed: pa.Table) -> NDArray[np.bool_]:
    """A mask of retrains with no more wrong rows than the observed run."""
    label, prediction = (observed.column(name).to_numpy() for name in ("label", "prediction"))
    flags: NDArray[np.bool_] = table.column("wrong").to_numpy() <= np.count_nonzero(label != prediction)
    return flags
