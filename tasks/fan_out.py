"""The fan-out of a cell: how one block of its replicates is computed.

A fan-out is a module of `sigstats.tasks.replicates`, which finds it by its name. It has what `FanOut` asks for, and of
`Offers` what it needs.
"""

from collections.abc import Callable, Mapping
from typing import Any, NotRequired, Protocol, TypedDict, Unpack

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from .plan import Block, Cell
from .record import plain
from .schema import from_numpy
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


class Offers(Protocol):
    """What a fan-out may offer besides, each for itself: `offered` gives it."""

    def needs(self, work: Any, /) -> list[Cell]:
        """The cells whose replicates it reads, which are computed before."""

    def stand_in(self, work: Any, store: Store, /) -> Work | None:
        """Work that takes about as long and reads no other cell, by which it is timed before there are any.

        None if there is none. The store has the study's data sets, and may be written to.
        """

    def exceeds(self, table: pa.Table, observed: Any, /) -> NDArray[np.bool_]:
        """Which replicates of a table are at least as extreme as observed.

        `observed` is the table of the observed cell; None for a fan-out without one.
        """

    def observed(self, cell: Cell, /) -> Cell:
        """The cell that computes the observed result."""

    def rejections(self, table: pa.Table, alpha: float, /) -> NDArray[np.bool_]:
        """Which replicates are rejections at a level, or misses of an interval, of which a rate is wanted."""

    def drawn_rows(self, block: Block, store: Store, index: int, /) -> pa.Table:
        """The rows of the test set `index` of the first lane of a block, or distinct rows with their ``count``.

        Of a fan-out whose replicates are the answers of a test on test sets that can be drawn again.
        """

    def beside_others(self, work: Any, /) -> bool:
        """True for work that enters `sigstats.tasks.threads.alone` where it must; other work is inside throughout."""

    def revision(self, work: Any, /) -> int:
        """How often the replicates of this work have changed while those of other work did not; it never falls."""

    def own_code(self, work: Any, /) -> Mapping[str, str] | None:
        """The ``learner`` of work that runs code of other packages and what identifies this; None for other work."""


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
    return pa.table(
        {name: from_numpy(values, schema.field(name).type) for name, values in numbered.items()}, schema=schema
    )


def offered(fan_out: FanOut, name: str) -> Callable[..., Any] | None:
    """What a fan-out offers of `Offers`; None if it does not."""
    return getattr(fan_out, name, None)


def version_of(fan_out: FanOut, work: Any) -> int:
    """The version of the replicates of this work."""
    revision = offered(fan_out, "revision")
    return fan_out.VERSION + (0 if revision is None else revision(work))


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
