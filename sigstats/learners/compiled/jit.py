"""Functions compiled by Numba (the extra ``fast``), which may be missing or off: importers have another way too.

Numba keeps compiled code in the folder that the variable NUMBA_CACHE_DIR names, next to the source, or in the user's
cache, whichever of these is writable first. It checks whether the file of a function has changed, but not the files of
the functions that it calls: these are in the same folder or the one above, and code that is older than any of these
files is compiled again. ``sigstats warm-up`` compiles everything. If the package is read-only, as in an image, its
compiled code is copied to Numba's folder.
"""

import contextlib
import functools
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from numba import config, njit

_settings: Any = config  # has attributes of which its types do not know

if _settings.DISABLE_JIT:  # interpreted, these functions would take hours
    raise ImportError("NUMBA_DISABLE_JIT: Numba is to compile nothing")


def compiled(function: Callable[..., Any], **options: Any) -> Any:
    """Compile with options of `numba.njit`, NumPy's rules of division, without Python's lock; store the result."""
    try:
        made = _cached(function, options)
    except RuntimeError:  # no folder that Numba knows can be written to
        folder = _temporary_folder()
        if folder is None:
            return njit(nogil=True, error_model="numpy", **options)(function)
        before, _settings.CACHE_DIR = _settings.CACHE_DIR, str(folder)
        try:
            made = _cached(function, options)
        finally:
            _settings.CACHE_DIR = before
    folder = Path(made.stats.cache_path)
    _copy_from_package(function, folder)
    _forget_older(function, folder)
    return made


def lean(function: Callable[..., Any], **options: Any) -> Any:
    """Compile a function that makes and returns no array, without counting the references of those that it is given.

    Numba counts them by atomic operations wherever an array goes through a tuple or a slice. In functions of a few
    hundred nanoseconds these take most of the time.
    """
    return compiled(function, _nrt=False, **options)


def inlined(function: Callable[..., Any]) -> Any:
    """Inline a `lean` function in its callers, where a call costs as much as the work."""
    return lean(function, forceinline=True)


def merged(function: Callable[..., Any]) -> Any:
    """Compile as a part of its one caller, which takes less time than to compile both."""
    return compiled(function, inline="always")


def _cached(function: Callable[..., Any], options: Mapping[str, Any]) -> Any:
    # No code in C calls these: a wrapper for it would be compiled in vain. The types of njit lack the option.
    return njit(cache=True, nogil=True, error_model="numpy", **{"no_cfunc_wrapper": True, **options})(function)


def _prefix(function: Callable[..., Any]) -> str:
    """The start of the names under which Numba stores a function."""
    return f"{Path(function.__code__.co_filename).stem}.{function.__qualname__}-"


def _forget_older(function: Callable[..., Any], folder: Path) -> None:
    """Remove code that was compiled before a source in the function's folder, or in the one above, changed."""
    with contextlib.suppress(OSError):
        changed = _last_change(Path(function.__code__.co_filename).parent)
        prefix = _prefix(function)
        for index in _indices(folder):
            if index.name.startswith(prefix) and index.stat().st_mtime_ns < changed:
                index.unlink()


@functools.cache
def _last_change(folder: Path) -> int:
    places = folder, folder.parent
    return max((source.stat().st_mtime_ns for place in places for source in place.glob("*.py")), default=0)


@functools.cache
def _indices(folder: Path) -> list[Path]:
    """Indices of code that was compiled before this process; its own compiled code is new."""
    return list(folder.glob("*.nbi"))


def _temporary_folder() -> Path | None:
    """A temporary folder that only this user can write, as code is loaded from it; None if there is none."""
    user = os.getuid() if hasattr(os, "getuid") else None  # on Windows temporary files are the user's own
    try:
        folder = Path(tempfile.gettempdir(), f"sigstats-numba-{user}")
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError:
        return None
    own = user is None or (status.st_uid == user and not status.st_mode & 0o077)
    return folder if own and stat.S_ISDIR(status.st_mode) else None


def _copy_from_package(function: Callable[..., Any], folder: Path) -> None:
    """Copy compiled code next to the source to the cache folder, unless the cache has newer code."""
    source = Path(function.__code__.co_filename)
    beside = source.parent / "__pycache__"
    if folder == beside:
        return
    # The index of a function comes last, as it names the other files.
    for file in sorted(beside.glob(f"{_prefix(function)}*.nb[ci]")):
        there = folder / file.name
        with contextlib.suppress(OSError):
            if not there.exists() or there.stat().st_mtime_ns < file.stat().st_mtime_ns:
                partial = there.with_name(f"{there.name}.{os.getpid()}.partial")
                shutil.copy2(file, partial)
                partial.replace(there)
