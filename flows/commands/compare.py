"""Is the candidate worse than the baseline, anywhere? Compare files of predictions.

Tables (CSV, JSON, Parquet) and logs (Inspect, lm-evaluation-harness, HELM, promptfoo, SWE-bench, lighteval, EvalPlus,
HumanEval, DeepEval, OpenAI evals, JUnit, trec_eval) are read: a file, a folder or a pattern of tasks, or a URL. The
exit code is 1 if the candidate, or any of several, is worse.
"""

import argparse
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from os.path import realpath
from typing import TYPE_CHECKING, Any

from ..errors import BadInput
from . import _predictions as arguments
from . import option
from ._files import add_outputs, refuse_overwriting, write_outputs, write_text
from ._options import (
    add_drops,
    add_fail_on,
    add_rule_options,
    as_options,
    check_power,
    code_of,
    drops_of,
    fraction,
    rule_of,
)

if TYPE_CHECKING:
    from sigstats.comparison.result import CandidatesResult
    from sigstats.files.predictions import Columns, PairedPredictions

    from ..comparison.changed import Changed
    from ..sizing import Plan


GROUP = "files of predictions"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``sigstats compare``."""
    parser.add_argument("baseline", metavar="BASELINE", help="predictions of the model in use")
    parser.add_argument(
        "candidates",
        nargs="*",
        metavar="CANDIDATE",
        help="predictions of its possible replacement; several are tested as one family; omit "
        "it if one file contains all --prediction columns",
    )
    arguments.add_prediction_arguments(
        parser,
        score="column of scores (adds measures), METRIC[,FILTER] of a log, or `all` numeric scores (repeatable)",
    )
    option(parser, "--order", "COLUMN", "column of times, if rows near in time are dependent")
    option(parser, "--weights", "COLUMN", "column of weights: population rows that each row represents")
    parser.add_argument("--unpaired", action="store_true", help="compare measures of independent samples of rows")
    arguments.add_measures(parser, " (repeatable; default: accuracy, and auc or the mean of scores)")
    add_rule_options(parser)
    add_outputs(parser, "html", "md", "xml")
    text = (
        "write the rows that the candidate broke or fixed (or items that changed or are flaky) as CSV; - for standard "
    )
    option(parser, "--changed", "FILE", f"{text}output")
    add_fail_on(parser)
    sizes = parser.add_argument_group("size of the next comparison")
    text = "also print the number of rows (or of runs) with which a drop is detected with this probability, as in 0.8"
    sizes.add_argument("--power", type=fraction, metavar="X", help=text)
    add_drops(sizes)


def run(options: argparse.Namespace) -> int:
    """Compare the files, print the result, and return the exit code of the verdict."""
    from sigstats._common.messages import printable

    arguments.separate_filters(options, (options.baseline, *options.candidates))
    _, *options.candidates = arguments.file_for_each(options, (options.baseline, *options.candidates))
    if not options.candidates:
        if len(scores := arguments.scores_of(options)) > 1:
            cure = "write a file for each model, or a row for each model and item (--model A --model B)"
            raise BadInput(f"--score: {scores[0]!r} and {scores[1]!r} are columns of one file; {cure}")
        raise BadInput(f"CANDIDATE: is missing; expected {arguments.SECOND_FILE}")
    refuse_overwriting(options, (options.baseline, *options.candidates), "json", "report", "changed")
    arguments.refuse_together(options, several_candidates=len(options.candidates) > 1)
    _check_sizes(options)
    from ..comparison.text import show, show_candidates

    result, pairs = _compare(options)
    result = replace(result, baseline=printable(result.baseline), candidates=tuple(map(printable, result.candidates)))
    entries, sizes = {}, None if options.power is None else _sizes(options, result, pairs[0])
    if sizes is not None:
        from ..sizing import as_object, as_text

        entries = {"sizes": as_object(sizes)}
    changed = None
    if options.changed is not None:
        from ..comparison.changed import changed_of

        changed = changed_of(pairs[0], rule_of(options).alpha)
    texts = {form: partial(_text, options, result, changed, entries, form) for form in ("json", "html", "md", "xml")}
    text = write_outputs(options, **texts)
    if changed is not None:
        write_text(options.changed, changed.as_csv().rstrip("\n"))
    if text and options.changed != "-":
        if len(result.candidates) == 1:
            show(result.results[0], result.baseline, result.candidates[0])
        else:
            show_candidates(result)
        if changed is not None:
            write_text("-", f"{changed.words}: {printable(options.changed)}")
        if sizes is not None:
            write_text("-", f"\n{as_text(sizes)}")
    return code_of(options, result.verdict)


def _check_sizes(options: argparse.Namespace) -> None:
    """Check ``--power`` and ``--drop`` before the files are read."""
    if options.drop and options.power is None:
        raise BadInput(f"--drop: {options.drop[0]!r} is not valid without --power; add --power 0.8")
    if options.power is not None:
        check_power(options.power)
        arguments.refuse_together(options, several_scores=len(arguments.scores_of(options)) > 1)
        with as_options():
            drops_of(options)


def _compare(options: argparse.Namespace) -> "tuple[CandidatesResult, list[list[PairedPredictions]]]":
    from sigstats._common.column_names import refuse_exchanged
    from sigstats.comparison.compare import compare_scores
    from sigstats.comparison.family import measures_to_compare
    from sigstats.comparison.measure_names import as_compared_measures
    from sigstats.comparison.result import CandidatesResult

    rule, named_measures = rule_of(options), arguments.measures_of(options)
    with as_options():
        measures = as_compared_measures(named_measures) if named_measures else None
    paths = (options.baseline, *options.candidates)
    columns = arguments.columns_of_files(options, len(paths), scores=None)
    if options.unpaired:
        columns = [file.but(by_position=file.by_position or None) for file in columns]
    with as_options():
        named = [(f"--{name}", values) for name, values in arguments.named_in_files(options)]
        for name, values in (("BASELINE", paths), *named):
            for other in values[1:]:
                refuse_exchanged(**{name: _differing_parts(values[0], other)})
        compared = _joined(options, paths, columns)
        used = [name for pairs in compared for pair in pairs for name in measures_to_compare(pair, measures)]
        arguments.refuse_unused(columns[0], used)
        results = compare_scores(compared, rule, measures, positive=options.positive)
    names_in_file = arguments.names_in_one_file(options) if len({*paths}) == 1 else []
    baseline, *candidates = names_in_file or paths
    return CandidatesResult(baseline=baseline, candidates=tuple(candidates), results=results), compared


def _sizes(options: argparse.Namespace, result: "CandidatesResult", pairs: "list[PairedPredictions]") -> "Plan | str":
    """Return the size of the next comparison, or the reason why it is unknown."""
    from ..sizing import plan_pair

    measures = list(dict.fromkeys(row.measure for row in result.results[0].rows))
    named = len(arguments.measures_of(options) or ())
    how: dict[str, Any] = {"named": named, "power": options.power, "positive": options.positive}
    try:
        arguments.refuse_together(options, several_scores=len(pairs) > 1)
        with as_options():
            return plan_pair(pairs[0], rule_of(options), measures, drops=drops_of(options), **how)
    except BadInput as error:
        if str(error).startswith("--drop: "):
            raise
        return str(error)


def _differing_parts(baseline: str, candidate: str) -> tuple[str, str]:
    """Return the last parts in which two paths differ; both names if they are not paths."""
    parts = zip(*(re.split(r"[/\\]", path)[::-1] for path in (baseline, candidate)), strict=False)
    return next((pair for pair in parts if pair[0] != pair[1]), ("", ""))


def _joined(
    options: argparse.Namespace, paths: Sequence[str], columns: "Sequence[Columns]"
) -> "list[list[PairedPredictions]]":
    """Return each candidate joined with the baseline, a pair for each score."""
    from sigstats.comparison.paired_predictions import as_score_range
    from sigstats.files.inputs import same_content
    from sigstats.files.predictions import join_scores, read_by_scores

    scores: list[str | None] = [*arguments.scores_of(options)] or [columns[0].score]
    problem = _repeated_file(paths, columns)
    if problem and not vars(options).get("itself"):  # doctor tries a file as its own candidate
        read_by_scores([(paths[0], columns[0])], scores)  # a fault of the file is reported first
        raise BadInput(problem)
    limits = as_score_range(options.score_range)
    judged = arguments.read_with_people(options, paths, columns)
    # For each file, the predictions by the name of the score.
    files: Any = [{columns[0].score: predictions} for predictions, _ in judged]
    files = files or read_by_scores([*zip(paths, columns, strict=True)], scores)
    join: Any = join_scores
    how = {"with_ids": options.changed is not None or bool(judged), **arguments.match_options(options)}
    if options.unpaired or judged:  # few comparisons need this module
        from sigstats.files.predictions.designs import add_human_labels, join_samples

        join, how = (join_samples, {}) if options.unpaired else (join, how)
    compared = []
    for index in range(1, len(paths)):
        pairs = join(files[0], files[index], columns[0], **how)
        if judged:
            pairs = [add_human_labels(pair, (judged[0][1], judged[index][1]), limits) for pair in pairs]
        identical = columns[index] == columns[0] and same_content(paths[0], paths[index])
        pairs = [replace(pair, identical=identical, score_range=limits) for pair in pairs]
        if len(options.prediction) > 1:
            subjects = {"prediction": columns[0].prediction}, {"prediction": columns[index].prediction}
            pairs = [replace(pair, subjects=subjects) for pair in pairs]
        compared.append(pairs)
    return compared


def _repeated_file(paths: Sequence[str], columns: "Sequence[Columns]") -> str:
    """Return the problem if the same columns of a file are given twice; empty if they are not."""
    files = list(zip(map(realpath, paths), columns, strict=True))
    repeated = next((index for index in range(1, len(files)) if files[index] in files[:index]), None)
    if repeated is None:
        return ""
    where = "both BASELINE and CANDIDATE" if files[repeated] == files[0] else "given twice as CANDIDATE"
    return f"{paths[repeated]}: is {where}; expected {arguments.SECOND_FILE}"


def _text(
    options: argparse.Namespace,
    result: "CandidatesResult",
    changed: "Changed | None",
    entries: dict[str, Any],
    form: str,
) -> str:
    """Return the result in one of the forms of the outputs."""
    several, strict = len(result.candidates) > 1, options.fail_on == "inconclusive"
    pair = (result.results[0], result.baseline, result.candidates[0])
    if form == "html":
        from ..comparison import page  # it needs Jinja

        return page.candidates_as_html(result) if several else page.as_html(*pair, changed)
    if form == "md":
        from ..comparison import markdown

        text = markdown.candidates_as_markdown(result) if several else markdown.as_markdown(*pair)
        return text if changed is None else f"{text}\n{changed.as_markdown()}"
    from ..comparison import for_programs

    if form == "json":
        return for_programs.candidates_as_json(result) if several else for_programs.as_json(*pair, entries)
    if several:
        return for_programs.candidates_as_junit(result, fail_on_inconclusive=strict)
    return for_programs.as_junit(*pair, fail_on_inconclusive=strict)
