"""What one task does on a worker: compute a block, keep it, say so."""

import platform
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass

from ..one_thread import one_thread
from ..plan import Block
from ..replicates import fanout
from ..storage.store import Store
from .stopping import exceedances


@dataclass(frozen=True, kw_only=True, slots=True)
class Receipt:
    """A block that is on disk.

    Attributes
    ----------
    first, last : int
        Its replicates, ``first <= replicate < last``.
    seconds : float
        Time to compute it.
    overhead : float
        Time to write it.
    bytes : int
        Size of its file.
    host : str
        The machine it ran on.
    exceedances : int or None
        How many of its replicates are at least as extreme as observed; None where that is not known.
    """

    first: int
    last: int
    seconds: float
    overhead: float
    bytes: int
    host: str
    exceedances: int | None = None


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A block that could not be computed: a record too, so that the run goes on and the summary names it."""

    first: int
    last: int
    error: str
    message: str
    traceback: str


def run_block(block: Block, store: Store) -> Receipt | Failure:
    """Compute a block and keep it in the store.

    Doing it twice does no harm: the second file is byte for byte the first. Numerical libraries get one thread, since
    a sum's last bits depend on how it is split.

    Returns
    -------
    Receipt or Failure
        A failure where the computation raised; trouble with the store is raised, so that the engine may try again.
    """
    started = time.perf_counter()
    try:
        with one_thread():
            table = fanout(block.cell.fanout).compute(block, store)
    except OSError:
        raise
    except Exception as error:  # a classifier may raise anything; the cell reports it
        return failure(block, error)
    computed = time.perf_counter()
    size = store.write_block(block.cell, block.first, block.last, table)
    return Receipt(
        first=block.first,
        last=block.last,
        seconds=computed - started,
        overhead=time.perf_counter() - computed,
        bytes=size,
        host=platform.node(),
        exceedances=exceedances(block.cell, table, store),
    )


async def load_fanouts(fanouts: Sequence[str]) -> None:
    """Import these fan-outs, in a worker's event loop.

    There, because the loop also imports what a block's message names: two threads that import at once may each see half
    a module.
    """
    for name in fanouts:
        fanout(name)


def failure(block: Block, error: BaseException) -> Failure:
    """The record of a block that failed with `error`."""
    text = " ".join(str(error).split()) or "no message"
    return Failure(
        first=block.first,
        last=block.last,
        error=type(error).__name__,
        message=text[:500],
        traceback="".join(traceback.format_exception(error))[-8000:],
    )
