"""The workers of a study: this process, or those of a cluster."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial

from sigstats.tasks.engine.dask_pool import DaskPool
from sigstats.tasks.engine.dask_staff import modules_sent
from sigstats.tasks.engine.execute import done_and_left
from sigstats.tasks.engine.growing_pool import GrowingPool
from sigstats.tasks.engine.needs import Needs, needs_of
from sigstats.tasks.engine.pools import Pool, RoutedPool, Serial
from sigstats.tasks.plan import Plan
from sigstats.tasks.replicates import own_code
from sigstats.tasks.storage.store import Store

from .. import clusters
from ..clusters.local import may_start_processes, processors, room_for
from ..config.model import Strict
from ..errors import BadInput
from .options import RunOptions
from .prepared import Prepared

#: Seconds of work in this process after which workers are started: to start two of them takes as long.
GROW_AFTER = 3.0

#: Copies of the data in a worker: the data, an encoded or scaled copy, the training fold, the learner's own copy.
_COPIES = 4

#: If these copies take more bytes, workers compute from the first block on, for each of them has a limit.
_LARGE = 256e6


def anything_left(plan: Plan, store: Store, lanes: Mapping[str, tuple[int, int]]) -> bool:
    """Whether the output lacks any cell of a plan, or of these lanes of it."""
    return any(done_and_left(cell, store, lanes.get(cell.name))[1] for cell in plan.cells)


@contextmanager
def workers_for(prepared: Prepared, options: RunOptions, *, left: bool) -> Iterator[Pool]:
    """Open the workers of a study: those that the person named, or as few as it needs.

    `left`: whether any replicate is left to compute. Raises BadInput if a worker cannot hold a data set, if no worker
    will have what a classifier needs, or if the workers cannot reach the output.
    """
    cluster = options.cluster
    in_memory = options.output.startswith("memory://")
    if in_memory and cluster is not None and cluster.model_dump().get("kind") != "serial":
        raise BadInput(
            f"--output: {options.output} is not valid; only --cluster serial can keep results in this process's memory"
        )
    if in_memory and any(own_code(cell) is not None for cell in prepared.plan.cells):
        raise BadInput(
            f"--output: {options.output} is not valid; code of another package runs in a process of its own, "
            "which cannot reach the memory of this one"
        )
    needs = needs_of(prepared.plan.cells)
    if not left or (in_memory and cluster is None):
        yield Serial()
    elif cluster is None and not may_start_processes():
        room_for(needs)
        yield Serial()
    elif cluster is not None or any(_needed(dataset.nbytes) > _LARGE for dataset in prepared.datasets):
        with _opened(clusters.load_cluster(None) if cluster is None else cluster, needs, options) as pool:
            _require_memory(prepared, pool.memory_limit)
            yield pool
    else:
        room_for(needs)
        with GrowingPool(
            partial(_opened, clusters.load_cluster(None), needs, options),
            expected=processors(),
            after=GROW_AFTER,
            stop=options.stop,
            say=options.display.say,
        ) as growing:
            yield growing


@contextmanager
def _opened(cluster: Strict, needs: Sequence[Needs], options: RunOptions) -> Iterator[Pool]:
    """Open the workers of a cluster, bring them code of this program, and show what they log."""
    with clusters.open_pool(cluster, needs) as pool, ExitStack() as told:
        of_dask = [
            each
            for each in ([pool.common, *pool.own.values()] if isinstance(pool, RoutedPool) else [pool])
            if isinstance(each, DaskPool)
        ]
        for each in of_dask if options.code else ():
            told.enter_context(modules_sent(each.client, options.code))
        if options.worker_logs is not None:
            from sigstats.tasks.engine.worker_logs import logs_told  # Dask takes a second to import

            for each in of_dask:
                told.enter_context(logs_told(each.client, options.worker_logs, options.display.say))
        yield pool


def _needed(nbytes: int) -> int:
    return _COPIES * nbytes


def _require_memory(prepared: Prepared, limit: int | None) -> None:
    """Refuse a data set if a worker cannot hold the copies of it that training makes."""
    for dataset in prepared.datasets:
        needed = _needed(dataset.nbytes)
        if limit is not None and needed > limit:
            raise BadInput(
                f"data set {dataset.name}: {dataset.nbytes / 1e6:,.0f} MB are not valid; training needs about "
                f"{needed / 1e6:,.0f} MB, expected at most {limit / 1e6:,.0f} MB, the memory_limit of a worker"
            )
