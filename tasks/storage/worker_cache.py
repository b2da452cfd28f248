"""What a worker process keeps from one block to the next, within bounds of memory."""

import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")

#: Beyond these values used before make room; what alone is larger stays until something else is wanted.
MOST_BYTES, MOST_VALUES = 1 << 28, 8


@dataclass
class Kept(Generic[T]):
    """The values used last, as many as fit: data sets of several studies do not add up in a worker.

    Attributes
    ----------
    nbytes : callable
        The size of a value.
    most_bytes, most_values : int

    Examples
    --------
    >>> from sigstats.tasks.storage.worker_cache import Kept
    >>> texts = Kept(nbytes=len, most_bytes=5)
    >>> [texts.get(letter, lambda: 3 * letter) for letter in "aba"], texts.nbytes_kept
    (['aaa', 'bbb', 'aaa'], 3)
    """

    nbytes: Callable[[T], int]
    most_bytes: int = MOST_BYTES
    most_values: int = MOST_VALUES
    _values: dict[Hashable, tuple[T, int]] = field(default_factory=dict, init=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The value of the key; made where it is not kept, after what is too large has made room."""
        with self._lock:
            if key in self._values:
                self._values[key] = self._values.pop(key)  # the last one used
                return self._values[key][0]
            self._make_room()
        value = make()
        with self._lock:
            self._values[key] = (value, self.nbytes(value))
            while len(self._values) > 1 and self._too_much():
                del self._values[next(iter(self._values))]
        return value

    @property
    def nbytes_kept(self) -> int:
        """The sizes of all values together."""
        return sum(size for _, size in self._values.values())

    def _too_much(self) -> bool:
        return self.nbytes_kept > self.most_bytes or len(self._values) > self.most_values

    def _make_room(self) -> None:
        while self._values and self._too_much():
            del self._values[next(iter(self._values))]
