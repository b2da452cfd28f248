"""Settings of Dask for the schedulers and workers that a run starts."""

import logging
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import wraps
from typing import Any, TypeVar

from sigstats.tasks.engine.needs import Needs
from sigstats.tasks.engine.pools import Pool

K = TypeVar("K")

#: A worker gets its next block when it is done with one, so that its death is laid to the block it worked on.
ONE_BLOCK_EACH = {"distributed.scheduler.worker-saturation": 1.0}

#: Dask watches itself for its dashboard: what each task does, a hundred times a second, and how late each loop is,
#: fifty times. Idle, that took 2% of a worker's core and 3% of the scheduler's.
WATCHED_LESS = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "2s",
}

#: Freed memory that a worker's process keeps, in bytes, and what is too large to be kept. Dask's own setting, 64 KiB,
#: gives the arrays of a retrain back to the system after each of them, which took a tenth to a fifth of the time.
MEMORY_KEPT = {"MALLOC_TRIM_THRESHOLD_": 64 << 20, "MALLOC_MMAP_THRESHOLD_": 32 << 20}

#: A worker at four fifths of its memory would wait for it to be freed, which its next block alone does. One that comes
#: to the limit is replaced by its nanny.
NEVER_PAUSED = {"distributed.worker.memory.pause": False}

#: The loggers that are silenced while a pool is open, and the variable that silences those of its workers.
_LOGGERS = (
    "distributed",
    "distributed.client",
    "distributed.nanny",
    "distributed.scheduler",
    "distributed.worker",
    "tornado.application",  # a worker that died while it started
    "asyncio",  # a job that could not be submitted
)
_OF_WORKERS, _SET = "DASK_LOGGING__DISTRIBUTED", "critical"

_ENVIRON = "distributed.nanny.pre-spawn-environ"


def settings() -> dict[str, Any]:
    """The settings for `dask.config.set`: what a person has set otherwise in Dask's own configuration stays."""
    import dask
    import distributed  # noqa: F401  (its defaults)

    written, default = dask.config.collect(), dask.config.merge(*dask.config.defaults)

    def untouched(key: str, value: Any) -> bool:
        nothing = dask.config.get(key, None, config=written) is None
        return nothing and dask.config.get(key, None) in (dask.config.get(key, None, config=default), value)

    wanted = WATCHED_LESS | NEVER_PAUSED | {f"{_ENVIRON}.{name}": value for name, value in MEMORY_KEPT.items()}
    return ONE_BLOCK_EACH | {key: value for key, value in wanted.items() if untouched(key, value)}


def environment() -> dict[str, str]:
    """The same for processes that are started elsewhere, as environment variables."""
    made = {}
    for key, value in settings().items():
        name = key.removeprefix(f"{_ENVIRON}.")
        made[name if name != key else f"DASK_{key.upper().replace('.', '__').replace('-', '_')}"] = str(value)
    return made


_OPENED = threading.Lock()
#: The pools that are open, and the levels that the first found.
_open: list[object] = []
_before: dict[str, int] = {}


def quietly(open_pool: Callable[[K, Sequence[Needs]], AbstractContextManager[Pool]]) -> Callable[..., Any]:
    """Let `open_pool` silence the engine's own log for as long as a pool is open.

    A lost worker is replaced, and a lost block is our news to tell.
    """

    @contextmanager
    @wraps(open_pool)
    def opened(cluster: K, needs: Sequence[Needs] = ()) -> Iterator[Pool]:
        mark = object()
        _silence(mark)
        try:
            with open_pool(cluster, needs) as pool:
                yield pool
        finally:
            _restore(mark)

    return opened


def _silence(mark: object) -> None:
    import distributed  # noqa: F401  (sets the levels of its own log)

    with _OPENED:
        if not _open:
            _before.update({name: logging.getLogger(name).level for name in _LOGGERS})
        _open.append(mark)
        if _OF_WORKERS not in os.environ:
            os.environ[_OF_WORKERS] = _SET
        for name in _LOGGERS:
            # Short of memory, Dask's protocol tells of a message that it could not write as a critical error.
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def _restore(mark: object) -> None:
    with _OPENED:
        _open.remove(mark)
        if not _open:
            if os.environ.get(_OF_WORKERS) == _SET:
                del os.environ[_OF_WORKERS]
            for name, level in _before.items():
                logging.getLogger(name).setLevel(level)
