"""Compute the number of rows that the next comparison needs to detect the drops of accuracy that matter.

The rates come from a pilot, two files as `compare` reads them, or from options: --accuracy, and --discordance if known.
With three files or more it prints how many rows distinguish each model of a leaderboard from the next. The level is
that of the rule, adjusted for all slices and measures; for one of several looks, give its level as --alpha.
"""

import argparse
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from json import dumps
from typing import TYPE_CHECKING, Any

from ..errors import DONE, BadInput
from . import _predictions as arguments
from ._files import add_outputs, refuse_overwriting, write_outputs, write_text
from ._options import add_rule_options, as_options, fraction, rule_of

if TYPE_CHECKING:
    from sigstats.comparison.rule import ComparisonRule
    from sigstats.files.predictions import PairedPredictions
    from sigstats.sizing.comparison import Pilot, SizePlan

_DROPS = (0.005, 0.01, 0.02, 0.05)
GROUP = "files of predictions"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``sigstats size``."""
    text = "pilot: predictions of a baseline and a candidate, or of the models of a leaderboard"
    parser.add_argument("files", nargs="*", metavar="FILE", help=text)
    drops = ", ".join(map(str, _DROPS))
    text = f"drop to detect, a share or in the unit of a mark (repeatable; default: those of {drops} that count)"
    parser.add_argument("--drop", action="append", metavar="X", help=text)
    _number(parser, "--power", "wanted power (default: 0.8)", default=0.8)
    by_hand = parser.add_argument_group("in place of a pilot")
    _number(by_hand, "--accuracy", "accuracy of the baseline")
    _number(by_hand, "--discordance", "share of rows that only one model gets right (default: 2 X (1 - X))")
    _number(by_hand, "--rows", "present number of rows", int)
    _number(by_hand, "--answers", "answers per item; rows are then items (default: 1)", int)
    text = "correlation of the differences of two answers to an item (default: 0)"
    _number(by_hand, "--correlation", text)
    add_rule_options(parser, *_OF_RULE)
    arguments.add_measures(parser, ", as for compare; tested on all rows and each slice (repeatable)")
    arguments.add_prediction_arguments(parser, score="column of marks or probabilities, or a scorer or metric of a log")
    parser.add_argument("--positive", metavar="CLASS", help="positive class of f1, precision, recall and scores")
    arguments.add_score_range(parser, "score")
    arguments.add_runs(parser)
    add_outputs(parser, "html")


def _number(parser: Any, name: str, text: str, kind: Any = fraction, **how: Any) -> None:
    parser.add_argument(name, type=kind, metavar="N" if kind is int else "X", help=text, **how)


def run(options: argparse.Namespace) -> int:
    """Print the number of rows that the comparison needs."""
    refuse_overwriting(options, options.files, "json", "report")
    arguments.refuse_together(options, rates_by_hand=not options.files)
    with as_options():
        if len(arguments.file_for_each(options, options.files)) > 2:
            return _leaderboard(options)
        if options.run is not None:
            return _runs(options)
        options.measures = arguments.measures_of(options)
        paired = _read_pair(options) if options.files else None
        names = () if paired is None else _names(options, paired)
        if paired is not None and (measure := _measure_of(options, paired, names)) != "accuracy":
            return _measure(options, paired, measure, names)
        plan = _plan(options, paired, names)
    from ..sizing import as_html, as_json, show

    if write_outputs(options, json=partial(as_json, plan), html=partial(as_html, plan)):
        show(plan)
    return DONE


def _plan(options: argparse.Namespace, paired: "PairedPredictions | None", names: Sequence[str]) -> "SizePlan":
    from sigstats.comparison.margins import check_margins
    from sigstats.sizing.comparison import pilot_of, plan_size

    rule = rule_of(options)
    check_margins(rule, [])  # the rows of an accuracy are not relative
    pilot = _by_hand(options) if paired is None else pilot_of(paired, rule, tests=_tests(paired, names, rule))
    largest = _largest_drop(options, rule, pilot.parts[0].discordance) if paired is None else 1.0
    return plan_size(pilot, rule=rule, drops=_drops(options, rule, largest), target=options.power, alpha=rule.alpha)


def _stated_drops(options: argparse.Namespace) -> list[float]:
    from sigstats._common.class_spelling import is_finite_number
    from sigstats.comparison.margins import as_share

    return [float(text) if is_finite_number(text) else as_share(text, "--drop") for text in options.drop or ()]


def _drops(options: argparse.Namespace, rule: "ComparisonRule", largest: float = 1.0) -> list[float]:
    from sigstats._common.validation import as_real

    given = [as_real(drop, "--drop", low=0, high=1, open_ends=True) for drop in _stated_drops(options)]
    usual = [drop for drop in _DROPS if rule.minimum_effect < drop <= largest]
    return given or usual or [min(2 * rule.minimum_effect, largest)]


def _largest_drop(options: argparse.Namespace, rule: "ComparisonRule", share: float) -> float:
    """Return the largest drop that the given rates allow; only A is right on a share (drop + `share`) / 2 of rows."""
    rates = {f"--{name}": value for name in _BY_HAND[:2] if (value := getattr(options, name)) is not None}
    accuracy = options.accuracy or 1.0
    largest = round(min(share, 2 * accuracy - share), 12) if "--discordance" in rates else accuracy
    equal = 1.0 if options.accuracy is None else round(2 * min(accuracy, 1 - accuracy), 12)
    bounds = [("--drop", drop, largest) for drop in _stated_drops(options) if drop < 1]
    bounds += [("--margin", rule.margin, accuracy), ("--minimum-effect", rule.minimum_effect, largest)]
    for name, value, most in [("--discordance", share, equal), *bounds]:
        if value > most + 1e-12:
            others = " and ".join(f"{rate} {rates[rate]:g}" for rate in rates if rate != name)
            raise BadInput(f"{name}: {value:g} is not valid; expected at most {most:g} with {others}")
    return largest


_OF_RULE = ("alpha", "adjust", "minimum_effect", "margin")
#: The rates that files of a pilot have.
_BY_HAND = ("accuracy", "discordance", "rows", "answers", "correlation")


def _leaderboard(options: argparse.Namespace) -> int:
    from sigstats._common.validation import as_real
    from sigstats.files.predictions import read
    from sigstats.files.predictions.many import join_many
    from sigstats.measures.metrics import unit_of
    from sigstats.sizing.leaderboards import leaderboard_size

    from ..ranking.words import model_names

    arguments.refuse_together(options, three_files_or_more=True)
    files = arguments.file_for_each(options, options.files)
    target = as_real(options.power, "power", low=0, high=1, open_ends=True)
    columns = arguments.columns_of_files(options, len(files))
    joined = join_many([*map(read, files, columns)], columns[0], **arguments.match_options(options))
    if joined.units.group is not None:
        raise BadInput("FILE: the size of a leaderboard is for single rows; expected one answer or score of each")
    names = arguments.names_in_one_file(options) or model_names(files, joined.subjects)
    arguments.refuse_unused(arguments.columns_of(options), [None])
    level = 1 - rule_of(options).alpha
    how: dict[str, Any] = {"lower": joined.lower, "limits": joined.limits, "named": True, "notes": joined.notes}
    how["priced"] = bool(unit_of(columns[0].score or ""))
    size = leaderboard_size(joined.scores, names, target=target, confidence_level=level, **how)
    return _write(options, size)


def _runs(options: argparse.Namespace) -> int:
    from sigstats.sizing.runs import plan_runs

    arguments.refuse_together(options, **{"--run": True})
    rule, paired = rule_of(options), _read_pair(options)
    tests = _tests(paired, ["accuracy"], rule)
    runs = plan_runs(paired, rule, _drops(options, rule), target=options.power, tests=tests)
    return _write(options, runs)


def _write(options: argparse.Namespace, value: Any) -> int:
    if write_outputs(options, json=lambda: dumps({"version": 1, **asdict(value)}, indent=2)):
        write_text("-", str(value))
    return DONE


def _read_pair(options: argparse.Namespace) -> "PairedPredictions":
    from sigstats.comparison.paired_predictions import as_score_range
    from sigstats.files.predictions import join, read

    for name in _BY_HAND:
        if (value := getattr(options, name)) is not None:
            raise BadInput(f"--{name}: {value} is not valid with files, which determine it")
    files = arguments.file_for_each(options, options.files)
    if len(files) != 2:
        wanted = arguments.SECOND_FILE if len(files) < 2 else "two, of a baseline and a candidate"
        raise BadInput(f"FILE: {len(files)} given; expected {wanted}")
    of_files = arguments.columns_of_files(options, 2)
    baseline, candidate = (read(file, columns) for file, columns in zip(files, of_files, strict=True))
    paired = join(baseline, candidate, of_files[0], **arguments.match_options(options))
    return replace(paired, score_range=as_score_range(options.score_range))


def _names(options: argparse.Namespace, paired: "PairedPredictions") -> tuple[str, ...]:
    from sigstats.comparison.family import evidence_to_compare
    from sigstats.comparison.measure_names import check_used

    names = tuple(evidence_to_compare(paired, options.measures, options.positive))
    check_used(names, score_range=options.score_range)
    arguments.refuse_unused(arguments.columns_of(options), names)
    return names


def _measure_of(options: argparse.Namespace, paired: "PairedPredictions", names: tuple[str, ...]) -> str:
    """Return the measure whose rows are planned: accuracy if it is compared and no score is named."""
    scored = paired.scored is not None and not paired.graded and not options.measures
    named = names[: len(options.measures)] if options.measures else names  # without costs that are compared as well
    return "accuracy" if "accuracy" in named and not scored else named[-1]


def _measure(options: argparse.Namespace, paired: "PairedPredictions", measure: str, names: Sequence[str]) -> int:
    from sigstats.comparison.family import blank_row
    from sigstats.comparison.margins import StatedShare, check_margins
    from sigstats.comparison.row_tests.task_means import has_task_mean
    from sigstats.sizing.measures import plan_measure

    of_tasks = any(map(has_task_mean, names))
    arguments.refuse_together(
        options, a_measure_other_than_accuracy=True, a_measure_without_a_mean_over_tasks=not of_tasks
    )
    rule = rule_of(options)
    tests, target, positive = _tests(paired, names, rule), options.power, options.positive
    drops, row = _stated_drops(options), blank_row(paired, measure)
    check_margins(rule, [row])
    if (row.unit or row.relative) and any(isinstance(drop, StatedShare) for drop in drops):
        raise BadInput(f"--drop: points are for shares; expected a number of {row.unit or 'the unit of the score'}")
    size_of_measure = plan_measure(paired, measure, rule, drops, target=target, tests=tests, positive=positive)
    return _write(options, size_of_measure)


def _tests(paired: "PairedPredictions", names: Sequence[str], rule: "ComparisonRule") -> int:
    """Return the number of tests that are adjusted together: those of a comparison by these measures."""
    from sigstats.comparison.family import tests_of

    return max(1, tests_of(paired, names, rule))


def _by_hand(options: argparse.Namespace) -> "Pilot":
    from sigstats._common.validation import as_count, as_real
    from sigstats.comparison.units import ALL_ROWS
    from sigstats.sizing.comparison import Pilot, PilotPart

    accuracy, discordance = options.accuracy, options.discordance
    if accuracy is None and discordance is None:
        raise BadInput("FILE: is missing; expected two files of a pilot, or --accuracy, or --discordance")
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
