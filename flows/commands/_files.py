"""The files that commands read and write: output options, files named twice, and atomic writes."""

import argparse
import contextlib
import errno
import os
import stat
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path

from ..errors import BadInput, file_errors
from . import option, repeatable

#: Format of a report, by the ending of the file.
_REPORTS = {"html": "an HTML page", "md": "a table for a pull request", "xml": "JUnit XML, one test case per result"}


def add_outputs(parser: argparse.ArgumentParser, *endings: str) -> None:
    """Add ``--json``, and ``--report`` for files with these endings."""
    outputs = parser.add_argument_group("outputs")
    option(outputs, "--json", "FILE", "write all results as JSON; - for standard output")
    kinds = "; ".join(f".{ending}: {_REPORTS[ending]}" for ending in endings)
    repeatable(outputs, "--report", "FILE", f"write a report in the format of its ending ({kinds}; repeatable)")
    parser.set_defaults(endings=endings)


def ending_of(file: str) -> str:
    """Return the ending of a file, without the dot."""
    return Path(file).suffix[1:].lower()


def refuse_overwriting(options: argparse.Namespace, inputs: Sequence[str], *outputs: str, once: bool = False) -> None:
    """Refuse an output that is also an input or another output, even if spelled differently, or cannot be a file.

    `outputs`: the names of the options that take output files. `once`: also refuse an input that is named twice, since
    the two models would never differ. Also refuse a report if its ending is not one of the command's.
    """
    endings = getattr(options, "endings", ())
    for file in options.report if endings else ():
        if ending_of(file) not in endings:
            wanted = " or ".join(f".{ending}" for ending in endings)
            raise BadInput(f"--report: {file!r} is not valid; expected a file that ends in {wanted}")
    taken = {_identity(file): "an input" for place in inputs for file in _local_files(place)}
    for name in outputs:
        value = getattr(options, name)
        for place in [value] if isinstance(value, str) else value or ():
            if Path(place).is_char_device():  # such as /dev/null
                continue
            file = "-" if place == "-" else _identity(place)
            if file in taken:
                raise BadInput(f"--{name}: {place!r} is also {taken[file]}; name a separate file")
            taken[file] = f"the output of --{name}"
            if place != "-":
                _require_writable(place)
    if once:
        _refuse_repeated(inputs)


def _require_writable(place: str) -> None:
    """Raise BadInput if an output is a folder, or its folder is missing; called before any output is written."""
    target = Path(place).resolve()
    if target.is_dir() or not target.parent.is_dir():
        fault = errno.EISDIR if target.is_dir() else errno.ENOENT
        raise BadInput(f"{place}: cannot be written ({os.strerror(fault)})")


def _refuse_repeated(inputs: Sequence[str]) -> None:
    places: dict[object, str] = {}
    for place in inputs:
        for file in set(map(_identity, _local_files(place))) or {place}:
            if file in places:
                raise BadInput(f"FILE: {place!r} is {places[file]!r} again; give one file per model")
            places[file] = place


def _local_files(place: str) -> Sequence[str]:
    """Return the files of this machine that an input names: a file, or the files of a folder or pattern."""
    from sigstats.files.inputs import files_of

    scheme, separator, rest = place.partition("://")
    if separator and scheme not in ("file", "local"):
        return ()
    path = rest if separator else place
    try:
        return files_of(path) or [path]
    except ValueError:  # reading it fails with a message
        return [path]


def _identity(place: str) -> object:
    """Return a key that is the same for two spellings of one file, which need not exist."""
    try:
        about = Path(place).stat()
        return about.st_dev, about.st_ino
    except (OSError, ValueError):  # it does not exist, or no file can have this name
        return os.path.realpath(place)


def write_text(place: str, text: str) -> None:
    """Write a text to a file, or to standard output if `place` is ``-``."""
    if place == "-":
        print(text)  # noqa: T201
        return
    write_whole(place, f"{text}\n".encode())


def write_outputs(options: argparse.Namespace, json: Callable[[], str], **reports: Callable[[], str]) -> bool:
    """Write the requested outputs; return True unless one is on standard output. `reports`: a text for each ending."""
    if options.json is not None:
        write_text(options.json, json())
    for file in options.report:
        write_text(file, reports[ending_of(file)]())
    return bool(options.json != "-")


def write_whole(place: str, content: bytes) -> None:
    """Write a file so that neither a full disk, a signal nor a second run leaves a part of it.

    A link is followed unless another account has left it in a folder like /tmp. A file that exists keeps its mode. A
    pipe or a device is written to directly.
    """
    with file_errors(f"{place}: cannot be written"):
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


def _refuse_links_of_others(place: str) -> None:
    """Raise BadInput for a link that Linux would not follow either (`protected_symlinks`)."""
    path = Path(place).absolute()
    for link in (path, *path.parents):
        if not link.is_symlink():
            continue
        folder = link.parent.stat()
        shared = folder.st_mode & stat.S_ISVTX and folder.st_mode & stat.S_IWOTH
        if shared and link.lstat().st_uid not in (os.geteuid(), folder.st_uid):
            raise BadInput(f"{place}: {link} is a link of another account; expected a file or a link of your own")
