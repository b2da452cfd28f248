"""The task of a worker: compute a block, store it, and return a receipt."""

import platform
import time
import traceback
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, fields
from typing import TypeAlias

import pyarrow as pa

from sigstats._common.messages import one_line

from ..fan_out import fanout, is_parallel
from ..plan import Block, Needs
from ..storage.store import Store
from ..threads import alone, threads
from .process_memory import kept_memory, peak
from .stopping import exceedances

#: A worker sends the content of a smaller file with its receipt, in bytes.
_MOST_SENT = 1 << 15

Content: TypeAlias = bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class Receipt:
    """The record of a stored block."""

    #: First replicate of the block.
    first: int
    #: Last replicate of the block, plus one.
    last: int
    #: Seconds to compute the block.
    seconds: float
    #: Seconds to write the block.
    overhead: float
    #: Size of the file.
    bytes: int
    #: Machine that computed the block.
    host: str
    #: Engine that computed the block: the process of the run, or a worker.
    engine: str = "serial"
    #: Peak memory of the process so far, in bytes; 0 if unknown.
    memory: int = 0
    #: Number of replicates at least as extreme as observed, or of rejections if a rule stops at the precision of a
    #: rate; None if unknown.
    exceedances: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Sent(Receipt):
    """A receipt with the content of its file, if the run would otherwise request it from an object store."""

    content: Content | None = field(repr=False)

    @property
    def alone(self) -> Receipt:
        """The receipt without it, to be kept."""
        return Receipt(**{attribute.name: getattr(self, attribute.name) for attribute in fields(Receipt)})


@dataclass(frozen=True, kw_only=True)
class Failure:
    """The record of a block that could not be computed. The run continues, and the summary reports it."""

    #: First replicate of the block.
    first: int
    #: Last replicate of the block, plus one.
    last: int
    #: Class of the error.
    error: str
    #: Text of the error.
    message: str
    #: The traceback of the error.
    traceback: str


def run_block(block: Block, store: Store, *, engine: str = "serial") -> Receipt | Failure:
    """Compute a block and store it.

    A block may be computed twice: the second file equals the first byte for byte. Numerical libraries are restricted to
    one thread, or those that the cell's limits give, since the last bits of a sum depend on how it is split.

    Returns a failure if the computation raised. Raises OSError if the store fails: the engine may repeat the block.
    """
    turn = nullcontext() if is_parallel(block.cell) else alone()
    try:
        with turn, kept_memory(), threads(Needs.of(block.cell).threads):
            started = time.perf_counter()
            table = fanout(block.cell.fanout).compute(block, store, block.cell.work)
    except OSError:
        raise
    except Exception as error:  # a classifier may raise anything; the cell reports it
        return failure(block, error)
    computed = time.perf_counter()
    content = store.write_block(block.cell, block.first, block.last, table)
    overhead = time.perf_counter() - computed
    return receipt(block, store, table, content, seconds=computed - started, overhead=overhead, engine=engine)


def receipt(
    block: Block, store: Store, table: pa.Table, content: Content, *, seconds: float, overhead: float, engine: str
) -> Receipt:
    """The receipt of a block that is stored as this content."""
    return Sent(
        first=block.first,
        last=block.last,
        seconds=seconds,
        overhead=overhead,
        bytes=len(content),
        host=platform.node(),
        engine=engine,
        memory=peak(),
        exceedances=exceedances(block.cell, table, store),
        content=content if "://" in store.root and len(content) <= _MOST_SENT else None,
    )


async def load_fanouts(fanouts: Sequence[str]) -> None:
    """Import these fan-outs in a worker's event loop.

    The loop also imports the modules that a block's message names. If two threads import at the same time, each may see
    a module that is only partly initialised.
    """
    for name in fanouts:
        fanout(name)


def failure(block: Block, error: BaseException) -> Failure:
    """The record of a block that failed with `error`."""
    text = one_line(error) or "no message"
    return Failure(
        first=block.first,
        last=block.last,
        error=type(error).__name__,
        message=text[:500],
        traceback="".join(traceback.format_exception(error))[-8000:],
    )
