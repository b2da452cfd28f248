"""Files under a root: a folder, or an fsspec URL such as a bucket.

At a URL, an object appears complete when its upload ends, and needs no rename. A run remembers the objects under its
root, so that it requests each object only once. Only the run that holds the lease of a root writes there, and its
workers report their files. A lost worker may have written a block that it did not report; a new listing finds it.
"""

import contextlib
import os
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from io import BufferedIOBase
from pathlib import PurePosixPath
from typing import IO, Any, TypeAlias

from cachetools import LRUCache

from sigstats._common.credentials import refuse_credentials
from sigstats._common.extras import with_extra

from .lease import Held, lease
from .local_files import LocalFiles, inside_root
from .local_files import Locked as Locked

#: The maximum size of all remembered contents, in bytes. A larger content is read again.
_MOST_BYTES = 1 << 28

#: The maximum size in bytes up to which the content of a file that is written piece by piece is cached.
_MOST_WRITTEN = 1 << 22

#: The folder into which workers write without a receipt.
_ASKED_FOR = "data/"


class Remembered:
    """The names of all objects under a root, and the contents of the most recently read or written objects."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._names: set[str] = set()
        self._removed: set[str] = set()
        self._own: set[str] = set()
        self._contents: LRUCache[str, bytes] = LRUCache(_MOST_BYTES, getsizeof=len)

    def refresh(self, names: Iterable[str]) -> None:
        """Add listed names, keep the known ones (stores may list late), and forget contents that may have changed."""
        with self._lock:
            self._names.update(set(names) - self._removed)
            for name in list(self._contents):
                if "/" not in name and name not in self._own:
                    del self._contents[name]

    def add(self, name: str, content: bytes | None = None, *, written_here: bool = False) -> None:
        """Record an object, its content if known, and whether this process wrote it."""
        with self._lock:
            self._names.add(name)
            self._removed.discard(name)
            if written_here:
                self._own.add(name)
            self._contents.pop(name, None)  # an unknown content may differ
            if content is not None and len(content) <= _MOST_BYTES:
                self._contents[name] = content

    def remove(self, name: str) -> None:
        """Record that an object does not exist."""
        with self._lock:
            self._names.discard(name)
            self._removed.add(name)
            self._contents.pop(name, None)

    def content(self, name: str) -> bytes | None:
        """Return the content of an object, or None if it must be requested; raise FileNotFoundError if missing."""
        with self._lock:
            if name not in self._names and not name.startswith(_ASKED_FOR):
                raise FileNotFoundError(name)
            return self._contents.get(name)

    def within(self, folder: str) -> list[str]:
        """Return the names of all objects in a folder and its subfolders, relative to the folder."""
        start = f"{folder}/" if folder else ""
        with self._lock:
            return sorted(name.removeprefix(start) for name in self._names if name.startswith(start))


#: The remembered objects of this process's runs, by root.
_REMEMBERED: dict[str, Remembered] = {}


class RemoteFiles:
    """Files under an fsspec URL. The store must make an object visible when its upload ends (S3, GCS, memory ...)."""

    def __init__(self, root: str) -> None:
        self.root = root.rstrip("/")

    @property
    def _known(self) -> Remembered | None:
        return _REMEMBERED.get(self.root)

    @property
    def _system(self) -> tuple[Any, str]:
        import fsspec

        try:
            system, path = fsspec.core.url_to_fs(self.root)
        except ImportError as error:
            raise with_extra(error) from None
        return system, str(path).rstrip("/")

    def write(self, name: str, content: bytes | Callable[[IO[bytes]], None]) -> None:  # noqa: D102
        system, root = self._system
        path, written = f"{root}/{inside_root(name)}", None
        if isinstance(content, bytes):
            written = content
            with self._trouble():
                system.pipe_file(path, content)
        else:
            with tempfile.NamedTemporaryFile() as file:
                content(file)
                file.flush()
                if file.seek(0, os.SEEK_END) <= _MOST_WRITTEN:  # written files are often read again soon
                    file.seek(0)
                    written = file.read()
                with self._trouble():
                    system.put_file(file.name, path)
        if self._known is not None:
            self._known.add(name, written, written_here=True)

    def open(self, name: str) -> BufferedIOBase:  # noqa: D102
        system, root = self._system
        with self._trouble():
            file: BufferedIOBase = system.open(f"{root}/{inside_root(name)}", "rb")
        return file

    def read(self, name: str) -> bytes:  # noqa: D102
        known = self._known
        if known is not None and (content := known.content(name)) is not None:
            return content
        system, root = self._system
        # By default s3fs first requests the size, to read in several parts.
        whole = {"max_concurrency": 1} if "s3" in system.protocol else {}
        with self._trouble():
            content = bytes(system.cat_file(f"{root}/{inside_root(name)}", **whole))
        if known is not None:
            known.add(name, content)
        return content

    def names(self, folder: str) -> list[str]:  # noqa: D102
        if self._known is not None:
            return [name for name in self._known.within(folder) if "/" not in name]
        return self._entries(folder, "file")

    def folders(self, folder: str) -> list[str]:  # noqa: D102
        if self._known is not None:
            return sorted({name.partition("/")[0] for name in self._known.within(folder) if "/" in name})
        return self._entries(folder, "directory")

    def _entries(self, folder: str, kind: str) -> list[str]:
        system, root = self._system
        system.invalidate_cache()
        try:
            with self._trouble():
                paths = system.ls(f"{root}/{inside_root(folder)}", detail=True)
        except FileNotFoundError:
            return []
        return sorted(PurePosixPath(item["name"]).name for item in paths if item["type"] == kind)

    def remove(self, name: str) -> None:  # noqa: D102
        system, root = self._system
        with contextlib.suppress(FileNotFoundError), self._trouble():
            system.rm_file(f"{root}/{inside_root(name)}")
        if self._known is not None:
            self._known.remove(name)

    def drop(self, folder: str) -> None:  # noqa: D102
        system, root = self._system
        known, path = self._known, f"{root}/{inside_root(folder)}"
        with contextlib.suppress(Exception):  # a client library may raise anything
            system.invalidate_cache()
            names = system.find(path) if known is None else [f"{path}/{name}" for name in known.within(folder)]
            for name in names if known is not None else ():
                known.remove(name.removeprefix(f"{root}/"))  # type: ignore[union-attr]
            try:
                if names:
                    system.rm(names)  # object stores take a thousand names in one request
            except Exception:  # some stores accept only one name, and a name may look like a pattern
                for name in names:
                    with contextlib.suppress(FileNotFoundError):
                        system.rm_file(name)

    @contextlib.contextmanager
    def remembered(self) -> Iterator[None]:
        """Request each object only once within this context. It is for the run that holds the lock.

        Objects that others write are seen only after `refresh`.
        """
        if self.root in _REMEMBERED:
            yield
            return
        _REMEMBERED[self.root] = Remembered()
        try:
            try:
                self.refresh()
            except OSError:  # the next request reports it
                del _REMEMBERED[self.root]
            yield
        finally:
            _REMEMBERED.pop(self.root, None)

    def refresh(self) -> None:
        """List the objects again, since lost workers may have written more."""
        if self._known is None:
            return
        system, root = self._system
        system.invalidate_cache()
        try:
            with self._trouble():
                value = system.find(root)
        except FileNotFoundError:
            value = []
        self._known.refresh(str(name).removeprefix(f"{root}/") for name in value)

    def wrote(self, name: str, content: bytes | None = None) -> None:
        """Record an object that a worker has written, and its content if known."""
        if self._known is not None:
            self._known.add(name, content)

    def sweep(self) -> None:
        """Do nothing, since an interrupted upload leaves no object."""

    @contextlib.contextmanager
    def lock(self, *, shared: bool = False) -> Iterator[Callable[[], bool]]:
        """Hold a lease, since object stores have no locks. A shared lock needs no lease. The root cannot be moved."""
        if shared:
            yield lambda: True
            return
        system, root = self._system
        with contextlib.ExitStack() as held:
            try:
                with self._trouble():
                    held.enter_context(lease(system, f"{root}/.lock"))
            except Held as other:
                raise Locked(self.root, str(other)) from None
            yield lambda: True

    @contextlib.contextmanager
    def _trouble(self) -> Iterator[None]:
        """Convert exceptions of a client library to OSError, which a local folder would raise."""
        try:
            yield
        except (OSError, ValueError, Held):
            raise
        except Exception as error:
            raise OSError(f"{self.root}: {type(error).__name__}: {error}") from error


#: Operations on files under one root. Names are relative, with forward slashes; `LocalFiles` has the documentation.
Files: TypeAlias = LocalFiles | RemoteFiles


def open_files(root: str) -> Files:
    """Return the files under a path or an fsspec URL."""
    scheme, separator, rest = root.partition("://")
    if not separator:
        return LocalFiles(root)
    if scheme in ("file", "local"):
        return LocalFiles(rest)
    refuse_credentials({"output": root})
    return RemoteFiles(root)
