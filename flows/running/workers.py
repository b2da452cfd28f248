"""The workers of a study, on a cluster or in this process, and reports of workers that join or are lost."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, fields
from functools import partial

from sigstats._common.numerals import count_of
from sigstats.tasks.engine.dask_pool import DaskPool
from sigstats.tasks.engine.dask_staff import modules_sent
from sigstats.tasks.engine.execute import done_and_left
from sigstats.tasks.engine.pools import THIS_PROCESS, GrowingPool, Pool, RoutedPool, Serial
from sigstats.tasks.engine.stopping import for_now
from sigstats.tasks.fan_out import own_code
from sigstats.tasks.plan import Needs, Plan, needs_of
from sigstats.tasks.storage.seal import Damaged
from sigstats.tasks.storage.store import Store

from .. import clusters
from ..clusters.local import may_start_processes, processors, room_for
from ..config.model import Strict
from ..errors import BadInput
from .options import Prepared, RunOptions

#: Seconds of work in this process, and of idle time per processor, after which workers are started, which takes as long
#: per worker.
GROW_AFTER = 3.0
#: If a data set takes more bytes, workers compute from the first block on, since each worker has a memory limit.
_LARGE = 64e6


def anything_left(plan: Plan, store: Store, lanes: Mapping[str, tuple[int, int]]) -> bool:
    """Return True if the output lacks replicates of any cell of a plan, within the given lanes of the cell."""
    return any(done_and_left(cell, store, lanes.get(cell.name))[1] for cell in for_now(plan.cells, store))


@contextmanager
def workers_for(prepared: Prepared, options: RunOptions, *, left: bool) -> Iterator[Pool]:
    """Open the workers of a study: the cluster that the user named, or as few workers as the study needs."""
    cluster = options.cluster
    in_memory = options.output.startswith("memory://")
    if in_memory and cluster is not None and cluster.model_dump().get("kind") != "serial":
        raise BadInput(
            f"--output: {options.output} is in the memory of this process; use --cluster serial or another output"
        )
    if in_memory and any(own_code(cell) is not None for cell in prepared.plan.cells):
        raise BadInput(
            f"--output: {options.output} is in the memory of this process, but code from another package runs in a "
            "separate process; use another output"
        )
    needs = needs_of(prepared.plan.cells)
    if not left or (in_memory and cluster is None):
        yield Serial()
    elif cluster is None and not may_start_processes():
        room_for(needs)
        yield Serial()
    elif cluster is not None or any(dataset.nbytes > _LARGE for dataset in prepared.datasets):
        with _open_pool(clusters.load_cluster(None) if cluster is None else cluster, needs, options) as pool:
            yield pool
    else:
        room_for(needs)
        with GrowingPool(
            partial(_open_pool, clusters.load_cluster(None), needs, options),
            expected=processors(),
            after=GROW_AFTER,
            stop=options.stop,
            say=options.display.say,
        ) as growing:
            yield growing


@contextmanager
def _open_pool(cluster: Strict, needs: Sequence[Needs], options: RunOptions) -> Iterator[Pool]:
    """Open the workers of a cluster, and send them the code of the calling program."""
    with clusters.open_pool(cluster, needs) as pool, ExitStack() as stack:
        of_dask = [
            item
            for item in ([pool.common, *pool.by_needs.values()] if isinstance(pool, RoutedPool) else [pool])
            if isinstance(item, DaskPool)
        ]
        for value in of_dask if options.code else ():
            stack.enter_context(modules_sent(value.client, options.code))
        yield pool


#: The file that counts the changes of all runs. It is not part of the results, so that their bytes do not depend on it.
_COUNTS = "receipts/workers.json"
#: Seconds between two notes that there are no workers.
_UNSTAFFED_SECONDS = 60.0
#: Seconds within which workers start. Workers that join in this time are not reported.
_STARTING_SECONDS = 60.0


@dataclass
class StaffChanges:
    """The numbers of lost workers, joined workers and outages of the scheduler."""

    #: The number of lost workers. Blocks that they had not stored were computed again.
    lost: int = 0
    #: The number of workers that joined after the start of the run.
    joined: int = 0
    #: The number of times that the scheduler stopped answering.
    outages: int = 0

    def __str__(self) -> str:
        counts = [
            self.lost and f"{count_of(self.lost, 'worker')} lost",
            self.joined and f"{count_of(self.joined, 'worker')} joined",
            self.outages and f"the scheduler unreachable {count_of(self.outages, 'time')}",
        ]
        return ", ".join(part for part in counts if part)


class StaffWatch:
    """Watches the workers of a pool, and reports changes."""

    def __init__(self, pool: Pool, say: Callable[[str], None], *, clock: Callable[[], float] = time.monotonic) -> None:
        self.changes = StaffChanges()
        self._pool = pool
        self._say = say
        self._clock = clock
        self._began = self._told_empty = clock()
        self._there: frozenset[str] = frozenset()
        self._answers = True
        self._told: set[str] = set()

    def look(self) -> None:
        """Compare the workers with the workers at the last look, and report the changes."""
        staff = self._pool.staff
        if staff is None:
            if self._answers:
                self.changes.outages += 1
                self._say("note: the scheduler does not answer; the blocks wait for it")
            self._answers = False
            return
        if not self._answers:
            self._say("note: the scheduler answers again")
        self._answers = True
        for worker, version in self._pool.strangers.items():
            if worker not in self._told:
                self._told.add(worker)
                self._say(f"note: worker {worker} has different code (sigstats {version}) and gets no work")
        if self._there == THIS_PROCESS != staff:  # this process hands over to workers, and loses nothing
            self._there, self._began = frozenset(), self._clock()
        gone, new = sorted(self._there - staff), sorted(staff - self._there)
        if gone:
            self.changes.lost += len(gone)
            self._say(f"note: {_staff(gone)} gone, {len(staff)} left; blocks that were not stored are computed again")
        if new and (self.changes.lost or self._clock() - self._began > _STARTING_SECONDS):
            self.changes.joined += len(new)
            self._say(f"note: {_staff(new, 'joined')}, {len(staff)} now")
        self._there = staff
        self._note_empty(bool(staff))

    def _note_empty(self, staffed: bool) -> None:
        now = self._clock()
        if staffed:
            self._told_empty = now
        elif now - self._told_empty >= _UNSTAFFED_SECONDS:
            self._told_empty = now
            self._say("note: there are no workers; the blocks wait for one")


def add_changes(store: Store, changes: StaffChanges) -> None:
    """Add the changes of a run to the stored sums of earlier runs."""
    if changes != StaffChanges():
        before, now = asdict(changes_of(store)), asdict(changes)
        store.write_json(_COUNTS, {key: before[key] + now[key] for key in now})


def changes_of(store: Store) -> StaffChanges:
    """Return the sums of the changes of all runs of an output."""
    try:
        content = store.read_json(_COUNTS)
    except (FileNotFoundError, Damaged):
        return StaffChanges()
    counts = {field.name: content.get(field.name) for field in fields(StaffChanges)}
    return StaffChanges(**{key: value for key, value in counts.items() if isinstance(value, int)})


def _staff(names: list[str], verb: str = "") -> str:
    """Return the address of a single worker, or the number of several workers, with a verb."""
    if len(names) == 1:
        return f"worker {names[0]} {verb or 'is'}"
    return f"{len(names)} workers {verb or 'are'}"
