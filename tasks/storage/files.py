"""The operations on files that the store needs, for a folder and for an fsspec URL.

A file appears under its name complete or not at all. In a folder this takes a temporary name, ``fsync`` and
``os.replace``. An object store has no rename and needs none, since an object appears when its upload ends.
"""

import contextlib
import errno
import fcntl
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path, PurePosixPath
from typing import Any, Protocol, TextIO

from .lease import Held, lease, this_process

#: The ending of unfinished files. These are never read, and are removed when a study is continued.
PARTIAL = ".partial"

#: How often writing a file is repeated if another run removes its folder meanwhile.
_TRIALS = 100


class Locked(Exception):
    """Another run works under the same root; the message says so in one line.

    Parameters
    ----------
    root : str
    holder : str
        The process and the host of the other run; empty if they are not known.
    """

    def __init__(self, root: str, holder: str) -> None:
        super().__init__(f"{root} is locked by another run" + (f" ({holder})" if holder else ""))


class Files(Protocol):
    """Operations on files whose names are relative to one root, with forward slashes."""

    root: str

    def write(self, name: str, content: bytes) -> None:
        """Make `content` the whole file `name`, atomically."""

    def read(self, name: str) -> bytes:
        """The content of a file; raises FileNotFoundError if there is none."""

    def names(self, folder: str) -> list[str]:
        """The sorted names (without the folder) of the finished files in `folder`; empty if it does not exist."""

    def folders(self, folder: str) -> list[str]:
        """The sorted names of the folders in `folder`; empty if it does not exist."""

    def remove(self, name: str) -> None:
        """Remove a file; no error if it does not exist."""

    def drop(self, folder: str) -> None:
        """Remove a folder with its content, as far as possible; files that remain do no harm."""

    def sweep(self) -> None:
        """Remove the unfinished files of writers that were interrupted."""

    def lock(self, *, shared: bool = False) -> AbstractContextManager[None]:
        """A context in which no other run can lock this root; raises Locked if another run holds the lock.

        Any number of runs can hold a shared lock; on an object store that is none.
        """


class LocalFiles:
    """Files in a folder of this machine, or of a file system that its workers share.

    The root may be a link. Below it, no link is followed: one in the place of a folder is refused, one in the place of
    a file is no file, and `write` replaces it.
    """

    def __init__(self, root: str) -> None:
        self.root = str(Path(root).absolute())

    def _path(self, name: str) -> Path:
        path = Path(self.root, require_inside(name))
        for folder in path.parents:
            if folder == Path(self.root):
                break
            if folder.is_symlink():
                raise OSError(errno.ELOOP, f"{folder} is a link; expected a folder of its own")
        return path

    def write(self, name: str, content: bytes) -> None:  # noqa: D102
        for trial in range(1, _TRIALS + 1):
            try:
                return self._write(self._path(name), content)
            except (FileExistsError, FileNotFoundError):  # the folder was dropped while it was made, or after
                if trial == _TRIALS:
                    raise
        return None

    def _write(self, path: Path, content: bytes) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f".{path.name}.{uuid.uuid4().hex}{PARTIAL}")
        try:
            with partial.open("xb") as handle:
                handle.write(content)
                handle.flush()
                os.fsync(handle.fileno())
            partial.replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                partial.unlink()
            raise
        _sync_folder(path.parent)

    def read(self, name: str) -> bytes:  # noqa: D102
        path = self._path(name)
        if path.is_symlink():
            raise FileNotFoundError(errno.ENOENT, f"{path} is a link; expected a file of its own")
        return path.read_bytes()

    def names(self, folder: str) -> list[str]:  # noqa: D102
        found = (entry.name for entry in self._entries(folder) if entry.is_file(follow_symlinks=False))
        return sorted(name for name in found if not name.endswith(PARTIAL))

    def folders(self, folder: str) -> list[str]:  # noqa: D102
        return sorted(entry.name for entry in self._entries(folder) if entry.is_dir(follow_symlinks=False))

    def _entries(self, folder: str) -> list["os.DirEntry[str]"]:
        try:
            with os.scandir(self._path(str(PurePosixPath(folder, "entry"))).parent) as entries:
                return list(entries)
        except (FileNotFoundError, NotADirectoryError):
            return []

    def remove(self, name: str) -> None:  # noqa: D102
        self._path(name).unlink(missing_ok=True)

    def drop(self, folder: str) -> None:  # noqa: D102
        shutil.rmtree(self._path(folder), ignore_errors=True)

    def sweep(self) -> None:  # noqa: D102
        for partial in Path(self.root).rglob(f".*{PARTIAL}"):
            partial.unlink(missing_ok=True)

    @contextlib.contextmanager
    def lock(self, *, shared: bool = False) -> Iterator[None]:
        """Hold a lock that the operating system releases when the process ends, even if it is killed."""
        path = self._path(".lock")
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_symlink():  # one that appears from here on is not followed either
            raise OSError(errno.ELOOP, f"{path} is a link; expected a file of its own")
        with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666), "r+") as handle:
            try:
                fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Locked(self.root, handle.read()) from None
            _overwrite(handle, f"a part of the study, {this_process()}" if shared else this_process())
            try:
                yield
            finally:
                _overwrite(handle, "")


class RemoteFiles:
    """Files under an fsspec URL whose store makes an object visible when its upload ends (S3, GCS, memory ...)."""

    def __init__(self, root: str) -> None:
        self.root = root.rstrip("/")

    @property
    def _system(self) -> tuple[Any, str]:
        import fsspec

        system, path = fsspec.core.url_to_fs(self.root)
        return system, str(path).rstrip("/")

    def write(self, name: str, content: bytes) -> None:  # noqa: D102
        system, root = self._system
        with self._trouble():
            system.pipe_file(f"{root}/{require_inside(name)}", content)

    def read(self, name: str) -> bytes:  # noqa: D102
        system, root = self._system
        with self._trouble():
            return bytes(system.cat_file(f"{root}/{require_inside(name)}"))

    def names(self, folder: str) -> list[str]:  # noqa: D102
        return self._entries(folder, "file")

    def folders(self, folder: str) -> list[str]:  # noqa: D102
        return self._entries(folder, "directory")

    def _entries(self, folder: str, kind: str) -> list[str]:
        system, root = self._system
        system.invalidate_cache()
        try:
            with self._trouble():
                found = system.ls(f"{root}/{require_inside(folder)}", detail=True)
        except FileNotFoundError:
            return []
        return sorted(PurePosixPath(item["name"]).name for item in found if item["type"] == kind)

    def remove(self, name: str) -> None:  # noqa: D102
        system, root = self._system
        with contextlib.suppress(FileNotFoundError), self._trouble():
            system.rm_file(f"{root}/{require_inside(name)}")

    def drop(self, folder: str) -> None:  # noqa: D102
        system, root = self._system
        path = f"{root}/{require_inside(folder)}"
        with contextlib.suppress(Exception):  # a client library may raise anything
            system.invalidate_cache()
            found = [str(name) for name in system.find(path)]
            try:
                if found:
                    system.rm(found)  # object stores take a thousand names in one request
            except Exception:  # some accept only one, and a name may look like a pattern
                for name in found:
                    with contextlib.suppress(FileNotFoundError):
                        system.rm_file(name)

    def sweep(self) -> None:
        """Do nothing: an upload that was interrupted leaves no object."""

    @contextlib.contextmanager
    def lock(self, *, shared: bool = False) -> Iterator[None]:
        """Hold a lease, since object stores have no locks."""
        if shared:
            yield
            return
        system, root = self._system
        with contextlib.ExitStack() as held:
            try:
                with self._trouble():
                    held.enter_context(lease(system, f"{root}/.lock"))
            except Held as other:
                raise Locked(self.root, str(other)) from None
            yield

    @contextlib.contextmanager
    def _trouble(self) -> Iterator[None]:
        """Convert the exceptions of a client library to OSError, as a folder would raise."""
        try:
            yield
        except (OSError, ValueError, Held):
            raise
        except Exception as error:
            raise OSError(f"{self.root}: {type(error).__name__}: {error}") from error


def open_files(root: str) -> Files:
    """The files under a path or an fsspec URL.

    Examples
    --------
    >>> from sigstats.tasks.storage.files import open_files
    >>> files = open_files("memory://a-study")
    >>> files.write("notes/one.txt", b"whole")
    >>> files.names("notes"), files.read("notes/one.txt")
    (['one.txt'], b'whole')
    """
    scheme, separator, rest = root.partition("://")
    if not separator:
        return LocalFiles(root)
    return LocalFiles(rest) if scheme in ("file", "local") else RemoteFiles(root)


def require_inside(name: str) -> str:
    """Return `name` if it stays inside its root; raise ValueError otherwise."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name or "\0" in name:
        raise ValueError(f"file name: {name!r} is not valid; expected a relative path inside the output")
    return name


def _overwrite(handle: TextIO, text: str) -> None:
    """Replace the text of a lock file; a full disk does not end a run."""
    with contextlib.suppress(OSError):
        handle.seek(0)
        handle.truncate()
        handle.write(text)
        handle.flush()


def _sync_folder(folder: Path) -> None:
    with contextlib.suppress(OSError):  # some file systems cannot sync a folder; the file itself is whole
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
