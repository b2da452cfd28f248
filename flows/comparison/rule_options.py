"""The rule of a comparison as options of the command line, from its own fields."""

import argparse
from dataclasses import fields

from sigstats.comparison.rule import ComparisonRule, key_of

from ..errors import BadInput

_UNIT = ", a share; 0.5pt and 0.5%% are points"
_METAVARS = {float: "X", int: "N", str: "NAME"}


def add_rule_options(parser: argparse.ArgumentParser, *names: str) -> None:
    """One option for each field of the rule, or for those of `names`."""
    group = parser.add_argument_group("what counts as a regression")
    for each in fields(ComparisonRule):
        if names and key_of(each) not in names:
            continue
        description, unit = each.metadata["description"], _UNIT if each.metadata.get("share") else ""
        group.add_argument(
            f"--{key_of(each).replace('_', '-')}",
            type=str if each.metadata.get("share") else type(each.default),
            metavar=_METAVARS[type(each.default)],
            help=f"{description[0].lower()}{description[1:]} (default: {each.default}{unit})",
        )


def rule_of(options: argparse.Namespace) -> ComparisonRule:
    """The rule that the options state; raises BadInput, which names an option that is not valid."""
    given = {
        each.name: getattr(options, key_of(each))
        for each in fields(ComparisonRule)
        if getattr(options, key_of(each), None) is not None
    }
    try:
        return ComparisonRule(**given)
    except ValueError as error:
        name, _, complaint = str(error).partition(":")
        key = next((key_of(each) for each in fields(ComparisonRule) if each.name == name), name)
        raise BadInput(f"--{key.replace('_', '-')}:{complaint}") from None
