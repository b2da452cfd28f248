"""Is one model at least so good, on all rows and on every slice? Check a file of predictions against a bar.

Files are read as by `sigstats compare`; a table needs no ids. The exit code is 1 if the model is shown to be below the
bar on any slice, with p-values that are exact for single rows and adjusted over all slices and measures.
"""

import argparse
from typing import TYPE_CHECKING

from ..errors import DONE, REGRESSION, BadInput
from ._predictions import add_prediction_arguments, columns_of_files, refuse_overwriting, require_one_score, write_text

if TYPE_CHECKING:
    from sigstats.comparison.check_result import CheckResult


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``sigstats check``."""
    from ..comparison.rule_options import add_rule_options

    parser.add_argument("file", metavar="FILE", help="predictions of a model, or its log")
    parser.add_argument(
        "--at-least",
        required=True,
        metavar="X",
        help="the least value that is good enough: a share (0.9 or 90%%), or a mark in its own unit",
    )
    parser.add_argument(
        "--measure",
        action="append",
        default=[],
        dest="measures",
        metavar="NAME",
        help="a measure (repeatable; default: accuracy, or the mean of a score)",
    )
    parser.add_argument("--positive", metavar="CLASS", help="the class of precision, recall, specificity and f1")
    add_prediction_arguments(parser, score="a column of marks; in a log, a scorer or metric")
    parser.add_argument(
        "--score-range",
        nargs=2,
        type=float,
        metavar=("LOW", "HIGH"),
        help="the lowest and the highest possible mark (default: 0 and 1, if no mark lies outside)",
    )
    add_rule_options(parser, "alpha", "adjust", "confidence", "smallest_slice")
    parser.add_argument("--json", metavar="FILE", help="write all results as JSON; - for standard output")
    parser.add_argument("--markdown", metavar="FILE", help="write a table for a pull request; - for standard output")
    parser.add_argument(
        "--junit", metavar="FILE", help="write JUnit XML, a test case for each result; - for standard output"
    )
    parser.add_argument(
        "--fail-on",
        choices=("fail", "inconclusive"),
        default="fail",
        help="the mildest verdict that ends with exit code 1 (default: fail)",
    )


def run(options: argparse.Namespace) -> int:
    """Check the file, print the result, and return the exit code of the verdict."""
    from sigstats._common.printable import printable
    from sigstats.comparison.check_result import as_text

    from ..comparison.check import check_as_json, check_as_junit, check_as_markdown

    refuse_overwriting(options, [options.file], "json", "markdown", "junit")
    found, file = _checked(options), printable(options.file)
    fails = options.fail_on == "inconclusive"
    for place, text in (
        (options.json, check_as_json(found, file)),
        (options.markdown, check_as_markdown(found, file)),
        (options.junit, check_as_junit(found, file, fail_on_inconclusive=fails)),
    ):
        if place is not None:
            write_text(place, text)
    if "-" not in (options.json, options.markdown, options.junit):
        write_text("-", as_text(found))
    return REGRESSION if found.verdict == "fail" or (fails and found.verdict == "inconclusive") else DONE


def _checked(options: argparse.Namespace) -> "CheckResult":
    from dataclasses import replace

    from sigstats.comparison.check import check_predictions
    from sigstats.comparison.paired_predictions import as_score_range
    from sigstats.tasks.predictions import join, read

    from ..comparison.rule_options import rule_of

    require_one_score(options)
    rule, bar = rule_of(options), _bar(options.at_least)
    (columns,) = columns_of_files(options, 1)
    try:
        predictions = read(options.file, replace(columns, by_position=columns.by_position or None))
        paired = join(predictions, predictions, columns)
        if options.score_range is not None:
            paired = replace(paired, score_range=as_score_range(options.score_range))
        return check_predictions(paired, bar, rule, options.measures or None, positive=options.positive)
    except ValueError as error:
        said = str(error).replace("the baseline: ", f"{options.file}: ")
        raise BadInput(f"--at-least{said.removeprefix('at_least')}" if said.startswith("at_least") else said) from None


def _bar(text: str) -> float:
    """A share, which may be written as per cent, or a mark."""
    try:
        return float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        raise BadInput(f"--at-least: {text!r} is not valid; expected a number such as 0.9 or 90%") from None
