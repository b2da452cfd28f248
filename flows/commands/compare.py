"""Is the candidate worse than the baseline, anywhere? Compare files of predictions.

Tables (CSV, JSON, Parquet) and logs (Inspect, lm-evaluation-harness, HELM, promptfoo, SWE-bench, lighteval, EvalPlus,
HumanEval, DeepEval, OpenAI evals, JUnit, trec_eval) are read: a file, a folder or a pattern of tasks, or a URL. The
exit code is 1 if the candidate, or any of several, is worse.
"""

import argparse
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from ..errors import BadInput
from ._files import add_outputs, refuse_overwriting, write_outputs, write_text
from ._options import add_fail_on, add_rule_options, as_options, code_of, rule_of
from ._predictions import (
    SECOND_FILE,
    add_measures,
    add_prediction_arguments,
    add_runs,
    add_score_range,
    columns_of_files,
    file_for_each,
    match_options,
    measures_of,
    names_in_one_file,
    refuse_beside,
    refuse_unused,
    scores_of,
)

if TYPE_CHECKING:
    from sigstats.comparison.candidates import CandidatesResult
    from sigstats.files.predictions import PairedPredictions

    from ..comparison.changed import Changed


_OUTPUTS = ("json", "markdown", "report", "junit", "changed")
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
    add_prediction_arguments(
        parser, score="column of scores (adds measures), or a scorer or metric of a log, or `all` (repeatable)"
    )
    add_runs(parser)
    parser.add_argument("--order", metavar="COLUMN", help="column of times, if rows near in time are dependent")
    parser.add_argument(
        "--weights", metavar="COLUMN", help="column of weights: population rows that each row represents"
    )
    parser.add_argument(
        "--human",
        metavar="COLUMN",
        action="append",
        help="column of people's labels (1 right, 0 wrong, or empty), which correct the judge's verdicts in --score or "
        "--prediction (give it twice if the candidate has another column)",
    )
    parser.add_argument(
        "--human-labels",
        metavar="FILE",
        action="append",
        help="file of ids and --human, if the predictions lack it (give it twice if the candidate has another file)",
    )
    add_score_range(parser, "score")
    parser.add_argument("--positive", metavar="CLASS", help="positive class of scores and f1")
    add_measures(parser, " (repeatable; default: accuracy, and auc or the mean of scores)")
    add_rule_options(parser)
    add_outputs(parser, *_OUTPUTS)
    add_fail_on(parser)


def run(options: argparse.Namespace) -> int:
    """Compare the files, print the result, and return the exit code of the verdict."""
    from sigstats._common.messages import printable

    _, *options.candidates = file_for_each(options, (options.baseline, *options.candidates))
    if not options.candidates:
        raise BadInput(f"CANDIDATE: is missing; expected {SECOND_FILE}")
    refuse_overwriting(options, (options.baseline, *options.candidates), *_OUTPUTS)
    if options.human or options.human_labels:
        return _run_judged(options)
    if options.changed is not None and (options.run is not None or len(options.candidates) > 1):
        raise BadInput("--changed: is not valid with --run or several candidates; expected the rows of two models")
    from ..comparison.text import show, show_candidates

    result, pairs = _compare(options)
    result = replace(result, baseline=printable(result.baseline), candidates=tuple(map(printable, result.candidates)))
    changed = None
    if options.changed is not None:
        from ..comparison.changed import changed_of

        changed = changed_of(pairs[0], rule_of(options).alpha)
    texts = {name: partial(_text, options, result, changed, name) for name in ("json", "markdown", "report", "junit")}
    said = write_outputs(options, **texts)
    if changed is not None:
        write_text(options.changed, changed.as_csv().rstrip("\n"))
    if said and options.changed != "-":
        if len(result.candidates) == 1:
            show(result.results[0], result.baseline, result.candidates[0])
        else:
            show_candidates(result)
        if changed is not None:
            write_text("-", f"{changed.words}: {printable(options.changed)}")
    return code_of(options, result.verdict)


_NOT_JUDGED = (
    *("markdown", "junit", "changed", "run", "task", "positive", "adjust", "bins", "margins", "simultaneous"),
    *("order", "weights", "ratio", "slice", "measure", "costs", "smallest_slice", "unseen_group"),
)


def _run_judged(options: argparse.Namespace) -> int:
    from ..comparison.judged import as_json, as_text, compare_judged
    from ..comparison.judged_page import as_html

    if options.human is None:
        raise BadInput("--human: is missing; expected the column of people's labels in --human-labels")
    for name, given in (("--human", options.human), ("--human-labels", options.human_labels or ())):
        if len(given) > 2:
            raise BadInput(f"{name}: {len(given)} values are not valid; expected one, or two for the two models")
    refuse_beside(options, "--human", _NOT_JUDGED)
    if len(options.candidates) > 1 or len(scores_of(options)) > 1:
        raise BadInput("--human: is not valid with several candidates or scores; expected one of each")
    paths = (options.baseline, options.candidates[0])
    with as_options():
        comparison = compare_judged(
            paths,
            columns_of_files(options, 2),
            options.human,
            rule_of(options),
            labels=options.human_labels or (),
            score_range=options.score_range,
            **match_options(options),
        )
    if write_outputs(options, json=partial(as_json, comparison), report=partial(as_html, comparison)):
        write_text("-", as_text(comparison))
    return code_of(options, comparison.verdict)


def _compare(options: argparse.Namespace) -> "tuple[CandidatesResult, list[list[PairedPredictions]]]":
    from sigstats.comparison.candidates import compare_candidates
    from sigstats.comparison.family import measures_meant
    from sigstats.comparison.measure_names import as_compared_measures
    from sigstats.comparison.paired_predictions import as_score_range
    from sigstats.files.predictions import join_scores, read_by_scores, same_content

    rule, named = rule_of(options), options.prediction
    asked = measures_of(options)
    with as_options():
        measures = as_compared_measures(asked) if asked else None
    every = [
        column.but(order=options.order, run=options.run, weights=options.weights)
        for column in columns_of_files(options, 1 + len(options.candidates), scores=None)
    ]
    columns, *of_candidates = every
    with as_options():
        paths = (options.baseline, *options.candidates)
        baseline, *candidates = read_by_scores([*zip(paths, every, strict=True)], scores_of(options) or [columns.score])
        limits = as_score_range(options.score_range)
        pairs = []
        for candidate, path, own in zip(candidates, options.candidates, of_candidates, strict=True):
            with_ids = options.changed is not None
            joined = join_scores(baseline, candidate, columns, with_ids=with_ids, **match_options(options))
            identical = own == columns and same_content(options.baseline, path)
            joined = [replace(pair, identical=identical, score_range=limits) for pair in joined]
            if len(named) > 1:
                subjects = {"prediction": columns.prediction}, {"prediction": own.prediction}
                joined = [replace(pair, subjects=subjects) for pair in joined]
            pairs.append(joined)
        of_one_file = names_in_one_file(options) if {options.baseline} == set(options.candidates) else []
        baseline_name, *names = of_one_file or (options.baseline, *options.candidates)
        refuse_unused(columns, [name for sides in pairs for pair in sides for name in measures_meant(pair, measures)])
        result = compare_candidates(baseline_name, names, pairs, rule, measures, positive=options.positive)
        return result, pairs


def _text(options: argparse.Namespace, result: "CandidatesResult", changed: "Changed | None", name: str) -> str:
    several, strict = len(result.candidates) > 1, options.fail_on == "inconclusive"
    pair = (result.results[0], result.baseline, result.candidates[0])
    if name == "json":
        from ..comparison.for_programs import as_json, candidates_as_json

        return candidates_as_json(result) if several else as_json(*pair)
    if name == "markdown":
        from ..comparison.markdown import as_markdown, candidates_as_markdown

        text = candidates_as_markdown(result) if several else as_markdown(*pair)
        return text if changed is None else f"{text}\n{changed.as_markdown()}"
    if name == "junit":
        from ..comparison.for_programs import as_junit, candidates_as_junit

        one = None if several else as_junit(*pair, fail_on_inconclusive=strict)
        return one or candidates_as_junit(result, fail_on_inconclusive=strict)
    from ..comparison.page import as_html, candidates_as_html

    return candidates_as_html(result) if several else as_html(*pair, changed)
