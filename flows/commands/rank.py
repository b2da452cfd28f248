"""Which of many models is best, and which are tied? Rank files of predictions on the same rows.

Files are read as by `sigstats compare`. With the stated confidence, all rank sets contain the true ranks.
"""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ..errors import DONE, BadInput
from . import _predictions as arguments
from . import option
from ._files import add_outputs, refuse_overwriting, write_outputs, write_text
from ._options import as_options, check_power, fraction

if TYPE_CHECKING:
    from sigstats.files.predictions import Columns, PairedPredictions, Predictions
    from sigstats.files.predictions.designs import HumanLabels
    from sigstats.files.predictions.many import ManyPredictions
    from sigstats.ranking.result import Ranking
    from sigstats.sizing.leaderboards import LeaderboardSize

GROUP = "files of predictions"
#: Slices with fewer rows are not ranked.
_SMALLEST_SLICE = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``sigstats rank``."""
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="predictions or log of each model; one file with a --prediction column per "
        "model; or votes (model_a, model_b, winner)",
    )
    arguments.add_prediction_arguments(
        parser, score="column of scores whose mean is ranked, or METRIC[,FILTER] of a log"
    )
    option(parser, "--cost", "COLUMN", "column of costs or times; models are also compared by score and cost together")
    arguments.add_measures(parser, ", as for compare (default: accuracy, or the mean of a score)")
    text = "votes: column of the question, if votes on one question are dependent; --group is the voter"
    option(parser, "--item", "COLUMN", text)
    text = "probability that any rank set misses the rank of its model (default: 0.05)"
    parser.add_argument("--alpha", type=float, default=0.05, metavar="X", help=text)
    text = "also print the number of rows that distinguish each model from the next with this probability, as in 0.8"
    parser.add_argument("--power", type=fraction, metavar="X", help=text)
    add_outputs(parser, "html", "md")


def run(options: argparse.Namespace) -> int:
    """Rank the models, and print the result."""
    refuse_overwriting(options, options.files, "json", "report", once=True)
    arguments.separate_filters(options, options.files)
    if len(options.files) == 1 and len(arguments.file_for_each(options, options.files)) == 1:
        if len(models := _models_in(options)) == 1:
            raise BadInput(_of_one_model(options))
        if not models:
            return _run_votes(options)
        options.model = models
    if options.item is not None:
        raise BadInput("--item: is only valid with one file of votes")
    if options.cost is not None and len(options.prediction) > len(options.files):
        raise BadInput(f"--cost: {options.cost!r} is one column for every --prediction; expected a file for each model")
    entries, (ranks, files, sizes) = {}, _rank(options)
    if sizes is not None:
        from ..sizing import as_object, as_text

        entries = {"sizes": as_object(sizes)}
    from ..ranking.words import as_json, as_markdown, show

    def page() -> str:
        from ..ranking.page import as_html  # it needs Jinja

        return as_html(ranks)

    if write_outputs(options, json=partial(as_json, ranks, files, entries), html=page, md=partial(as_markdown, ranks)):
        show(ranks)
        if sizes is not None:
            write_text("-", f"\n{as_text(sizes)}")
    return DONE


def _models_in(options: argparse.Namespace) -> list[str]:
    """Return the models of a log, or of a table with a column of models; empty for votes."""
    from sigstats.files.predictions import model_names_in

    try:
        return model_names_in(options.files[0], arguments.columns_of_files(options, 1)[0])
    except ValueError:  # the file contains votes, or no models
        return []


def _of_one_model(options: argparse.Namespace) -> str:
    from sigstats._common.messages import printable
    from sigstats.files.predictions import read

    (path,) = options.files
    with as_options():
        read(path, arguments.columns_of_files(options, 1)[0])  # refuses several filters, and names them
    wanted = "the file of each model, or --score METRIC,FILTER of each filter"
    return f"FILE: {printable(path)} contains only one model; expected {wanted}"


def _run_votes(options: argparse.Namespace) -> int:
    from sigstats._common.messages import printable
    from sigstats._common.validation import as_real

    from ..ranking.votes import COLUMNS, NotVotes, as_html, as_json, headline, ranked_votes

    (path,) = options.files
    try:
        with as_options():
            as_real(options.alpha, "--alpha", low=0, high=0.5, open_ends=True)
            ranking = ranked_votes(path, options.group, options.item, 1 - options.alpha)
    except NotVotes as error:
        wanted = f"two or more, the --prediction or --model of each model, or votes with {', '.join(COLUMNS)}"
        raise BadInput(f"FILE: {path} is one file; expected {wanted} ({error})") from None
    arguments.refuse_together(options, votes=True)
    json, report = partial(as_json, ranking, printable(path)), partial(as_html, ranking)
    if write_outputs(options, json=json, html=report, md=ranking.to_markdown):
        write_text("-", f"{printable(headline(ranking))}.\n{ranking}")
    return DONE


def _rank(options: argparse.Namespace) -> "tuple[Ranking, list[str], LeaderboardSize | str | None]":
    """Return the ranking, the files of the ranked models, best first, and with ``--power`` the rows that they need."""
    from sigstats.comparison.paired_predictions import as_score_range
    from sigstats.files.predictions import read_choices
    from sigstats.files.predictions.many import join_many
    from sigstats.ranking.rank import check_costs, with_costs

    from ..ranking.words import model_names

    files: Sequence[str] = arguments.file_for_each(options, options.files)
    with as_options():
        by_pairs = bool(options.measure or options.run is not None or options.human)
        measure = _measure(options, by_pairs=by_pairs)
        columns = arguments.columns_of_files(options, len(files))
        arguments.refuse_unused(columns[0], [measure])
        columns = [file.but(coded=by_pairs) for file in columns]
        judged, limits = arguments.read_with_people(options, files, columns), as_score_range(options.score_range)
        cost_columns = [] if options.cost is None else [_of_cost(file, options.cost) for file in columns]
        wanted = [choice for choice in ([] if judged else columns, cost_columns) if choice]
        tables = [read_choices(file, choices) for file, *choices in zip(files, *wanted, strict=True) if choices]
        sides = [side for side, _ in judged] or [first for first, *_ in tables]
        in_one = arguments.names_in_one_file(options) if len(options.files) == 1 else []
        names = list(in_one or model_names(files, [side.source.subject for side in sides]))
        match = arguments.match_options(options)
        joined = None if by_pairs else join_many(sides, columns[0], **match)
        how: dict[str, Any] = {"measure": measure, "positive": options.positive, "limits": limits}
        how["people"] = [labels for _, labels in judged]
        costs = [table[-1] for table in tables] if cost_columns else []
        if costs:
            values = [side.score.values.to_numpy(zero_copy_only=False) for side in costs if side.score]
            check_costs(values, names, options.cost)
        ranking = _ranking(options, names, sides, columns[0], joined, **how)
        ordered = [files[names.index(model.model)] for model in ranking.models]
        if costs:
            of_costs = None if options.run is not None else join_many(costs, cost_columns[0], **match)
            ranking = with_costs(ranking, _ranking(options, names, costs, cost_columns[0], of_costs), options.cost)
        if options.power is None or joined is None:
            return ranking, ordered, None
        return ranking, ordered, _sizes(options, names, joined, limits)


def _measure(options: argparse.Namespace, *, by_pairs: bool) -> str | None:
    """Return the measure to rank by, None for the accuracy or the mean score; refuse options that do not fit it."""
    from sigstats._common.validation import as_real
    from sigstats.comparison.measure_names import as_compared_measures

    as_real(options.alpha, "--alpha", low=0, high=0.5, open_ends=True)
    named = arguments.measures_of(options)
    measures = as_compared_measures(named) if named else (None,)
    if len(measures) > 1:
        raise BadInput(f"--measure: {len(measures)} were given; expected one")
    if options.positive is not None and not by_pairs:
        raise BadInput("--positive: is not valid without --measure; expected a measure of a class, such as f1")
    check_power(options.power)
    if by_pairs and options.power is not None:
        raise BadInput("--power: is not valid with this measure; rank by accuracy or the mean of a score")
    return measures[0]


def _sizes(
    options: argparse.Namespace, names: Sequence[str], joined: "ManyPredictions", limits: tuple[float, float] | None
) -> "LeaderboardSize | str":
    """Return the rows that the ranking needs, or the reason why they are unknown."""
    from sigstats.sizing.leaderboards import leaderboard_size

    if joined.units.group is not None:
        return "--power: is not valid for groups; expected one answer or score per row"
    try:
        with as_options():
            return leaderboard_size(
                joined.scores,
                names,
                target=options.power,
                confidence_level=1 - options.alpha,
                lower=joined.lower,
                limits=limits or joined.limits,
            )
    except BadInput as error:
        return str(error)


def _of_cost(columns: "Columns", cost: str) -> "Columns":
    """Return the columns of a model with its cost in place of its score."""
    plain = columns.but(score=cost, per=None, lower=frozenset([cost]), higher=frozenset(), probabilities=None)
    return plain.but(prediction=type(columns).prediction, named=columns.named - {"prediction"})


def _ranking(
    options: argparse.Namespace,
    names: list[str],
    sides: "Sequence[Predictions]",
    columns: "Columns",
    joined: "ManyPredictions | None",
    *,
    measure: str | None = None,
    positive: str | None = None,
    people: "Sequence[HumanLabels]" = (),
    limits: tuple[float, float] | None = None,
) -> "Ranking":
    """Return the ranking from one table of all models, or from pairs of models if `joined` is None."""
    from sigstats.comparison.rank_by_pairs import notes_on_best, rank_by_pairs
    from sigstats.files.predictions import join
    from sigstats.files.predictions.designs import add_human_labels
    from sigstats.measures.metrics import unit_of
    from sigstats.ranking.rank import rank_table

    def pair(a: int, b: int) -> "PairedPredictions":
        paired = join(sides[a], sides[b], columns, with_ids=bool(people), **arguments.match_options(options))
        if people:
            others = [labels for place, labels in enumerate(people) if place not in (a, b)]
            return add_human_labels(paired, (people[a], people[b]), limits, others)
        return replace(paired, score_range=limits)

    how: dict[str, Any] = {"confidence_level": 1 - options.alpha, "smallest_slice": _SMALLEST_SLICE}
    priced = bool(columns.score and (columns.score == options.cost or unit_of(columns.score)))
    if joined is None:
        ranking = rank_by_pairs(names, pair, measure, positive=positive, **how)
    else:
        ranking = rank_table(
            joined.scores,
            names,
            joined.units.group,
            joined.units.slices,
            notes=joined.notes,
            answers=joined.answers,
            right=joined.predicted,
            lower=joined.lower,
            limits=joined.limits,
            named=True,
            priced=priced,
            score_range=limits,
            tasks=joined.units.tasks,
            **how,
        )
    first, second = (names.index(model.model) for model in ranking.models[:2])
    notes = notes_on_best(ranking, pair(first, second), measure, positive)
    return replace(ranking, notes=(*ranking.notes, *notes))
