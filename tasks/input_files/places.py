"""The files that a folder or a pattern means, on this machine or behind an fsspec URL."""

import glob
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from sigstats._common.printable import printable

from .opening import reason

#: More files than these are no evaluation, but a mistake in a path.
_MOST = 10_000
_SIGNS = "*?["


def files_of(path: str) -> list[str] | None:
    """The files in a folder, with all folders in it, or those that match a pattern, sorted; None for one file.

    Files and folders whose names begin with a dot are left out.

    Raises
    ------
    ValueError
        One line: there is none, or far too many.
    """
    scheme, separator, rest = path.partition("://")
    remote = separator and scheme not in ("file", "local")
    found = _remote(path) if remote else _local(rest if separator else path)
    if found is None:
        return None
    if not found:
        raise ValueError(f"{printable(path)}: there is no file that this folder or pattern means")
    if len(found) > _MOST:
        raise ValueError(f"{printable(path)}: means {len(found):,} files; expected at most {_MOST:,}")
    return found


def _local(path: str) -> list[str] | None:
    place = Path(path)
    try:
        if place.is_dir():
            names = (str(each.relative_to(place)) for each in place.rglob("*") if each.is_file())
            return sorted(str(place / name) for name in _visible(names))
        if not any(sign in path for sign in _SIGNS) or place.exists():
            return None
        matches = glob.glob(path, recursive=True)  # noqa: PTH207 - the pattern may be absolute
        return sorted(match for match in matches if Path(match).is_file())
    except (OSError, ValueError):  # whoever opens it says what is wrong
        return None


def _remote(path: str) -> list[str] | None:
    pattern = any(sign in path.partition("://")[2] for sign in _SIGNS)
    if not pattern and not path.endswith("/") and "." in path.rpartition("/")[2]:
        return None  # a name with an ending is that of a file, and each question to a store takes a while
    import fsspec

    try:
        system, root = fsspec.core.url_to_fs(path)
        if pattern:
            names = [str(name) for name in system.glob(root)]
        elif system.isdir(root):
            names = [root.rstrip("/") + "/" + name for name in _visible(_below(root, system.find(root)))]
        else:
            return None
        return sorted(str(system.unstrip_protocol(name)) for name in names)
    except Exception as error:  # a remote file system may raise anything
        raise ValueError(f"{printable(path)}: cannot be read ({reason(error)})") from None


def _below(root: str, names: Iterable[str]) -> list[str]:
    return [str(name)[len(root.rstrip("/")) + 1 :] for name in names]


def _visible(names: Iterable[str]) -> list[str]:
    return [name for name in names if not any(part.startswith(".") for part in PurePosixPath(name).parts)]
