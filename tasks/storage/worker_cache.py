"""A cache, bounded in memory, for values that a worker process uses in several blocks."""

from collections.abc import Callable, Hashable
from typing import NoReturn, TypeVar

from cachetools import LRUCache

T = TypeVar("T")

#: The default bounds of a cache.
MOST_BYTES, MOST_VALUES = 1 << 28, 8


class WorkerCache(LRUCache[Hashable, T]):
    """A least-recently-used cache, bounded in bytes and in the number of values, for `cachetools.cached`.

    A value that alone exceeds the bound in bytes is kept until another one is looked up. It is removed before that one
    is computed, so that a worker never holds two large data sets.

    `nbytes`: the size of a value. `most_bytes` and `most_values`: the bounds.
    """

    def __init__(
        self, nbytes: Callable[[T], int], *, most_bytes: int = MOST_BYTES, most_values: int = MOST_VALUES
    ) -> None:
        super().__init__(most_bytes, getsizeof=lambda value: min(nbytes(value), most_bytes))
        self.most_values = most_values

    def taken(self, key: Hashable) -> T | None:
        """Remove and return the value of a key; None if there is none."""
        try:
            value = self[key]
        except KeyError:
            return None
        del self[key]
        return value

    def __setitem__(self, key: Hashable, value: T) -> None:
        while len(self) >= self.most_values and key not in self:
            self.popitem()
        super().__setitem__(key, value)

    def __missing__(self, key: Hashable) -> NoReturn:
        if self.currsize >= self.maxsize:
            self.popitem()
        raise KeyError(key)
