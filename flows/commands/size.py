"""Compute the number of rows that a comparison needs to detect the drops of accuracy that matter, from rates.

They are --accuracy, and --discordance if known. For the rates of files, use `sigstats compare --power`, and for a
leaderboard `sigstats rank --power`. For one of several tests or looks, give its level as --alpha.
"""

import argparse
import shlex
from json import dumps
from typing import TYPE_CHECKING, Any

from ..errors import DONE, BadInput
from ._files import refuse_overwriting, write_text
from ._options import add_drops, add_rule_options, as_options, drops_of, fraction, rule_of

if TYPE_CHECKING:
    from sigstats.comparison.rule import ComparisonRule
    from sigstats.sizing.comparison import Pilot, SizePlan

GROUP = "files of predictions"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``sigstats size``."""
    parser.add_argument("files", nargs="*", help=argparse.SUPPRESS)  # the refusal names the command that reads them
    add_drops(parser)
    _number(parser, "--power", "wanted power (default: 0.8)", default=0.8)
    _number(parser, "--accuracy", "accuracy of the baseline")
    _number(parser, "--discordance", "share of rows that only one model gets right (default: 2 X (1 - X))")
    _number(parser, "--rows", "present number of rows", int)
    _number(parser, "--answers", "answers per item; rows are then items (default: 1)", int)
    text = "correlation of the differences of two answers to an item (default: 0)"
    _number(parser, "--correlation", text)
    add_rule_options(parser, "alpha", "minimum_effect", "margin")
    parser.add_argument("--json", metavar="FILE", help="write all results as JSON; - for standard output")


def _number(parser: Any, name: str, text: str, kind: Any = fraction, **how: Any) -> None:
    parser.add_argument(name, type=kind, metavar="N" if kind is int else "X", help=text, **how)


def run(options: argparse.Namespace) -> int:
    """Print the number of rows that the comparison needs."""
    if options.files:
        command = shlex.join(["sigstats", "rank" if len(options.files) > 2 else "compare", *options.files])
        raise BadInput(f"FILE: size reads no files; run {command} --power {options.power:g}")
    refuse_overwriting(options, (), "json")
    with as_options():
        plan = _plan(options)
    from ..sizing import as_object, as_text

    if options.json is not None:
        write_text(options.json, dumps({"version": 1, **as_object(plan)}, indent=2, allow_nan=False))
    if options.json != "-":
        write_text("-", as_text(plan))
    return DONE


def _plan(options: argparse.Namespace) -> "SizePlan":
    from sigstats.comparison.margins import check_margins
    from sigstats.sizing.comparison import plan_size

    from ..sizing import default_drops

    rule = rule_of(options)
    check_margins(rule, [])  # the rows of an accuracy are not relative
    pilot = _by_hand(options)
    largest = _largest_drop(options, rule, pilot.parts[0].discordance)
    drops = drops_of(options) or default_drops(rule, largest)
    return plan_size(pilot, rule=rule, drops=drops, target=options.power)


def _largest_drop(options: argparse.Namespace, rule: "ComparisonRule", share: float) -> float:
    """Return the largest drop that the given rates allow; only A is right on a share (drop + `share`) / 2 of rows."""
    given = {"--accuracy": options.accuracy, "--discordance": options.discordance}
    rates = {name: value for name, value in given.items() if value is not None}
    accuracy = options.accuracy or 1.0
    largest = round(min(share, 2 * accuracy - share), 12) if "--discordance" in rates else accuracy
    equal = 1.0 if options.accuracy is None else round(2 * min(accuracy, 1 - accuracy), 12)
    bounds = [("--drop", drop, largest) for drop in drops_of(options) if drop < 1]
    bounds += [("--margin", rule.margin, accuracy), ("--minimum-effect", rule.minimum_effect, largest)]
    for name, value, most in [("--discordance", share, equal), *bounds]:
        if value > most + 1e-12:
            others = " and ".join(f"{rate} {rates[rate]:g}" for rate in rates if rate != name)
            raise BadInput(f"{name}: {value:g} is not valid; expected at most {most:g} with {others}")
    return largest


def _by_hand(options: argparse.Namespace) -> "Pilot":
    from sigstats._common.validation import as_count, as_real
    from sigstats.comparison.units import ALL_ROWS
    from sigstats.sizing.comparison import Pilot, PilotPart

    accuracy, discordance = options.accuracy, options.discordance
    if accuracy is None and discordance is None:
        raise BadInput("--accuracy: is missing; expected the accuracy of the baseline, or --discordance")
    if accuracy is not None:
        accuracy = as_real(accuracy, "--accuracy", low=0, high=1, open_ends=True)
    if discordance is None:
        discordance = 2 * accuracy * (1 - accuracy)  # for two models of equal accuracy whose errors are independent
    share = as_real(discordance, "--discordance", low=0, high=1, open_ends=True)
    rows = 0 if options.rows is None else as_count(options.rows, "--rows", minimum=1, maximum=10**8)
    answers = 1 if options.answers is None else as_count(options.answers, "--answers", minimum=1, maximum=10**4)
    correlation = as_real(options.correlation or 0.0, "--correlation", low=0, high=1)
    unit = "rows" if answers == 1 else "items"
    if correlation and answers == 1:
        raise BadInput(f"--correlation: {correlation:g} is not valid; expected 0, or --answers of 2 or more")
    return Pilot((PilotPart(ALL_ROWS, rows, share),), 1, accuracy, answers, correlation, unit)
