"""Arguments that several commands share; those of the rule of a comparison come from its own fields."""

import argparse
import contextlib
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from ..errors import DONE, REGRESSION, BadInput
from . import repeatable

if TYPE_CHECKING:
    from sigstats.comparison.rule import ComparisonRule, Verdict

    from ..config.model import Study


def add_study(parser: argparse.ArgumentParser) -> None:
    """Add the study file and ``--set``."""
    parser.add_argument(
        "study", metavar="STUDY", help="a study file (TOML), or the name of a ready study (`sigstats studies`)"
    )
    text = "replace a value of the file, as in --set permutation.resamples=99 or tests.0.measure=f1 (repeatable)"
    repeatable(parser, "--set", "KEY=VALUE", text)


def add_output(parser: argparse.ArgumentParser) -> None:
    """Add ``--output``."""
    text = "the folder or fsspec URL of the results (default: results/NAME)"
    parser.add_argument("--output", metavar="DIR_OR_URL", help=text)


def add_allow(parser: argparse.ArgumentParser) -> None:
    """Add ``--allow``."""
    text = "a package whose classifiers and tests the study may name; its code is run (repeatable)"
    repeatable(parser, "--allow", "PACKAGE", text)


def study_of(options: argparse.Namespace) -> "tuple[Study, Path]":
    """Load the study that the arguments name; with the folder that relative paths of its data start from."""
    from ..studies import find_study  # not imported for the help

    return find_study(options.study, options.set)


def refuse_cluster(options: argparse.Namespace, study: "Study", *names: str) -> None:
    """Refuse the options `names`, which choose the workers of a run, for a study without cells."""
    from ..studies import kind_of

    for name in names:
        value = getattr(options, name)
        if value is not None and not kind_of(study).has_cells:
            option = f"--{name.replace('_', '-')}"
            raise BadInput(f"{option}: {value} is not valid; a {study.kind} study runs in this process")


def output_of(options: argparse.Namespace, study: "Study") -> str:
    """The output: the folder or URL that results are written to."""
    output: str = options.output if options.output is not None else str(Path("results") / study.name)
    return usable(output, "--output")


def cache_of(cache: str | None, output: str) -> str | None:
    """The cache of finished cells, which must not be the output; None if there is none."""
    if cache is None:
        return None
    from ..running.options import own_place

    return own_place(usable(cache, "--cache"), output, "--cache")


def usable(output: str, name: str) -> str:
    """Return `output` if it is a folder or a URL that this machine can reach."""
    if not output.strip():
        raise BadInput(f"{name}: '' is not valid; expected a folder or an fsspec URL")
    scheme, separator, _ = output.partition("://")
    if separator:
        from fsspec.core import url_to_fs
        from fsspec.registry import get_filesystem_class, known_implementations

        from sigstats._common.extras import with_extra
        from sigstats._common.validation import one_line

        if scheme not in known_implementations:
            raise BadInput(f"{name}: {output!r} is not valid; fsspec has no protocol {scheme!r}")
        try:
            get_filesystem_class(scheme)
        except ImportError as error:
            why = with_extra(error)
            raise BadInput(f"{name}: {output!r} is not valid here; a package is missing ({why})") from None
        try:
            url_to_fs(output)
        except Exception as error:  # each file system raises its own errors
            raise BadInput(f"{name}: {output!r} is not valid; it cannot be opened ({one_line(error)[:200]})") from None
    elif Path(output).exists() and not Path(output).is_dir():
        raise BadInput(f"{name}: {output!r} is not valid; it is a file, expected a folder or an fsspec URL")
    return output


@contextlib.contextmanager
def output_read(output: str, lacking: str, *, used: str = "read") -> Iterator[None]:
    """Say in one line why an output cannot be used; `lacking`: what it may not hold."""
    from sigstats.tasks.storage.seal import Damaged

    try:
        yield
    except (FileNotFoundError, NotADirectoryError):
        raise BadInput(f"OUTPUT: {output} is not valid; it holds no study{lacking}") from None
    except Damaged as error:
        raise BadInput(f"OUTPUT: {error}; run the study again, which makes it anew") from None
    except OSError as error:
        raise BadInput(f"OUTPUT: {output} is not valid; it cannot be {used} ({error.strerror or error})") from None


def workers_of(options: argparse.Namespace) -> int | None:
    """The value of ``--workers``; None if it is not given."""
    workers: int | None = options.workers
    if workers is not None and workers < 1:
        raise BadInput(f"--workers: {workers} is not valid; expected 1 or more")
    return workers


_UNIT = ", a share; 0.5pt and 0.5%% are points"
_METAVARS = {float: "X", int: "N", str: "NAME"}


def fraction(text: str) -> float:
    """A number, which may be written as per cent: ``5%``."""
    return float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)


_TYPES: dict[type, Callable[[str], float | str]] = {float: fraction, int: int, str: str}


def add_rule_options(parser: argparse.ArgumentParser, *names: str) -> None:
    """One option for each field of the rule, or for those of `names`."""
    from sigstats.comparison.rule import ComparisonRule, key_of  # needs NumPy, without which others show their help

    group = parser.add_argument_group("what counts as a regression")
    for each in fields(ComparisonRule):
        if names and key_of(each) not in names:
            continue
        description, unit = each.metadata["description"], _UNIT if each.metadata.get("share") else ""
        said, option = f"{description[0].lower()}{description[1:]}", f"--{key_of(each).replace('_', '-')}"
        if each.name == "margins":
            text = f"{said}, as in 'label = dog=1pt' or latency_ms=20 (repeatable)"
            group.add_argument(option, action="append", default=[], metavar="NAME=X", help=text)
            continue
        if isinstance(each.default, bool):
            group.add_argument(option, action="store_true", help=said)
            continue
        group.add_argument(
            option,
            type=str if each.metadata.get("share") else _TYPES[type(each.default)],
            metavar=_METAVARS[type(each.default)],
            help=f"{said} (default: {each.default}{unit})",
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
        each.name: getattr(options, key_of(each))
        for each in fields(ComparisonRule)
        if getattr(options, key_of(each), None) is not None
    }
    given["margins"] = dict(_name_and_margin(each) for each in given.get("margins", []))
    try:
        return ComparisonRule(**given)
    except ValueError as error:
        name, _, complaint = str(error).partition(":")
        key = next((key_of(each) for each in fields(ComparisonRule) if each.name == name), name)
        raise BadInput(f"--{key.replace('_', '-')}:{complaint}") from None


def level_of_look(options: argparse.Namespace, rule: "ComparisonRule") -> float:
    """The level of the look that the options state."""
    from sigstats.sequential.alpha_spending import Spending, spent_level

    look, spending = 1 if options.look is None else options.look, cast("Spending", options.spending or "each")
    if options.looks is not None and spending in ("each", "series"):
        raise BadInput(
            f"--looks: {options.looks} is not valid with --spending {spending}, which plans none; expected "
            "--spending linear, pocock or obrien-fleming"
        )
    alpha = spent_level(look, alpha=rule.alpha, spending=spending, looks=options.looks)
    if alpha == 0:
        raise BadInput(f"--look: {look} is not valid; expected one of the {options.looks} planned looks")
    return alpha


def rule_at_look(options: argparse.Namespace) -> "ComparisonRule":
    """The rule with the level of the look."""
    rule = rule_of(options)
    return replace(rule, alpha=level_of_look(options, rule))


def add_fail_on(parser: argparse.ArgumentParser) -> None:
    """Add ``--fail-on``."""
    text = "the mildest verdict that ends with exit code 1 (default: fail)"
    parser.add_argument("--fail-on", choices=("fail", "inconclusive"), default="fail", help=text)


def code_of(options: argparse.Namespace, verdict: "Verdict") -> int:
    """The exit code of a verdict."""
    from sigstats.comparison.rule import failing_verdicts

    return REGRESSION if verdict in failing_verdicts(options.fail_on == "inconclusive") else DONE
