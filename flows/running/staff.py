"""Who computes: a line for each worker that joins or is gone, and for a scheduler that does not answer."""

import time
from collections.abc import Callable

from sigstats.tasks.engine.pools import Pool
from sigstats.tasks.storage.seal import Damaged
from sigstats.tasks.storage.store import Store

#: Where it is kept how many workers were lost: never part of a result.
_LOSSES = "receipts/workers.json"
#: Seconds between two notes that no worker is there.
_UNSTAFFED_SECONDS = 60.0
#: Seconds that workers have to start, in which those that a run begins with are no news.
_STARTING_SECONDS = 60.0


class StaffWatch:
    """Looks at the workers of a pool, and says what has changed since it last looked.

    Parameters
    ----------
    pool : Pool
    say : callable
        Told each change in a line.
    clock : callable
        The time in seconds.

    Attributes
    ----------
    lost : int
        How many workers are gone that were there.
    """

    def __init__(self, pool: Pool, say: Callable[[str], None], *, clock: Callable[[], float] = time.monotonic) -> None:
        self.lost = 0
        self._pool = pool
        self._say = say
        self._clock = clock
        self._began = self._told_empty = clock()
        self._there: frozenset[str] = frozenset()
        self._answers = True

    def look(self) -> None:
        """Compare the workers with those that were last there."""
        staff = self._pool.staff
        if staff is None:
            if self._answers:
                self._say("note: the scheduler does not answer; the blocks wait for it")
            self._answers = False
            return
        if not self._answers:
            self._say("note: the scheduler answers again")
        self._answers = True
        gone, new = sorted(self._there - staff), sorted(staff - self._there)
        if gone:
            self.lost += len(gone)
            self._say(f"note: {_named(gone)} gone, {len(staff)} left; what was not stored is computed again")
        if new and (self.lost or self._clock() - self._began > _STARTING_SECONDS):
            self._say(f"note: {_named(new, 'joined')}, {len(staff)} now")
        self._there = staff
        self._note_empty(bool(staff))

    def _note_empty(self, staffed: bool) -> None:
        now = self._clock()
        if staffed:
            self._told_empty = now
        elif now - self._told_empty >= _UNSTAFFED_SECONDS:
            self._told_empty = now
            self._say("note: no worker is there; the blocks wait for one")


def write_losses(store: Store, lost: int) -> None:
    """Add the workers that a run has lost to those of the runs before it."""
    try:
        before = store.read_json(_LOSSES).get("lost", 0)
    except (FileNotFoundError, Damaged):
        before = 0
    store.write_json(_LOSSES, {"lost": lost + (before if isinstance(before, int) else 0)})


def _named(names: list[str], verb: str = "") -> str:
    """One worker by its address, or how many."""
    if len(names) == 1:
        return f"worker {names[0]} {verb or 'is'}"
    return f"{len(names)} workers {verb or 'are'}"
