"""Trained classifiers that a worker process caches: blocks of several cells take turns."""

import pickle
from typing import Any, Protocol

from ..storage.worker_cache import WorkerCache

#: The bounds of a cache of trained classifiers; the data sets that they were trained on are not part of it.
MOST_BYTES, MOST_TRAINED = 1 << 29, 16


class Trained(Protocol):
    """A value that knows its size."""

    @property
    def nbytes(self) -> int:
        """Its bytes in memory, without what it shares with others."""


def trained_cache() -> WorkerCache[Any]:
    """A cache of at most 512 MiB; of classifiers that are larger the last ones stay until others are trained."""

    def nbytes(value: Trained) -> int:
        return value.nbytes

    return WorkerCache(nbytes, most_bytes=MOST_BYTES, most_values=MOST_TRAINED)


def bytes_of(fitted: Any) -> int:
    """The bytes of fitted estimators: those that they would be sent as, and of their arrays, which are not copied.

    What cannot be sent counts as all that the cache may hold.
    """
    arrays: list[pickle.PickleBuffer] = []
    try:
        rest = len(pickle.dumps(fitted, protocol=5, buffer_callback=arrays.append))
        return rest + sum(array.raw().nbytes for array in arrays)
    except Exception:  # an estimator may raise anything
        return MOST_BYTES
