"""A temporary folder of a user, which the processes of a machine share."""

import os
import stat
import tempfile
from pathlib import Path


def own_folder(purpose: str) -> Path | None:
    """Return a temporary folder that only this user can read and write; None if that is not possible."""
    user = os.getuid() if hasattr(os, "getuid") else None  # on Windows temporary files are the user's own
    try:
        folder = Path(tempfile.gettempdir(), f"sigstats-{purpose}-{user}")
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError:
        return None
    private = user is None or (status.st_uid == user and not status.st_mode & 0o077)
    return folder if private and stat.S_ISDIR(status.st_mode) else None
