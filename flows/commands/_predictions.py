"""The arguments of commands that read predictions."""

import argparse
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from sigstats._common.messages import rephrased

from ..errors import BadInput
from . import option, repeatable
from ._options import add_measures as add_measures
from ._options import as_options, measure_of_form, with_dashes
from ._options import measures_of as measures_of

if TYPE_CHECKING:
    from sigstats.files.predictions import Columns, Predictions
    from sigstats.files.predictions.designs import HumanLabels

_NAMED = ("id", "label", "prediction")
SECOND_FILE = (
    "a second file, or the --prediction or --model of each model in one file (sigstats doctor FILE names them)"
)
_MOST_BINS = 1000


def add_prediction_arguments(parser: argparse.ArgumentParser, *, score: str, matched: bool = True) -> None:
    """Add the options that choose columns and rows. `matched`: also add those for joining rows of several files."""
    columns = parser.add_argument_group("columns")
    for name, text in (("id", "column by which rows are joined"), ("label", "column of true classes")):
        option(columns, f"--{name}", "COLUMN", f"{text} (default: {name})")
    predictions = "column of predictions; one for all files, or one per model (repeatable) "
    repeatable(columns, "--prediction", "COLUMN", f"{predictions}(default: prediction)")
    repeatable(columns, "--score", "NAME", score)
    text = "columns with the probability of each class, as in prob_* or cat,dog; the likeliest class is the prediction"
    columns.add_argument("--probabilities", metavar="PATTERN", help=text)
    for name, way in (("lower", "an error or cost"), ("higher", "a mark")):
        text = f"score that is {way}, if its name does not tell; the default of --score"
        repeatable(columns, f"--{name}-is-better", "NAME", f"{text} (repeatable)")
    option(columns, "--epoch", "COLUMN", "column that numbers several answers to one id")
    option(columns, "--group", "COLUMN", "column of groups; rows of one group are dependent")
    text = "column of slices; COLUMN=N cuts numbers into N similar slices; COLUMN= if the name contains = (repeatable)"
    repeatable(columns, "--slice", "COLUMN[=N]", text)
    text = "column of tasks, in which ids may restart; their mean is tested too; a folder needs none"
    columns.add_argument("--task", metavar="COLUMN", help=text)
    option(columns, "--run", "COLUMN", "column of independent runs of a training recipe, such as seeds")
    text = "column of people's labels (1 right, 0 wrong, or empty), which correct the judge's verdicts in --score or "
    repeatable(columns, "--human", "COLUMN", f"{text}--prediction; one for all files, or one per file (repeatable)")
    rows = parser.add_argument_group("rows and answers")
    text = "lowest and highest possible score, if neither log nor name states them"
    rows.add_argument("--score-range", nargs=2, type=float, metavar=("LOW", "HIGH"), help=text)
    option(rows, "--positive", "CLASS", "positive class of f1, precision, recall, specificity and scores")
    text = "join rows by position; numbers of rows and labels must agree"
    rows.add_argument("--by-position", action="store_true", help=text)
    text = "file of true classes, by id or in the same order, if the others have none; names of all SWE-bench instances"
    option(rows, "--labels", "FILE", text)
    text = "model to read from a log or table of several; one for all files, or one per file"
    repeatable(rows, "--model", "NAME", text)
    parser.set_defaults(filter=[])  # filled by separate_filters
    actions = {
        "unmatched": ("rows missing from some files", "drop"),
        "unscored": ("failed or unscored answers", "drop", "wrong"),
        "duplicates": ("repeated ids; all: several answers to one item", "first", "last", "all"),
    }
    for name, (subject, *choices) in actions.items():
        if matched or name != "unmatched":
            rows.add_argument(f"--{name}", choices=("refuse", *choices), help=f"action for {subject} (default: refuse)")
    repeatable(rows, "--missing", "TEXT", "text that means a missing value, such as NA; empty always does (repeatable)")
    text = "all classes, separated by commas, if NA, None or the like is one of them"
    rows.add_argument("--classes", metavar="A,B,...", type=lambda text: tuple(text.split(",")), help=text)
    if matched:
        text = "allow logs with different tasks, scores or questions"
        rows.add_argument("--allow-different-tasks", action="store_true", help=text)


def read_with_people(
    options: argparse.Namespace, paths: Sequence[str], columns: "Sequence[Columns]"
) -> "list[tuple[Predictions, HumanLabels]]":
    """Return the judge's verdicts and the labels of people in each file; empty without ``--human``."""
    if not options.human:
        return []
    from sigstats.files.predictions.designs import read_judged  # few comparisons have a judge

    if len(scores_of(options)) > 1:
        raise BadInput("--human: is not valid with several scores; expected one")
    return [*map(read_judged, paths, columns, for_each_file("human", options.human, len(paths)))]


def columns_of_files(options: argparse.Namespace, files: int, *, scores: int | None = 1) -> "list[Columns]":
    """Return the columns of each file; several predictions, models or filters are assigned to the files in order.

    `scores`: the largest number of scores that may be named.
    """
    refuse_together(options)
    if scores is not None and len(scores_of(options)) > scores:
        raise BadInput(f"--score: {len(scores_of(options))} were given; expected one")
    columns = [columns_of(options)] * files
    for name, values in named_in_files(options):
        if values:
            pairs = zip(columns, for_each_file(name, values, files), strict=True)
            columns = [column.but(**{name: value}) for column, value in pairs]
    return columns


def for_each_file(name: str, values: Sequence[Any], files: int) -> list[Any]:
    """Return the value of a repeatable option for each file: one for all, or one for each."""
    if len(values) not in (1, files):
        wanted = "one" if files == 1 else f"one, or one for each of {files} files"
        raise BadInput(f"--{name}: {len(values)} were given; expected {wanted}")
    return list(values) * (files if len(values) == 1 else 1)


def separate_filters(options: argparse.Namespace, files: Sequence[str]) -> None:
    """Replace several options --score METRIC,FILTER for one log by --score METRIC and one filter per model.

    The scores of a table stay as they are, since the name of a column may contain a comma.
    """
    parts = [score.partition(",") for score in options.score]
    if len(files) == 1 < len(parts) and len({metric for metric, *_ in parts}) == 1 and all(name for *_, name in parts):
        from sigstats.files.predictions import is_of_tables

        with as_options():
            is_table = is_of_tables(files[0])
        if not is_table:
            options.score, options.filter = [parts[0][0]], [name for *_, name in parts]


def file_for_each(options: argparse.Namespace, files: Sequence[str]) -> list[str]:
    """Repeat a single file for each of its named predictions, models or filters; keep several files as they are."""
    named = max(len(values) for _, values in named_in_files(options))
    scores = scores_of(options) if len(files) == 1 else []
    if scores and len(options.prediction) > 1:
        raise BadInput(f"--score: {scores[0]!r} is one column for every --prediction; expected a file for each model")
    return list(files) * named if len(files) == 1 and named > 1 else list(files)


def names_in_one_file(options: argparse.Namespace) -> list[str]:
    """Return the named predictions, models or filters of one file; empty if fewer than two are named."""
    return next((values for _, values in named_in_files(options) if len(values) > 1), [])


def named_in_files(options: argparse.Namespace) -> list[tuple[str, list[str]]]:
    """Return the options whose values are assigned to the files in order; refuse a column that is named twice."""
    named: list[str] = options.prediction
    if twice := next((name for name in named if named.count(name) > 1), None):
        raise BadInput(f"--prediction: {twice!r} is named twice; name the column of each model once")
    return [("prediction", named), ("model", options.model), ("filter", options.filter)]


def scores_of(options: argparse.Namespace) -> list[str]:
    """Return the named scores, in any form."""
    from sigstats._common.scores import parts_of_ratio

    if ratio := measure_of_form(options, "ratio"):
        if options.score:
            raise BadInput(f"--measure: {ratio!r} is not valid with --score; expected one of them")
        return [parts_of_ratio(ratio)[0]]
    return options.score or list(dict.fromkeys([*options.lower_is_better, *options.higher_is_better]))


def columns_of(options: argparse.Namespace) -> "Columns":
    """Return the columns that the options name."""
    from sigstats._common.scores import parts_of_ratio
    from sigstats.files.predictions import Columns

    scores, ratio = scores_of(options), measure_of_form(options, "ratio")
    columns = {name: getattr(options, name) for name in ("id", "label", "epoch", "group")}
    columns |= {"score": next(iter(scores), None), "prediction": next(iter(options.prediction), None)}
    named = {name: column for name, column in columns.items() if column is not None}
    directions = _directions(options, scores, ratio)
    slices, bins = _slices(options.slice)
    # Options that are also those of the file of labels.
    shared = {"probabilities": options.probabilities, "task": options.task, "slices": slices}
    shared |= {"missing": tuple(options.missing), "classes": options.classes or ()}
    shared["unscored"] = options.unscored or Columns.unscored
    values = vars(options)  # a command has only some of these
    labels = {} if options.labels is None else _labels(options, named, shared)
    with as_options():
        return Columns().but(
            **named,
            **directions,
            **labels,
            **{name: values.get(name) for name in ("order", "run", "weights")},
            bins=tuple(bins.items()),
            model=options.model[0] if options.model else None,
            per=None if ratio is None else parts_of_ratio(ratio)[1],
            duplicates=options.duplicates,
            **shared,
            by_position=options.by_position,
            named=frozenset(_NAMED).intersection(named),
        )


def _directions(options: argparse.Namespace, scores: Sequence[str], ratio: str | None) -> dict[str, frozenset[str]]:
    """Return the scores that the options declare better if lower, and those declared better if higher."""
    from sigstats._common.scores import of_named_scores

    known = [*scores, *(score.partition(",")[0] for score in scores if "," in score)]  # also METRIC of METRIC,FILTER
    with as_options():
        return {
            way: of_named_scores(getattr(options, f"{way}_is_better"), known, f"--{way}-is-better", ratio=ratio)
            for way in ("lower", "higher")
        }


def _labels(options: argparse.Namespace, named: dict[str, str], shared: dict[str, Any]) -> dict[str, Any]:
    """Read the file of ``--labels``: true classes, or the names of all SWE-bench instances."""
    from sigstats.files.predictions import has_instances, names_of_instances, read_labels

    values = vars(options)
    files = [*values.get("files", ()), *(values[name] for name in ("file", "baseline") if name in values)]
    with as_options():
        of_instances = any(map(has_instances, files[:1]))
    with rephrased("--labels: ", BadInput):
        if of_instances:
            return {"instances": names_of_instances(options.labels)}
        weights = values.get("weights")
        return {"truth": read_labels(options.labels, columns=named, group=options.group, weights=weights, **shared)}


def _slices(options: Sequence[str]) -> tuple[tuple[str, ...], dict[str, int]]:
    """Return the columns of slices, and the number of bins of those cut into bins."""
    bins: dict[str, int | None] = {}
    for value in options:
        column, equals, number = value.rpartition("=")
        if not equals:
            bins.setdefault(value, None)
            continue
        if not column or (number and not (number.isdecimal() and 2 <= int(number) <= _MOST_BINS)):
            expected = f"COLUMN=N with N from 2 to {_MOST_BINS}, or COLUMN= if its name contains ="
            raise BadInput(f"--slice: {value!r} is not valid; expected {expected}")
        bins[column] = int(number) if number else bins.get(column)
    return tuple(bins), {column: number for column, number in bins.items() if number is not None}


def match_options(options: argparse.Namespace) -> dict[str, Any]:
    """Return options of matching files: refuse or allow unmatched rows and different tasks."""
    return {"unmatched": options.unmatched or "refuse", "allow_different_tasks": options.allow_different_tasks}


def refuse_together(options: argparse.Namespace, **others: Any) -> None:
    """Refuse options that exclude each other, or are not valid with `others`, such as the content of a file."""
    from sigstats._common.calls import check_together

    # Messages of rules about the content of a file, or about the value "refuse", name options without values.
    without_values = any(others.values())
    others["bins"] = any("=" in column and column[-1] != "=" for column in options.slice)
    given = {
        name: True if value == "refuse" or (value and without_values) else value
        for name, value in vars(options).items()
    }
    with rephrased(lambda text: with_dashes(text.replace(": are ", ": is "), vars(options)), BadInput):
        check_together({**given, **{name.replace("_", " "): value for name, value in others.items()}})


def refuse_unused(columns: "Columns", measures: Iterable[str | None], *, of_one: bool = False) -> None:
    """Refuse named columns of predictions, and with `of_one` also of labels, that no measure uses.

    The measure None is the mean of the named score, or the accuracy. With several models, labels also show that the
    rows are the same.
    """
    from sigstats.comparison.measure_names import check_used

    names = dict.fromkeys(measure or ("mean-score" if columns.score else "accuracy") for measure in measures)
    keys = [key for key in ("prediction", "label")[: 1 + of_one] if key in columns.named]
    with as_options(*((f"{key}: ", f"--{key}: ") for key in keys)):
        check_used(names, **{key: getattr(columns, key) for key in keys})
