"""Is the candidate worse than the baseline, anywhere? Compare two files of predictions.

CSV, JSON-lines, Parquet, samples of lm-evaluation-harness and JSON logs of Inspect are read. The exit code is 1 if the
candidate is worse.
"""

import argparse
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import DONE, REGRESSION, BadInput

if TYPE_CHECKING:
    from sigstats.comparison.result import ComparisonResult


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``sigstats compare``."""
    from ..comparison.rule_options import add_rule_options

    parser.add_argument("baseline", metavar="BASELINE", help="predictions of the model that is in use")
    parser.add_argument("candidate", metavar="CANDIDATE", help="predictions of the model that may replace it")
    parser.add_argument("--id", metavar="COLUMN", help="what the rows are joined by (default: id)")
    parser.add_argument("--label", metavar="COLUMN", help="the true class (default: label)")
    parser.add_argument("--prediction", metavar="COLUMN", help="(default: prediction)")
    parser.add_argument(
        "--score", metavar="NAME", help="a column of a number a row (adds measures); in a log, a scorer or metric"
    )
    parser.add_argument("--filter", metavar="NAME", help="in a log of lm-evaluation-harness, whose answers are meant")
    parser.add_argument(
        "--score-range",
        nargs=2,
        type=float,
        metavar=("LOW", "HIGH"),
        help="what every score lies between (default: 0 and 1, if all do)",
    )
    parser.add_argument("--epoch", metavar="COLUMN", help="in a table, which of several answers to one id a row is")
    parser.add_argument("--positive", metavar="CLASS", help="the class whose probability the scores are")
    parser.add_argument("--group", metavar="COLUMN", help="rows of one group are not independent")
    parser.add_argument(
        "--slice",
        action="append",
        default=[],
        dest="slices",
        metavar="COLUMN",
        help="test each value of it (repeatable)",
    )
    parser.add_argument(
        "--measure",
        action="append",
        default=[],
        dest="measures",
        metavar="NAME",
        help="accuracy, and auc where there are scores, by default (repeatable)",
    )
    parser.add_argument(
        "--unmatched",
        choices=("refuse", "drop"),
        default="refuse",
        help="rows that one file alone has (default: refuse)",
    )
    parser.add_argument(
        "--unscored",
        choices=("refuse", "drop", "wrong"),
        default="refuse",
        help="in a log, answers that failed or have no score (default: refuse)",
    )
    parser.add_argument(
        "--allow-different-tasks",
        action="store_true",
        help="compare logs of different tasks, scores or questions under the same ids",
    )
    add_rule_options(parser)
    parser.add_argument("--json", metavar="FILE", help="everything as JSON; - for standard output")
    parser.add_argument("--markdown", metavar="FILE", help="a table for a pull request; - for standard output")
    parser.add_argument("--report", metavar="FILE", help="a page of HTML")
    parser.add_argument("--junit", metavar="FILE", help="JUnit XML: a test case a row; - for standard output")
    parser.add_argument(
        "--fail-on",
        choices=("fail", "warn"),
        default="fail",
        help="the verdict that ends with exit code 1 (default: fail)",
    )


def run(options: argparse.Namespace) -> int:
    """Compare, say what was found, and give the verdict as exit code."""
    from sigstats.tasks.input_files.content import printable

    from ..comparison.text import show

    found = _compare(options)
    names = (printable(options.baseline), printable(options.candidate))
    _write_all(options, found, names)
    if "-" not in (options.json, options.markdown, options.junit):
        show(found, *names)
    failing = ("fail", "warn") if options.fail_on == "warn" else ("fail",)
    return REGRESSION if found.verdict in failing else DONE


def _compare(options: argparse.Namespace) -> "ComparisonResult":
    from sigstats.comparison.compare import compare_pair
    from sigstats.comparison.paired_predictions import as_score_range
    from sigstats.comparison.requirements import as_compared_measures
    from sigstats.tasks.predictions import Columns, join, read, same_content

    from ..comparison.rule_options import rule_of

    rule = rule_of(options)
    try:
        measures = as_compared_measures(options.measures) if options.measures else None
    except ValueError as error:
        raise BadInput(f"--measure:{str(error).removeprefix('measures:')}") from None
    columns = Columns(
        **{name: value for name in ("id", "label", "prediction") if (value := getattr(options, name)) is not None},
        group=options.group,
        slices=tuple(options.slices),
        score=options.score,
        epoch=options.epoch,
        filter=options.filter,
        unscored=options.unscored,
        named=frozenset(name for name in ("id", "label", "prediction") if getattr(options, name) is not None),
    )
    try:
        joined = join(
            read(options.baseline, columns),
            read(options.candidate, columns),
            columns,
            unmatched=options.unmatched,
            allow_different_tasks=options.allow_different_tasks,
        )
        joined = replace(
            joined,
            identical=same_content(options.baseline, options.candidate),
            score_range=None if options.score_range is None else as_score_range(options.score_range),
        )
        return compare_pair(joined, rule, measures, positive=options.positive)
    except ValueError as error:
        raise BadInput(str(error)) from None


def _write_all(options: argparse.Namespace, found: "ComparisonResult", names: tuple[str, str]) -> None:
    """Write what is asked for beside the text."""
    from ..comparison.json import as_json
    from ..comparison.junit import as_junit
    from ..comparison.markdown import as_markdown

    junit = partial(as_junit, fail_on_warn=options.fail_on == "warn")
    for place, text in ((options.json, as_json), (options.markdown, as_markdown), (options.junit, junit)):
        if place is not None:
            _write(place, text(found, *names))
    if options.report is not None:
        from ..comparison.page import as_html

        _write(options.report, as_html(found, *names))


def _write(place: str, text: str) -> None:
    if place == "-":
        print(text)  # noqa: T201
        return
    try:
        Path(place).write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{place}: cannot be written ({error.strerror or error})") from None
