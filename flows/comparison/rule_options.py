"""The rule of a comparison as options of the command line, from its own fields."""

import argparse
from collections.abc import Callable
from dataclasses import fields, replace
from typing import cast

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


def level_of_look(options: argparse.Namespace, rule: ComparisonRule) -> float:
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


def rule_at_look(options: argparse.Namespace) -> ComparisonRule:
    """The rule with the level of the look."""
    rule = rule_of(options)
    return replace(rule, alpha=level_of_look(options, rule))
