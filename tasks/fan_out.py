"""The fan-out of a cell: how one block of its replicates is computed.

A fan-out is a module of `sigstats.tasks.replicates`, which finds it by its name. It offers what `FanOut` asks for, and
more if it `ReadsCells`, `HasStandIn`, `HasExceedances`, `CountsRejections`, `HasObservedCell`, `HasRevisions` or
`RunsOwnCode`.
"""

from collections.abc import Mapping
from typing import Any, NotRequired, Protocol, TypedDict, Unpack, runtime_checkable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from .fingerprint import plain
from .plan import Block, Cell
from .storage.store import Store
from .work import Work


class FanOut(Protocol):
    """The members of every fan-out."""

    @property
    def VERSION(self) -> int:  # noqa: N802
        """Raised whenever equal values would give other replicates."""

    @property
    def LANE_SIZE(self) -> int:  # noqa: N802
        """How many replicates share one random stream."""

    @property
    def SCHEMA(self) -> pa.Schema:  # noqa: N802
        """The columns of its replicates, the first of which is ``replicate``."""

    def stream(self, work: Any, /) -> dict[str, Any]:
        """The key of the random stream."""

    def compute(self, block: Block, store: Store, /) -> pa.Table:
        """The table of the block's replicates, in order."""


@runtime_checkable
class ReadsCells(Protocol):
    """A fan-out that reads the replicates of other cells."""

    def needs(self, work: Any, /) -> list[Cell]:
        """These cells, which are computed before."""


@runtime_checkable
class HasStandIn(Protocol):
    """A fan-out that reads the replicates of other cells, and can be timed before there are any."""

    def stand_in(self, work: Any, store: Store, /) -> Work | None:
        """Work that takes about as long and reads no other cell; None if there is none.

        The store has the study's data sets, and may be written to.
        """


@runtime_checkable
class HasExceedances(Protocol):
    """A fan-out whose replicates are counted against the observed result."""

    def exceeds(self, table: pa.Table, observed: Any, /) -> NDArray[np.bool_]:
        """Which replicates of a table are at least as extreme as observed.

        `observed` is the table of the observed cell; None for a fan-out without one.
        """


@runtime_checkable
class DrawsTestSets(Protocol):
    """A fan-out whose replicates are the answers of a test on test sets that can be drawn again."""

    def compute(self, block: Block, store: Store, /) -> pa.Table:
        """As for `FanOut`."""

    def drawn_rows(self, block: Block, store: Store, index: int, /) -> pa.Table:
        """The rows of the test set `index` of the first lane of a block, or distinct rows with their ``count``."""


@runtime_checkable
class CountsRejections(Protocol):
    """A fan-out whose replicates are rejections at a level, or misses of an interval, of which a rate is wanted."""

    def rejections(self, table: pa.Table, alpha: float, /) -> NDArray[np.bool_]:
        """Which replicates of a table count."""


@runtime_checkable
class HasObservedCell(Protocol):
    """A fan-out whose observed result is computed by another cell."""

    def observed(self, cell: Cell, /) -> Cell:
        """The cell of the observed result."""


@runtime_checkable
class HasRevisions(Protocol):
    """A fan-out of which some work has other replicates than an earlier state computed, and other work has not."""

    def revision(self, work: Any, /) -> int:
        """How often the replicates of this work have changed while those of other work did not; it never falls."""


@runtime_checkable
class RunsOwnCode(Protocol):
    """A fan-out of which some work runs code of other packages, which gets a process of its own."""

    def own_code(self, work: Any, /) -> Mapping[str, str] | None:
        """Its ``learner`` and what identifies its code; None for work without."""


class OfCell(TypedDict):
    """What is said of a cell besides its fan-out; as in `sigstats.tasks.plan.Cell`."""

    subject: Mapping[str, str]
    work: Work
    seed: int
    replicates: int
    stopping: NotRequired[Mapping[str, Any] | None]
    limits: NotRequired[Mapping[str, float] | None]


def draws_nothing(work: Any) -> dict[str, Any]:  # noqa: ARG001
    """The ``stream`` of a fan-out that draws no random numbers, or by seeds in its work."""
    return {"draws": "none"}


def replicates_table(block: Block, schema: pa.Schema, **columns: Any) -> pa.Table:
    """The table of a block with a row a replicate, which are numbered here."""
    numbered: dict[str, Any] = {"replicate": np.arange(block.first, block.last, dtype=np.int64), **columns}
    return pa.table(numbered, schema=schema)


def version_of(fan_out: FanOut, work: Any) -> int:
    """The version of the replicates of this work."""
    return fan_out.VERSION + (fan_out.revision(work) if isinstance(fan_out, HasRevisions) else 0)


def new_cell(name: str, fan_out: FanOut, **of: Unpack[OfCell]) -> Cell:
    """A cell of `fan_out`, the module called `name`."""
    work = of["work"]
    return Cell(
        fanout=name,
        version=version_of(fan_out, work),
        stream=plain(fan_out.stream(work)),
        lane_size=fan_out.LANE_SIZE,
        **of,
    )
