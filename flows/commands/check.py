"""Is one model good enough, on all rows and on every slice? Check a file of predictions against a bar.

Files are read as by `sigstats compare`; a table needs no ids. The exit code is 1 if the model is shown to be below the
bar on any slice, with p-values that are exact for single rows and adjusted over all slices and measures.
"""

import argparse
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from . import _predictions as arguments
from . import option
from ._files import add_outputs, refuse_overwriting, write_outputs, write_text
from ._options import add_fail_on, add_rule_options, as_options, code_of, rule_of

if TYPE_CHECKING:
    from sigstats.comparison.check.result import CheckResult


GROUP = "files of predictions"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``sigstats check``."""
    parser.add_argument("file", metavar="FILE", help="predictions of a model, or its log")
    bar = parser.add_mutually_exclusive_group(required=True)
    option(
        bar,
        "--at-least",
        "X",
        "lowest acceptable value: a share (0.9 or 90%%; of the range of a score, 90%%), or a mark in its own unit",
    )
    option(bar, "--at-most", "X", "highest acceptable value of a cost or an error")
    arguments.add_measures(parser, " (repeatable; default: accuracy, or the mean of a score)")
    arguments.add_prediction_arguments(parser, score="column of marks, or METRIC[,FILTER] of a log", matched=False)
    add_rule_options(parser, "alpha", "adjust", "gaps")
    add_outputs(parser, "md", "xml")
    add_fail_on(parser)


def run(options: argparse.Namespace) -> int:
    """Check the file, print the result, and return the exit code of the verdict."""
    from sigstats._common.messages import printable

    from ..comparison.for_programs import check_as_json, check_as_junit
    from ..comparison.markdown import check_as_markdown

    refuse_overwriting(options, [options.file], "json", "report")
    result, file = _check(options), printable(options.file)
    strict = options.fail_on == "inconclusive"
    if write_outputs(
        options,
        json=partial(check_as_json, result, file),
        md=partial(check_as_markdown, result, file),
        xml=partial(check_as_junit, result, file, fail_on_inconclusive=strict),
    ):
        write_text("-", str(result))
    return code_of(options, result.verdict)


def _check(options: argparse.Namespace) -> "CheckResult":
    from sigstats.comparison.check.bar import check_predictions, evidence_checked
    from sigstats.comparison.margins import as_bar
    from sigstats.comparison.paired_predictions import as_score_range
    from sigstats.files.predictions import join, read
    from sigstats.files.predictions.designs import add_human_labels

    at_most = options.at_least is None
    rule = rule_of(options)
    (columns,) = arguments.columns_of_files(options, 1)
    columns = columns.but(by_position=columns.by_position or None)
    with as_options(("the baseline: ", f"{options.file}: "), ("expected at_", "expected --at-")):
        bar = as_bar(options.at_most, "at_most") if at_most else as_bar(options.at_least, "at_least")
        limits = as_score_range(options.score_range)
        if judged := arguments.read_with_people(options, [options.file], [columns]):
            ((predictions, people),) = judged
            paired = add_human_labels(join(predictions, predictions, columns, with_ids=True), (people, people), limits)
        else:
            predictions = read(options.file, columns)
            paired = replace(join(predictions, predictions, columns), score_range=limits)
        measures = [*evidence_checked(paired, arguments.measures_of(options), options.positive)]
        arguments.refuse_unused(columns, measures, of_one=True)
        return check_predictions(paired, bar, rule, measures, positive=options.positive, at_most=at_most)
