"""Files in a folder, written atomically by a temporary name, fsync and replace."""

import contextlib
import errno
import fcntl
import os
import shutil
import stat
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import lru_cache
from io import BufferedIOBase
from pathlib import Path, PurePosixPath
from typing import IO, TextIO

from .lease import this_process

#: Suffix of unfinished files, which are never read and are removed when a study is continued.
PARTIAL = ".partial"

#: The files that workers have reported, by root and folder, since a network file system may list them late.
REPORTED = defaultdict[tuple[str, str], set[str]](set)

#: The maximum number of attempts to write a file if another run removes its folder meanwhile.
_TRIALS = 100


class Locked(Exception):
    """Another run uses the same root.

    `holder`: the process and the host of the other run; empty if unknown.
    """

    def __init__(self, root: str, holder: str) -> None:
        super().__init__(f"{root} is locked by another run" + (f" ({holder})" if holder else ""))


class LocalFiles:
    """Files in a folder on this machine, or on a file system that the workers share.

    The root may be a link. Below it, no link is followed: a link in place of a folder is refused; a link in place of a
    file is not listed, cannot be read, and is replaced by `write`.
    """

    def __init__(self, root: str) -> None:
        self.root = _normal(root) if root.startswith("/") else str(Path(root).absolute())

    def _path(self, name: str) -> Path:
        return Path(self._place(name))

    def _place(self, name: str) -> str:
        """Return the path of a file as a string, which is faster than `Path`: a run needs thousands of paths."""
        *folders, last = PurePosixPath(inside_root(name)).parts or (".",)
        place = self.root
        for folder in folders:
            place = f"{place}/{folder}"
            _refuse_link(place, "folder")
        return f"{place}/{last}"

    def write(self, name: str, content: bytes | Callable[[IO[bytes]], None]) -> None:
        """Write the file `name` atomically. `content`: bytes, or a function that writes to the open file."""
        for trial in range(1, _TRIALS + 1):
            try:
                return self._write(self._path(name), content)
            except (FileExistsError, FileNotFoundError):  # another run dropped the folder meanwhile
                if trial == _TRIALS:
                    raise
        return None

    def _write(self, path: Path, content: bytes | Callable[[IO[bytes]], None]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f".{path.name}.{uuid.uuid4().hex}{PARTIAL}")
        try:
            with partial.open("xb") as handle:
                content(handle) if callable(content) else handle.write(content)
                handle.flush()
                os.fsync(handle.fileno())
            partial.replace(path)
        except BaseException as error:
            with contextlib.suppress(OSError):
                partial.unlink()
            if isinstance(error, OSError) and error.filename is None:  # an error of `write`; Dask preserves the name
                error.filename = str(path)
            raise
        _sync_folder(path.parent)

    def open(self, name: str) -> BufferedIOBase:
        """Open a file for reading; raise FileNotFoundError if it does not exist. The caller closes it."""
        place = self._place(name)
        _refuse_link(place, "file")
        return Path(place).open("rb")

    def read(self, name: str) -> bytes:
        """Return the content of a file; raise FileNotFoundError if it does not exist."""
        with self.open(name) as file:
            return file.read()

    def names(self, folder: str) -> list[str]:
        """Return the sorted names, without the folder, of the listed or reported finished files in `folder`."""
        names = {entry.name for entry in self._entries(folder) if entry.is_file(follow_symlinks=False)}
        names |= REPORTED.get((self.root, folder), set())
        return sorted(name for name in names if not name.endswith(PARTIAL))

    def folders(self, folder: str) -> list[str]:
        """Return the sorted names of the folders in `folder`, or an empty list if it does not exist."""
        return sorted(entry.name for entry in self._entries(folder) if entry.is_dir(follow_symlinks=False))

    def _entries(self, folder: str) -> list["os.DirEntry[str]"]:
        try:
            with os.scandir(self._place(f"{folder}/entry" if folder else "entry").rpartition("/")[0]) as entries:
                return list(entries)
        except (FileNotFoundError, NotADirectoryError):
            return []

    def remove(self, name: str) -> None:
        """Remove a file if it exists."""
        self._path(name).unlink(missing_ok=True)
        place, _, entry = name.rpartition("/")
        REPORTED.get((self.root, place), set()).discard(entry)

    def drop(self, folder: str) -> None:
        """Remove a folder and its content if possible. Remaining files do no harm."""
        shutil.rmtree(self._path(folder), ignore_errors=True)
        REPORTED.pop((self.root, folder), None)

    def sweep(self) -> None:
        """Remove the unfinished files of interrupted writers."""
        for partial in Path(self.root).rglob(f".*{PARTIAL}"):
            partial.unlink(missing_ok=True)

    @contextlib.contextmanager
    def lock(self, *, shared: bool = False) -> Iterator[Callable[[], bool]]:
        """Hold a lock that the operating system releases when the process ends, even if it is killed.

        Any number of runs can hold a shared lock. Raises Locked if another run holds the lock.

        Yields a function that returns True unless the locked folder was moved or removed.
        """
        path = self._path(".lock")
        path.parent.mkdir(parents=True, exist_ok=True)
        _refuse_link(path, "file")  # a link that appears later is not followed either
        if path.exists() and path.stat().st_nlink > 1:  # it is written in place, which would change its other names
            raise OSError(errno.ELOOP, f"{path} has another name (a hard link); replace it with a separate file")
        with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666), "r+") as handle:
            try:
                fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Locked(self.root, handle.read()) from None
            _overwrite(handle, f"a part of the study, {this_process()}" if shared else this_process())
            mine = os.fstat(handle.fileno())

            def exists() -> bool:
                try:
                    return os.path.samestat(path.stat(), mine)
                except (FileNotFoundError, NotADirectoryError):
                    return False

            try:
                yield exists
            finally:
                _overwrite(handle, "")

    def remembered(self) -> AbstractContextManager[None]:
        """Do nothing, since listing a local folder is cheap."""
        return contextlib.nullcontext()

    def refresh(self) -> None:
        """Do nothing, since a local folder needs no refresh."""

    def wrote(self, name: str, content: bytes | None = None) -> None:  # noqa: ARG002
        """Record that a worker has written a file."""
        place, _, entry = name.rpartition("/")
        REPORTED[self.root, place].add(entry)


@lru_cache
def _normal(root: str) -> str:
    return str(Path(root))


def inside_root(name: str) -> str:
    """Return `name` if it stays inside its root; raise ValueError otherwise."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name or "\0" in name:
        raise ValueError(f"file name: {name!r} is not valid; expected a relative path inside the output")
    return name


def _refuse_link(path: str | Path, kind: str) -> None:
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        status = os.lstat(path)
        if stat.S_ISLNK(status.st_mode):
            raise OSError(errno.ELOOP, f"{path} is a link; replace it with a real {kind}")
        if kind == "file" and not stat.S_ISDIR(status.st_mode) and not stat.S_ISREG(status.st_mode):
            raise OSError(errno.ELOOP, f"{path} is a pipe or a device; replace it with a regular file")


def _overwrite(handle: TextIO, text: str) -> None:
    """Replace the content of a lock file. A full disk does not end a run."""
    with contextlib.suppress(OSError):  # unbuffered, since a buffer would be written again when the file is closed
        os.ftruncate(handle.fileno(), 0)
        os.pwrite(handle.fileno(), text.encode(), 0)


def _sync_folder(folder: Path) -> None:
    with contextlib.suppress(OSError):  # some file systems cannot sync a folder; the file itself is whole
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
