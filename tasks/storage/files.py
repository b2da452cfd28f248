"""The operations on files that the store needs, for a folder and for an fsspec URL."""

from contextlib import AbstractContextManager
from typing import Protocol

from .local_files import LocalFiles
from .local_files import Locked as Locked


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

    def remembered(self) -> AbstractContextManager[None]:
        """A context in which an object store is asked for each object only once.

        For the run that holds the lock, or is about to: what others write meanwhile is not seen before `list_anew`.
        """

    def list_anew(self) -> None:
        """Look again what there is."""

    def wrote(self, name: str) -> None:
        """Note a file that a worker of this run has written."""


def open_files(root: str) -> Files:
    """The files under a path or an fsspec URL.

    >>> files = open_files("memory://a-study")
    >>> files.write("notes/one.txt", b"whole")
    >>> files.names("notes"), files.read("notes/one.txt")
    (['one.txt'], b'whole')
    """
    scheme, separator, rest = root.partition("://")
    if not separator:
        return LocalFiles(root)
    if scheme in ("file", "local"):
        return LocalFiles(rest)
    from .remote_files import RemoteFiles  # needs an extra

    return RemoteFiles(root)
