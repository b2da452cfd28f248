"""The rule of a comparison as options of the command line, from its own fields."""

import argparse
from collections.abc import Callable
from dataclasses import fields

from sigstats.comparison.rule import ComparisonRule, key_of

from ..errors import BadInput

_UNIT = ", a share; 0.5pt and 0.5%% are points"
_METAVARS = {float: "X", int: "N", str: "NAME"}


def fraction(text: str) -> float:
    """A number, which may be written as per cent: ``5%``."""
    return float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)


_TYPES: dict[type, Callable[[str], float | str]] = {float: fraction, int: int, str: str}


def add_rule_options(parser: argparse.ArgumentParser, *names: str) -> None:
    """One option for each field of the rule, or for those of `names`."""
    group = parser.add_argument_group("what counts as a regression")
    for each in fields(ComparisonRule):
        if names and key_of(each) not in names:
            continue
        description, unit = each.metadata["description"], _UNIT if each.metadata.get("share") else ""
        said, option = f"{description[0].lower()}{description[1:]}", f"--{key_of(each).replace('_', '-')}"
        if each.name == "margins":
            text = f"{said}, as in 'label = dog=1pt' (repeatable)"
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
        raise BadInput(f"--margins: {option!r} is not valid; expected NAME=X with a slice or measure and its margin")
    return name.strip(), margin


def rule_of(options: argparse.Namespace) -> ComparisonRule:
    """The rule that the options state; raises BadInput, which names an option that is not valid."""
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
