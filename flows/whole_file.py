"""Output files that a person names: each is written whole, or stays as it was."""

import contextlib
import os
import stat
import uuid
from pathlib import Path

from .errors import BadInput


def write_whole(place: str, content: bytes) -> None:
    """Write a file so that neither a full disk, a signal nor a second run leaves a part of it.

    A link is followed unless another account has left it in a folder like /tmp. A file that exists keeps its mode. A
    pipe or a device is written to directly.
    """
    try:
        _refuse_links_of_others(place)
        target = Path(place).resolve()
        if target.exists() and not target.is_file():
            target.write_bytes(content)
            return
        partial = target.with_name(f".{uuid.uuid4().hex}.partial")
        try:
            with partial.open("xb") as handle:
                handle.write(content)
            if target.exists():
                partial.chmod(stat.S_IMODE(target.stat().st_mode))
            partial.replace(target)
        except PermissionError:
            if not target.is_file():
                raise
            target.write_bytes(content)  # of a folder that takes no new files
        finally:
            with contextlib.suppress(OSError):
                partial.unlink()
    except OSError as error:
        raise BadInput(f"{place}: cannot be written ({error.strerror or error})") from None


def _refuse_links_of_others(place: str) -> None:
    """Raise BadInput for a link that Linux would not follow either (`protected_symlinks`)."""
    path = Path(place).absolute()
    for each in (path, *path.parents):
        if not each.is_symlink():
            continue
        folder = each.parent.stat()
        shared = folder.st_mode & stat.S_ISVTX and folder.st_mode & stat.S_IWOTH
        if shared and each.lstat().st_uid not in (os.geteuid(), folder.st_uid):
            raise BadInput(f"{place}: {each} is a link of another account; expected a file or a link of your own")
