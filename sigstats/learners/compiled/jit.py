"""Compile functions with Numba (the extra ``fast``), which may be missing or disabled; importers have a fallback.

Numba stores compiled code in the first writable of these folders: NUMBA_CACHE_DIR, next to the source, the user's
cache. It checks whether the file of a function has changed, but not the files of the functions that it calls. These
are in the same folder or the one above, so code that is older than any file there is compiled again. ``sigstats
warm-up`` compiles everything. If the package is read-only, as in an image, its compiled code is copied to Numba's
folder.
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

_settings: Any = config  # its types lack some of its attributes

if _settings.DISABLE_JIT:  # interpreted, these functions would take hours
    raise ImportError("NUMBA_DISABLE_JIT: Numba is disabled")


def compiled(function: Callable[..., Any], **options: Any) -> Any:
    """Compile with options of `numba.njit`, NumPy's division and without the GIL; cache the result."""
    try:
        made = _cached(function, options)
    except RuntimeError:  # none of Numba's folders is writable
        folder = _own_folder()  # private, since code is loaded from it
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


def _own_folder() -> Path | None:
    """Return a temporary folder that only this user can read and write; None if that is not possible."""
    user = os.getuid() if hasattr(os, "getuid") else None  # on Windows temporary files are the user's own
    try:
        folder = Path(tempfile.gettempdir(), f"sigstats-numba-{user}")
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError:
        return None
    private = user is None or (status.st_uid == user and not status.st_mode & 0o077)
    return folder if private and stat.S_ISDIR(status.st_mode) else None


def lean(function: Callable[..., Any], **options: Any) -> Any:
    """Compile a function that creates and returns no arrays, without counting references to its arguments.

    Numba counts references atomically whenever an array passes through a tuple or a slice, which takes most of the time
    in functions of a few hundred nanoseconds.
    """
    return compiled(function, _nrt=False, **options)


def inlined(function: Callable[..., Any]) -> Any:
    """Inline a `lean` function in its callers, if a call takes as long as the work."""
    return lean(function, forceinline=True)


def merged(function: Callable[..., Any]) -> Any:
    """Inline in the only caller before compilation, which is faster than compiling both."""
    return compiled(function, inline="always")


def _cached(function: Callable[..., Any], options: Mapping[str, Any]) -> Any:
    # No C code calls these functions, so they need no C wrapper. The types of njit lack the option.
    return njit(cache=True, nogil=True, error_model="numpy", **{"no_cfunc_wrapper": True, **options})(function)


def _prefix(function: Callable[..., Any]) -> str:
    """Return the prefix of the files in which Numba stores a function."""
    return f"{Path(function.__code__.co_filename).stem}.{function.__qualname__}-"


def _forget_older(function: Callable[..., Any], folder: Path) -> None:
    """Remove code that is older than any source file in the folder of the function or the one above."""
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
    """Index files of code that was compiled before this process started."""
    return list(folder.glob("*.nbi"))


def _copy_from_package(function: Callable[..., Any], folder: Path) -> None:
    """Copy compiled code from next to the source to the cache folder, unless the code there is newer."""
    source = Path(function.__code__.co_filename)
    beside = source.parent / "__pycache__"
    if folder == beside:
        return
    # The index is copied last, since it names the other files.
    for file in sorted(beside.glob(f"{_prefix(function)}*.nb[ci]")):
        there = folder / file.name
        with contextlib.suppress(OSError):
            if not there.exists() or there.stat().st_mtime_ns < file.stat().st_mtime_ns:
                partial = there.with_name(f"{there.name}.{os.getpid()}.partial")
                shutil.copy2(file, partial)
                partial.replace(there)
