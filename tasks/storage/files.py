"""The operations on files that the store needs, for a folder and for an fsspec URL."""

from typing import TYPE_CHECKING, TypeAlias

from sigstats._common.credentials import refuse_credentials

from .local_files import LocalFiles
from .local_files import Locked as Locked

if TYPE_CHECKING:
    from .remote_files import RemoteFiles

#: Operations on files whose names are relative to one root, with forward slashes; `LocalFiles` explains them.
Files: TypeAlias = "LocalFiles | RemoteFiles"


def open_files(root: str) -> Files:
    """The files under a path or an fsspec URL."""
    scheme, separator, rest = root.partition("://")
    if not separator:
        return LocalFiles(root)
    if scheme in ("file", "local"):
        return LocalFiles(rest)
    refuse_credentials({"output": root})
    from .remote_files import RemoteFiles  # needs an extra

    return RemoteFiles(root)
