"""Print commands for a file of predictions, ready to paste, with the names of its columns or scores.

Every printed command was tried on the file. Commands ask if the name of a column is ambiguous.
"""

import argparse
import contextlib
import io
import re
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from ..errors import DONE, BadInput
from . import REGISTRY, parser
from ._options import as_options

if TYPE_CHECKING:
    from sigstats.files.predictions import Columns, EvaluationLog
    from sigstats.files.tables.table import Table

GROUP = "files of predictions"
#: The most lines of commands.
_MOST_LINES = 5
#: Columns of up to this many values divide the rows into slices; those of more values, each repeated, may be groups.
_SLICES = 20
#: Columns whose numbers are names. Other numbers are not groups, and slices only if they have two values.
_NAMES = re.compile(r"(?i)(.*[_. -])?(id|group)s?")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``sigstats doctor``."""
    parser.add_argument("file", metavar="FILE", help="predictions of one model or several, or a log")


def run(options: argparse.Namespace) -> int:
    """Print a description of the file, and commands for it."""
    from sigstats._common.messages import printable

    with as_options():
        print("\n".join(map(printable, lines_of(options.file))))  # noqa: T201
    return DONE


def lines_of(path: str) -> list[str]:
    """Describe a file in one line, and list commands that run on it. Raise ValueError if it is unreadable."""
    from sigstats.files.predictions import Columns, parse

    file = parse(path, Columns())
    log, table = file.log(Columns()), cast(Any, file.parts[0])
    if log is not None:
        description, commands, row_options = *_for_log(log), [""]
        advice = "no command compares answers without scores"
    else:
        if not table.other_columns(()).keys() >= {*table.names}:  # of a large file, only the usual columns were read
            table = parse(path, Columns().but(slices=tuple(dict.fromkeys(table.names)))).parts[0]
        description, commands, row_options = _for_table(table)
        advice = "name the true classes with --label, the predicted ones with --prediction, or marks with --score"
    lines: list[str] = []
    refusals: list[str] = []
    for name, options in commands:
        doubt = "  # or --lower-is-better" if " --higher-is-better " in options else ""
        for row_option in row_options if len(lines) < _MOST_LINES else ():
            if not (refusal := _refusal(name, path, options + row_option)):
                lines.append(f"sigstats {name} {shlex.quote(path)}{options}{row_option}{doubt}")
                break
            if "'model_a' was not found" not in refusal:  # `rank` of votes is tried on every table
                refusals.append(refusal)
    return [f"{path}: {description}", *lines] if lines else [f"{path}: {description}; {[*refusals, advice][0]}"]


def _refusal(name: str, path: str, options: str) -> str:
    """Return the error of a command tried with the file as both baseline and candidate; empty if it runs."""
    words = [path if word == "CANDIDATE" else word for word in shlex.split(options)]
    parsed = parser(name).parse_args([name, path, *words])
    parsed.itself = True
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            if "LABELS" not in words:  # a file that only the user can name
                REGISTRY.module(name).run(parsed)
    except BadInput as error:
        return str(error)
    return ""


def _as_options(**options: Any) -> str:
    """Return options as typed, each after a space; a list repeats its option."""
    typed = ""
    for name, values in options.items():
        for value in values if isinstance(values, list) else [values]:
            typed += f" --{name.replace('_', '-')}{'=' if value.startswith('-') else ' '}{shlex.quote(value)}"
    return typed


def _by_score(score: str, lower: bool | None, models: list[str], chosen_filter: str = "") -> list[tuple[str, str]]:
    """Return commands for a score; `lower`: whether lower is better, None if unknown."""
    chosen = _as_options(higher_is_better=score) if lower is None else ""
    if chosen_filter or not chosen:
        chosen = _as_options(score=f"{score}{chosen_filter}") + chosen
    if len(models) > 1:
        return [("compare", _as_options(model=models[:2]) + chosen), ("rank", chosen)]
    bar = " --at-most 0.5" if lower else " --at-least 0.5"
    return [("check", chosen + bar), ("compare", f" CANDIDATE{chosen}")]


def _for_log(log: "EvaluationLog") -> tuple[str, list[tuple[str, str]]]:
    """Return a description of a log, and commands to try."""
    from sigstats._common.messages import some_of
    from sigstats.files.predictions import Columns

    models = [name for name in dict.fromkeys(answer.model for answer in log.answers) if name]
    scores = dict.fromkeys(name for answer in log.answers for name in answer.scores)
    filters = [name for name in dict.fromkeys(answer.filter for answer in log.answers) if name]
    chosen = f",{filters[0]}" if len(filters) > 1 else ""
    tried = (_by_score(score, log.is_lower_better(score, Columns()), models, chosen) for score in scores)
    by = log.model or some_of(models) or "a model"
    description = f"a log of {len(log.answers):,} answers by {by}, with the scores {some_of([*scores]) or 'none'}"
    return description, [command for commands in tried for command in commands]


class _Roles(NamedTuple):
    """The columns of a table, without lists and objects, by the roles that they may play in commands."""

    usual: "Columns"
    #: The distinct values of each column.
    values: dict[str, dict[str, None]]
    labelled: bool
    numbers: set[str]
    #: Columns of numbers that are not all whole.
    fractions: set[str]
    answers: list[str]
    marks: list[str]
    #: Columns that are neither ids, labels, models, weights, answers nor marks.
    others: list[str]


def _roles_of(table: "Table") -> _Roles:
    import pyarrow as pa
    import pyarrow.compute as pc

    from sigstats._common.column_names import WEIGHTS, is_no_model
    from sigstats.files.predictions import MODELS, Columns
    from sigstats.files.tables.spelling import is_number

    present = ((name, column) for name, column in table.other_columns(()).items() if name in table.names)
    names = [name for name, column in present if not pa.types.is_nested(column.type)]
    usual = Columns().in_table(names)
    values = {name: dict.fromkeys(pc.unique(table.texts_or_missing(name).drop_null()).to_pylist()) for name in names}
    numbers = {name for name in names if values[name] and all(map(is_number, values[name]))}
    fractions = {name for name in numbers if any(not float(value).is_integer() for value in values[name])}
    labelled = usual.label in names and "label" not in {key for key, *_ in usual.unclear}
    classes = values[usual.label].keys() if labelled else set()
    usable = [name for name in names if _NAMES.fullmatch(name) or not is_no_model(name, names)]
    usable = [name for name in usable if name not in (usual.id, usual.label, MODELS)]
    others = [name for name in usable if name.lower() not in WEIGHTS]
    answers = [name for name in others if labelled and (name == usual.prediction or values[name].keys() <= classes)]
    marks = [name for name in others if name not in answers and name in fractions]
    marks += [name for name in others if not labelled and values[name].keys() == {"0", "1"}]
    others = [name for name in others if name not in (*answers, *marks)]
    return _Roles(usual, values, labelled, numbers, fractions, answers, marks, others)


def _for_table(table: "Table") -> tuple[str, list[tuple[str, str]], list[str]]:
    """Return a description of a table, commands to try, and options that identify rows, to try in this order."""
    from sigstats._common.messages import some_of
    from sigstats._common.numerals import count_of
    from sigstats.files.predictions import MODELS

    roles = _roles_of(table)
    usual, names = roles.usual, [*roles.values]
    models = [*roles.values.get(MODELS, ())]
    pair = {usual.label, usual.prediction}
    measure = " --measure neg-mae" if roles.labelled and pair <= roles.numbers and pair & roles.fractions else ""
    clusters = {"group": "judge", "item": "question_id"} if "model_a" in names else {}  # as Chatbot Arena names them
    commands = [("rank", measure + _as_options(**{key: name for key, name in clusters.items() if name in names}))]
    commands += _for_answers(roles.answers, models, usual.prediction, measure)
    if pattern := _probabilities(table, roles.marks):
        labels = "" if roles.labelled else " --labels LABELS"
        commands.append(("check", f"{_as_options(probabilities=pattern)}{labels} --at-least 0.9"))
    elif not roles.labelled:
        for mark in roles.marks:
            by_score = _by_score(mark, usual.scoring.is_lower_better(mark), models)
            commands += by_score if len(models) > 1 else by_score[:1]
    if len(commands) > 1:  # the first after `rank` is also shown with slices and with groups
        name, options = commands[1]
        commands += [(name, options + others) for others in _slices_and_groups(roles, table.num_rows)]
    description = f"a table of {count_of(table.num_rows, 'row')} with the columns {some_of(names)}"
    return description, commands, _row_options(roles, max(1, len(models)), table.num_rows)


def _for_answers(answers: list[str], models: list[str], prediction: str, measure: str) -> list[tuple[str, str]]:
    """Return commands for columns of predictions, of `models` if a column names several."""
    if not answers:
        return []
    key, choices = ("model", models) if len(models) > 1 else ("prediction", answers)
    first, first_two = ("" if choices == [prediction] else _as_options(**{key: choices[:n]}) for n in (1, 2))
    check = [] if measure else [("check", f"{first} --at-least 0.9")]
    if len(choices) == 1:
        return [*check, ("compare", f" CANDIDATE{first}{measure}")]
    rank = [("rank", _as_options(prediction=answers))] if choices is answers else []
    return [("compare", first_two + measure), *rank, *check]


def _slices_and_groups(roles: _Roles, rows: int) -> list[str]:
    """Return options for the columns that divide the rows into slices, and for the first of groups."""
    values = roles.values
    is_nominal = {name: name not in roles.numbers or _NAMES.fullmatch(name) for name in roles.others}
    nominal = [name for name in roles.others if len(values[name]) == 2 or is_nominal[name]]
    slices = [name for name in nominal if 1 < len(values[name]) <= min(_SLICES, rows / 2)]
    groups = [name for name in nominal if _SLICES < len(values[name]) <= rows / 2]
    return [_as_options(**{key: names}) for key, names in (("slice", slices), ("group", groups[:1])) if names]


def _row_options(roles: _Roles, models: int, rows: int) -> list[str]:
    """Return options that identify rows, to be tried in order."""
    from sigstats._common.column_names import RUN

    values, usual = roles.values, roles.usual
    run = next(filter(RUN.search, values), "")
    repeats, measured = models * len(values.get(run, "1")), {*roles.fractions, usual.label, usual.prediction}
    ids = [name for name in values if len(values[name]) * repeats >= rows and name not in measured]
    named = [_as_options(id=name) for name in ids] + [" --by-position"] * (repeats == 1)
    runs = _as_options(run=[run] if run else [])
    return list(dict.fromkeys(["", *(option + runs for option in ([""] if usual.id in values else named))]))


def _probabilities(table: "Table", names: Sequence[str]) -> str:
    """Return a pattern for the columns, or their names, if they add up to 1 in every row; otherwise an empty text."""
    rows = zip(*(table.numbers(name, or_missing=True).to_pylist() for name in names), strict=True)
    if len(names) < 2 or any(None in row or round(sum(row), 1) != 1 for row in rows):
        return ""
    stem = names[0][: names[0].rfind("_") + 1]
    return f"{stem}*" if stem and all(name.startswith(stem) for name in names) else ",".join(names)
