"""The folder of the scratch files of workers on this machine."""

import contextlib
import os
import stat
import tempfile
from pathlib import Path


def scratch_folder() -> str:
    """A folder that belongs to this user; the one that Dask's own configuration names, if it names one.

    Dask's default is one folder for all users of a machine, which belongs to the user who made it. The owner of a
    folder can replace its content, and a worker imports modules from its scratch folder.
    """
    import dask

    named = dask.config.get("temporary-directory", None)
    if named or not hasattr(os, "getuid"):
        return str(named or tempfile.gettempdir())
    folder = Path(tempfile.gettempdir(), f"sigstats-{os.getuid()}")
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    about = folder.lstat()  # of a link itself, which leads to where another user may write
    ours = stat.S_ISDIR(about.st_mode) and about.st_uid == os.getuid() and not about.st_mode & 0o077
    return str(folder) if ours else tempfile.mkdtemp(prefix=f"sigstats-{os.getuid()}-")
