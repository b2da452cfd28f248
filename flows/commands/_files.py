"""The files that commands read and write: output options, no file taken twice, each whole or left as it was."""

import argparse
import contextlib
import errno
import os
import stat
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path

from ..errors import BadInput

#: The options that name output files, and their help.
_OUTPUTS = {
    "json": "write all results as JSON; - for standard output",
    "markdown": "write a table for a pull request; - for standard output",
    "report": "write an HTML page",
    "junit": "write JUnit XML, one test case per result; - for standard output",
    "changed": "write the rows that the candidate broke or fixed (or items that changed or are flaky) as CSV; - for "
    "standard output",
}


def add_outputs(parser: argparse.ArgumentParser, *names: str) -> None:
    """Add the options that name these output files."""
    outputs = parser.add_argument_group("outputs")
    for name in names:
        outputs.add_argument(f"--{name}", metavar="FILE", help=_OUTPUTS[name])


def refuse_overwriting(options: argparse.Namespace, inputs: Sequence[str], *outputs: str, once: bool = False) -> None:
    """Refuse an output that is also an input or another output, even if spelled differently, or cannot be a file.

    `outputs`: the names of the options that take output files. `once`: also refuse an input that is named twice, since
    the two models would never differ.
    """
    taken = {_identity(file): "an input" for place in inputs for file in _local_files(place)}
    for name in outputs:
        place = getattr(options, name)
        if place is None or Path(place).is_char_device():  # such as /dev/null
            continue
        file = "-" if place == "-" else _identity(place)
        if file in taken:
            raise BadInput(f"--{name}: {place!r} is not valid; it is {taken[file]} too, expected a file of its own")
        taken[file] = f"the output of --{name}"
        target = Path(place).resolve()
        if place != "-" and (target.is_dir() or not target.parent.is_dir()):  # seen before another output is written
            fault = errno.EISDIR if target.is_dir() else errno.ENOENT
            raise BadInput(f"{place}: cannot be written ({os.strerror(fault)})")
    named: dict[object, str] = {}
    for place in inputs if once else ():
        for file in set(map(_identity, _local_files(place))) or {place}:
            if file in named:
                raise BadInput(f"FILE: {place!r} is not valid; it is {named[file]!r}, expected a file for each model")
            named[file] = place


def _local_files(place: str) -> Sequence[str]:
    from sigstats.files.inputs.places import files_of

    scheme, separator, rest = place.partition("://")
    if separator and scheme not in ("file", "local"):
        return ()
    path = rest if separator else place
    try:
        return files_of(path) or [path]
    except ValueError:  # reading it fails with a message
        return [path]


def _identity(place: str) -> object:
    """A key that is the same for two spellings of one file, which need not exist."""
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


def write_outputs(options: argparse.Namespace, **texts: Callable[[], str]) -> bool:
    """Write the requested outputs, each with its text; return True if none of them is on standard output."""
    for name, text in texts.items():
        if (place := getattr(options, name)) is not None:
            write_text(place, text())
    return all(getattr(options, name) != "-" for name in texts)


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
    for part in (path, *path.parents):
        if not part.is_symlink():
            continue
        folder = part.parent.stat()
        shared = folder.st_mode & stat.S_ISVTX and folder.st_mode & stat.S_IWOTH
        if shared and part.lstat().st_uid not in (os.geteuid(), folder.st_uid):
            raise BadInput(f"{place}: {part} is a link of another account; expected a file or a link of your own")
