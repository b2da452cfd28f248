"""What a run knows of the objects under its root, so that it asks an object store for each only once.

The run that holds the lease of a root is the only one that writes there, and its workers tell it what they write. A
block of a worker that was lost may be there all the same: it is seen when the names are listed anew.
"""

import threading
from collections.abc import Iterable

from cachetools import LRUCache

#: Contents are kept as long as all together have no more bytes; a larger one is read again.
_MOST_BYTES = 1 << 28

#: Workers write here without a receipt.
_ASKED_FOR = "data/"


class Remembered:
    """The names of all objects under a root, and the contents of those that were read or written last."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._names: set[str] = set()
        self._own: set[str] = set()
        self._contents: LRUCache[str, bytes] = LRUCache(_MOST_BYTES, getsizeof=len)

    def list_anew(self, names: Iterable[str]) -> None:
        """Replace the names, and forget what is not there any more, or was read and may have been replaced."""
        with self._lock:
            self._names = set(names)
            for name in list(self._contents):
                if name not in self._names or ("/" not in name and name not in self._own):
                    del self._contents[name]

    def add(self, name: str, content: bytes | None = None, *, own: bool = False) -> None:
        """Note an object, its content if that is known, and whether this process wrote it."""
        with self._lock:
            self._names.add(name)
            if own:
                self._own.add(name)
            if content is not None:
                self._contents.pop(name, None)
                if len(content) <= _MOST_BYTES:
                    self._contents[name] = content

    def remove(self, name: str) -> None:
        """Note that there is no such object."""
        with self._lock:
            self._names.discard(name)
            self._contents.pop(name, None)

    def content(self, name: str) -> bytes | None:
        """The content of an object; None if it must be asked for. FileNotFoundError if there is no such object."""
        with self._lock:
            if name not in self._names and not name.startswith(_ASKED_FOR):
                raise FileNotFoundError(name)
            return self._contents.get(name)

    def within(self, folder: str) -> list[str]:
        """The names of all objects in a folder and in those below it, without the folder."""
        start = f"{folder}/" if folder else ""
        with self._lock:
            return sorted(name.removeprefix(start) for name in self._names if name.startswith(start))
