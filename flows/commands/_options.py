"""Arguments that several commands share."""

import argparse
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..config.ready import place_of
from ..errors import BadInput
from ..running.options import own_place
from ..whole_file import write_whole
from . import repeatable

if TYPE_CHECKING:
    from ..config.study import Study


def add_study(parser: argparse.ArgumentParser) -> None:
    """Add the study file and ``--set``."""
    parser.add_argument(
        "study", metavar="STUDY", help="a study file (TOML), or the name of a ready study (`sigstats studies`)"
    )
    text = "replace a value of the file, as in --set permutation.resamples=99 (repeatable)"
    repeatable(parser, "--set", "KEY=VALUE", text, dest="settings")


def add_allow(parser: argparse.ArgumentParser) -> None:
    """Add ``--allow``."""
    text = "a package whose classifiers and tests the study may name; its code is run (repeatable)"
    repeatable(parser, "--allow", "PACKAGE", text)


def study_of(options: argparse.Namespace) -> "Study":
    """Load the study that the arguments name."""
    from ..studies import load_study  # not imported for the help

    return load_study(place_of(options.study).path, options.settings)


def base_of(options: argparse.Namespace) -> Path:
    """The folder that relative paths of the study's data start from."""
    return place_of(options.study).base


def refuse_cluster(options: argparse.Namespace, study: "Study", *names: str) -> None:
    """Refuse the options `names`, which choose the workers of a run, for a study without cells."""
    from ..studies import kind_of

    for name in names:
        value = getattr(options, name)
        if value is not None and not kind_of(study).has_cells:
            raise BadInput(f"--{name}: {value} is not valid; a {study.kind} study runs in this process")


def output_of(options: argparse.Namespace, study: "Study") -> str:
    """The output: the folder or URL that results are written to."""
    output: str = options.output if options.output is not None else str(Path("results") / study.name)
    return usable(output, "--output")


def cache_of(cache: str | None, output: str) -> str | None:
    """The cache of finished cells, which must not be the output; None if there is none."""
    if cache is None:
        return None
    return own_place(usable(cache, "--cache"), output, "--cache")


def usable(output: str, name: str) -> str:
    """Return `output` if it is a folder or a URL that this machine can reach."""
    if not output.strip():
        raise BadInput(f"{name}: '' is not valid; expected a folder or an fsspec URL")
    scheme, separator, _ = output.partition("://")
    if separator:
        from fsspec.core import url_to_fs
        from fsspec.registry import get_filesystem_class, known_implementations

        from sigstats._common.validation import one_line

        if scheme not in known_implementations:
            raise BadInput(f"{name}: {output!r} is not valid; fsspec has no protocol {scheme!r}")
        try:
            get_filesystem_class(scheme)
        except ImportError as error:
            how = "; pip install 'sigstats[s3]'" if output.startswith(("s3://", "s3a://")) else ""
            raise BadInput(f"{name}: {output!r} is not valid here; a package is missing ({error}){how}") from None
        try:
            url_to_fs(output)
        except Exception as error:  # each file system raises its own errors
            raise BadInput(f"{name}: {output!r} is not valid; it cannot be opened ({one_line(error)[:200]})") from None
    elif Path(output).exists() and not Path(output).is_dir():
        raise BadInput(f"{name}: {output!r} is not valid; it is a file, expected a folder or an fsspec URL")
    return output


def workers_of(options: argparse.Namespace) -> int | None:
    """The value of ``--workers``; None if it is not given."""
    workers: int | None = options.workers
    if workers is not None and workers < 1:
        raise BadInput(f"--workers: {workers} is not valid; expected 1 or more")
    return workers


#: The options that name output files, and their help.
_OUTPUTS = {
    "json": "write all results as JSON; - for standard output",
    "markdown": "write a table for a pull request; - for standard output",
    "report": "write a page of HTML",
    "junit": "write JUnit XML, a test case for each result; - for standard output",
    "changed": "write the rows that the candidate broke or fixed (of several answers, the items that changed or are "
    "flaky) as CSV; twenty of them stand on the page and in the comment; - for standard output",
}


def add_outputs(parser: argparse.ArgumentParser, *names: str) -> None:
    """Add the options that name these output files."""
    outputs = parser.add_argument_group("outputs")
    for name in names:
        outputs.add_argument(f"--{name}", metavar="FILE", help=_OUTPUTS[name])


def refuse_overwriting(options: argparse.Namespace, inputs: Sequence[str], *outputs: str) -> None:
    """Refuse an output file that is also an input or another output, even if it is spelt differently."""
    taken = {_identity(file): "an input" for place in inputs for file in _local_files(place)}
    for name in outputs:
        place = getattr(options, name)
        if place is None or Path(place).is_char_device():  # such as /dev/null
            continue
        file = "-" if place == "-" else _identity(place)
        if file in taken:
            raise BadInput(f"--{name}: {place!r} is not valid; it is {taken[file]} too, expected a file of its own")
        taken[file] = f"the output of --{name}"


def refuse_repeated(inputs: Sequence[str]) -> None:
    """Refuse a file that is named twice, even if it is spelt differently: these would be models that never differ."""
    taken: dict[object, str] = {}
    for place in inputs:
        for file in set(map(_identity, _local_files(place))) or {place}:
            if file in taken:
                raise BadInput(f"FILE: {place!r} is not valid; it is {taken[file]!r}, expected a file for each model")
            taken[file] = place


def _local_files(place: str) -> Sequence[str]:
    """The files of this machine that an input names."""
    from sigstats.tasks.input_files.places import files_of

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


def write_outputs(options: argparse.Namespace, names: Sequence[str], text: Callable[[str], str]) -> bool:
    """Write the outputs that are asked for, each as its `text`; True if none of them is on standard output."""
    for name in names:
        if (place := getattr(options, name)) is not None:
            write_text(place, text(name))
    return all(getattr(options, name) != "-" for name in names)
