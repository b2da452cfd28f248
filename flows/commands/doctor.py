"""Print commands for a file of predictions, ready to paste, with the names of its columns or scores.

No line guesses the meaning of a column: if its name is not clear, this and the other commands ask.
"""

import argparse
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..errors import DONE
from ._options import as_options

if TYPE_CHECKING:
    from sigstats.files.predictions import EvaluationLog
    from sigstats.files.tables.table import Table

GROUP = "files of predictions"
#: The most lines of commands.
_MOST = 5
#: Columns of up to this many values divide the rows into slices; those of more values, each repeated, may be groups.
_SLICES = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``sigstats doctor``."""
    parser.add_argument("file", metavar="FILE", help="predictions of one model or several, or a log")


def run(options: argparse.Namespace) -> int:
    """Print what the file has, and commands for it."""
    from sigstats._common.messages import printable

    with as_options():
        print("\n".join(map(printable, lines_of(options.file))))  # noqa: T201
    return DONE


def lines_of(path: str) -> list[str]:
    """A line on the contents of a file, and commands for it; ValueError if it cannot be read."""
    from sigstats.files.predictions import Columns, parsed
    from sigstats.files.tables.table import Table

    file = parsed(path, Columns())
    log, table = file.log(Columns()), file.parts[0]
    if log is not None:
        head, commands = _commands_for_log(log)
    else:
        assert isinstance(table, Table)
        if not table.beside(()).keys() >= {*table.names}:  # of a large file, only the usual columns
            table = parsed(path, Columns().but(slices=tuple(dict.fromkeys(table.names)))).parts[0]
            assert isinstance(table, Table)
        head, commands = _commands_for_table(table)
    named = shlex.quote(path)
    return [f"{path}: {head}", *(f"sigstats {name} {named}{rest}" for name, rest in commands[:_MOST])]


def _as_options(**options: Any) -> str:
    """Options of a command line; a list gives its option again and again."""
    pairs = ((name, value) for name, of in options.items() for value in (of if isinstance(of, list) else [of]))
    return "".join(f" --{name.replace('_', '-')} {shlex.quote(str(value))}" for name, value in pairs)


def _options_of_score(score: str, lower: bool | None) -> tuple[str, str, str]:
    """The option of a score, that of a bar, and a comment if nothing states which direction is better."""
    if lower is None:
        return _as_options(higher_is_better=score), " --at-least 0.5", "  # or --lower-is-better"
    return _as_options(score=score), f" --at-{'most' if lower else 'least'} 0.5", ""


def _commands_for_log(log: "EvaluationLog") -> tuple[str, list[tuple[str, str]]]:
    from sigstats._common.messages import some_of
    from sigstats.files.predictions import Columns

    models = [name for name in dict.fromkeys(answer.model for answer in log.answers) if name]
    scores = list(dict.fromkeys(name for answer in log.answers for name in answer.scores))
    filters = [name for name in dict.fromkeys(answer.filter for answer in log.answers) if name]
    by = log.model or some_of(models) or "a model"
    commands: list[tuple[str, str]] = []
    for score in scores:
        chosen, bar, doubt = _options_of_score(score, log.is_lower_better(score, Columns()))
        chosen += _as_options(filter=filters[0]) if len(filters) > 1 else ""
        if len(models) > 1:
            commands += [("compare", _as_options(model=models[:2]) + chosen + doubt)]
            commands += [("rank", _as_options(model=models) + chosen + doubt)]
        else:
            commands += [("check", chosen + bar + doubt), ("compare", f" CANDIDATE{chosen}{doubt}")]
    return f"a log of {len(log.answers):,} answers by {by}, with the scores {some_of(scores) or 'none'}", commands


def _commands_for_table(table: "Table") -> tuple[str, list[tuple[str, str]]]:
    import pyarrow as pa
    import pyarrow.compute as pc

    from sigstats._common.messages import some_of
    from sigstats.files.predictions import Columns
    from sigstats.files.tables.spelling import is_number

    from ..pages.wording import count_of

    names = [name for name, column in table.beside(()).items() if not pa.types.is_nested(column.type)]
    columns = Columns().in_table(names)
    values = {name: set(pc.unique(table.texts_or_missing(name)).to_pylist()) - {None} for name in names}
    labelled = columns.label in names and "label" not in {key for key, *_ in columns.unclear}
    classes = values[columns.label] if labelled else set()
    others = [name for name in names if name not in (columns.id, columns.label)]
    models = [name for name in others if values[name] and values[name] <= classes]
    numbers = [name for name in others if name not in models and all(map(is_number, values[name]))]
    marks = [name for name in numbers if any(not float(value).is_integer() for value in values[name])]
    head = f"a table of {count_of(table.num_rows, 'row')} with the columns {some_of(names)}"
    one = _as_options(prediction=models[0]) if models and models[0] != columns.prediction else ""
    commands: list[tuple[str, str]] = []
    if len(models) > 1:
        commands += [("compare", _as_options(prediction=models[:2])), ("rank", _as_options(prediction=models))]
    if models:
        commands += [("check", f"{one} --at-least 0.9")]
    if len(models) == 1:
        commands += [("compare", f" CANDIDATE{one}")]
    patterns = (name.replace(own, "*", 1) for name in marks for own in classes if own in name)
    of_classes = (pattern for pattern in patterns if {pattern.replace("*", name) for name in classes} <= {*marks})
    pattern = next(of_classes, "" if labelled else _probabilities(table, marks))
    if pattern:
        truth = "" if labelled else " --labels LABELS"
        commands += [("check", f"{_as_options(probabilities=pattern)}{truth} --at-least 0.9")]
    elif not labelled:
        for mark in marks:
            chosen, bar, doubt = _options_of_score(mark, columns.scoring.is_lower_better(mark))
            commands += [("check", chosen + bar + doubt)]
    rest = [name for name in others if name not in (*models, *marks)] if commands else []
    slices = [name for name in rest if 1 < len(values[name]) <= _SLICES]
    groups = [name for name in rest if _SLICES < len(values[name]) <= table.num_rows / 2]
    name, options = commands[0] if commands else ("", "")
    commands += [(name, options + _as_options(slice=slices))] if slices else []
    commands += [(name, options + _as_options(group=groups[0]))] if groups else []
    if not commands or not (labelled or marks):
        head += "; name the true classes with --label, the predicted ones with --prediction, or marks with --score"
    return head, commands


def _probabilities(table: "Table", names: Sequence[str]) -> str:
    """Return a pattern or the names of the columns if they add up to 1 in every row; otherwise an empty text."""
    rows = zip(*(table.numbers(name, or_missing=True).to_pylist() for name in names), strict=True)
    if len(names) < 2 or any(None in row or round(sum(row), 1) != 1 for row in rows):
        return ""
    stem = names[0][: names[0].rfind("_") + 1]
    return f"{stem}*" if stem and all(name.startswith(stem) for name in names) else ",".join(names)
