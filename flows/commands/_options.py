"""Arguments that several commands share; those of the rule of a comparison come from its own fields."""

import argparse
import contextlib
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import DONE, REGRESSION, BadInput
from . import option, repeatable

if TYPE_CHECKING:
    from sigstats.comparison.rule import ComparisonRule, Verdict

    from ..config.model import Study


def add_study(parser: argparse.ArgumentParser) -> None:
    """Add the study file and ``--set``."""
    parser.add_argument("study", metavar="STUDY", help="study file (TOML) or ready study (`sigstats studies`)")
    text = "replace a value, as in permutation.resamples=99 or tests.0.measure=f1 (repeatable)"
    repeatable(parser, "--set", "KEY=VALUE", text)


def add_output(parser: argparse.ArgumentParser) -> None:
    """Add ``--output``."""
    option(parser, "--output", "DIR_OR_URL", "folder or fsspec URL of the results (default: results/NAME)")


def add_allow(parser: argparse.ArgumentParser) -> None:
    """Add ``--allow``."""
    text = "package whose classifiers and tests the study may use; its code is run (repeatable)"
    repeatable(parser, "--allow", "PACKAGE", text)


def study_of(options: argparse.Namespace) -> "tuple[Study, Path]":
    """Load the study that the arguments name; with the folder that relative paths of its data start from."""
    from ..running.kind import find_study  # not imported for the help

    return find_study(options.study, options.set)


def output_of(options: argparse.Namespace, study: "Study") -> str:
    """The folder or URL that results are written to."""
    return str(Path("results") / study.name) if options.output is None else str(options.output)


def usable(place: str, name: str = "OUTPUT") -> str:
    """Return a folder or URL that a command reads or writes; BadInput if this machine cannot reach it."""
    from ..running.options import as_place

    with as_options():
        return as_place(place, name)


@contextlib.contextmanager
def as_options(*others: tuple[str, str]) -> Iterator[None]:
    """Rephrase errors of the library about arguments for the options that gave them; `others`: further replacements."""
    try:
        yield
    except ValueError as error:
        words = str(error)
        for its, ours in ((" score_range", " --score-range"), *others):
            words = words.replace(its, ours)
        raise BadInput(with_dashes(words, _OPTIONS)) from None


#: What the library calls options.
_OPTIONS = (
    *(
        "positive",
        "measures?",
        "score_range",
        "margins",
        "at_least",
        "at_most",
        "power",
        "weights",
        "output",
        "cluster",
    ),
    *("workers", "part", "ratio", "costs", "order", "run", "by_position", "probabilities"),
    *("lower_is_better", "changed", "score", "model", "filter", "duplicates", "unscored"),
)


def with_dashes(words: str, names: Iterable[str]) -> str:
    """Replace names of options in a message by those on the command line."""
    named = re.compile(rf"(^|: | with )({'|'.join(names)})(?=: |; expected| '[^']*'; expected)")
    return named.sub(lambda name: f"{name[1]}--{name[2].replace('_', '-').replace('measures', 'measure')}", words)


@contextlib.contextmanager
def output_read(output: str, lacking: str, *, used: str = "read") -> Iterator[None]:
    """Say in one line why an output cannot be used; `lacking`: what it may not hold."""
    from sigstats.tasks.storage.seal import Damaged

    try:
        yield
    except (FileNotFoundError, NotADirectoryError):
        raise BadInput(f"OUTPUT: {output} is not valid; it contains no study{lacking}") from None
    except Damaged as error:
        raise BadInput(f"OUTPUT: {error}; run the study again, which restores it") from None
    except OSError as error:
        raise BadInput(f"OUTPUT: {output} is not valid; it cannot be {used} ({error.strerror or error})") from None


_UNIT = ", a share; 0.5pt is half a point"
_METAVARS = {float: "X", int: "N", str: "NAME"}


def fraction(text: str) -> float:
    """A number, which may be written as per cent: ``5%``."""
    return float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)


_TYPES: dict[type, Callable[[str], float | str]] = {float: fraction, int: int, str: str}


#: Fields of the rule that only studies and Python can set.
_NO_OPTIONS = ("confidence", "simultaneous", "seed", "smallest_slice")


def add_rule_options(parser: argparse.ArgumentParser, *names: str) -> None:
    """Add an option for each field of the rule except `_NO_OPTIONS`; only for those in `names`, if given."""
    from sigstats.comparison.rule import ComparisonRule, key_of  # needs NumPy, without which others show their help

    group = parser.add_argument_group("what counts as a regression")
    for field in fields(ComparisonRule):
        if key_of(field) in _NO_OPTIONS or (names and key_of(field) not in names):
            continue
        description, unit = field.metadata["description"], _UNIT if field.metadata.get("share") else ""
        said, option = f"{description[0].lower()}{description[1:]}", f"--{key_of(field).replace('_', '-')}"
        if field.name == "margins":
            text = f"{said}, as in 'label = dog=1pt' or latency_ms=20, or latency_ms=10%% of the baseline (repeatable)"
            group.add_argument(option, action="append", default=[], metavar="NAME=X", help=text)
            continue
        if isinstance(field.default, bool):
            group.add_argument(option, action="store_true", help=said)
            continue
        group.add_argument(
            option,
            type=str if field.metadata.get("share") else _TYPES[type(field.default)],
            metavar=_METAVARS[type(field.default)],
            help=f"{said} (default: {field.default}{unit})",
        )


def _name_and_margin(option: str) -> tuple[str, str]:
    name, _, margin = option.rpartition("=")
    if not name.strip() or not margin.strip():
        raise BadInput(
            f"--margins: {option!r} is not valid; expected NAME=X with a slice, measure or score and its margin"
        )
    return name.strip(), margin


def rule_of(options: argparse.Namespace) -> "ComparisonRule":
    """The rule that the options state; raises BadInput, which names an option that is not valid."""
    from sigstats.comparison.rule import ComparisonRule, key_of

    given = {
        field.name: getattr(options, key_of(field))
        for field in fields(ComparisonRule)
        if getattr(options, key_of(field), None) is not None
    }
    given["margins"] = dict(_name_and_margin(value) for value in given.get("margins", []))
    try:
        return ComparisonRule(**given)
    except ValueError as error:
        name, _, complaint = str(error).partition(":")
        key = next((key_of(field) for field in fields(ComparisonRule) if field.name == name), name)
        raise BadInput(f"--{key.replace('_', '-')}:{complaint}") from None


def add_fail_on(parser: argparse.ArgumentParser) -> None:
    """Add ``--fail-on``."""
    text = "mildest verdict with exit code 1 (default: fail)"
    parser.add_argument("--fail-on", choices=("fail", "inconclusive"), default="fail", help=text)


def code_of(options: argparse.Namespace, verdict: "Verdict") -> int:
    """The exit code of a verdict."""
    from sigstats.comparison.rule import failing_verdicts

    return REGRESSION if verdict in failing_verdicts(options.fail_on == "inconclusive") else DONE
