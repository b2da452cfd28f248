"""Draw one test set of a calibration study again, and show the answer of each test to it.

The test set is drawn from the seed, the population, the size and its number, and every test is applied to it as in the
study. Each answer is compared with the stored one; if one differs, the exit code is 3.
"""

import argparse
import sys
from typing import TYPE_CHECKING, Any

from sigstats._common.messages import printable

from ..errors import DONE, FAILED, BadInput
from . import option, repeatable
from ._files import write_whole
from ._options import add_allow, output_read, usable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sigstats.tasks.calibration.replay import Replay
    from sigstats.tasks.plan import Cell
    from sigstats.tasks.results import Results

#: At most this many rows are shown; --rows writes all.
_MOST = 40
GROUP = "studies"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``sigstats replay``."""
    parser.add_argument("output", metavar="OUTPUT", help="folder or fsspec URL of the results")
    parser.add_argument("--trial", type=int, required=True, metavar="N", help="number of the test set, from 0")
    text = "replay only this dataset (population), slice, n (rows) or test of the report, as in n=200 (repeatable)"
    repeatable(parser, "--only", "KEY=VALUE", text)
    add_allow(parser)
    option(parser, "--rows", "FILE", "write the rows of the test set as CSV; the other options must select exactly one")


def run(options: argparse.Namespace) -> int:
    """Show the test set and the answers."""
    from sigstats.tasks.calibration.replay import replay
    from sigstats.tasks.results import Results
    from sigstats.tasks.storage.store import Store

    from ..report.rows import group_by

    results = Results(Store(usable(options.output)))
    try:
        with output_read(options.output, "no study that is computed in cells; a regression study has none"):
            chosen = _chosen(options, results)
            replays = [replay(results, cell, options.trial) for cell in chosen]
    except LookupError as error:
        raise BadInput(f"OUTPUT: {error}") from None
    subjects = ("dataset", "slice", "n")
    sets = group_by(replays, lambda replay: tuple(replay.cell.subject.get(name, "") for name in subjects))
    if options.rows is not None:
        _write_rows(options.rows, sets)
    for group in sets.values():
        print("\n".join(map(printable, _lines(group, options.trial))))  # noqa: T201
    failed = [value for value in replays if value.problem is not None]
    differing = [value for value in replays if value.answer is not None and value.stored is not None and not value.same]
    for some, problem in ((failed, "tests fail"), (differing, "answers differ from the stored ones")):
        if some:
            print(f"sigstats: {len(some)} of {len(replays)} {problem}", file=sys.stderr)  # noqa: T201
    return FAILED if failed or differing else DONE


def _chosen(options: argparse.Namespace, results: "Results") -> list["Cell"]:
    from sigstats.tasks.calibration import own_tests
    from sigstats.tasks.calibration.replay import can_replay
    from sigstats.tasks.fan_out import own_code

    from ..clusters import allowed

    cells = [cell for cell in results.plan.cells if can_replay(cell)]
    if not cells:
        raise BadInput(f"OUTPUT: {options.output} is not valid; expected the results of a calibration study")
    for given in options.only:
        name, _, wanted = given.partition("=")
        known = dict.fromkeys(f"{name}={cell.subject[name]}" for cell in cells if name in cell.subject)
        if given not in known:
            keys = ", ".join(known) or "dataset=NAME, slice=TEXT, n=ROWS or test=TEXT"
            raise BadInput(f"--only: {given!r} is not valid; expected one of {keys}")
        cells = [cell for cell in cells if cell.subject.get(name) == wanted]
    most = min(cell.replicates for cell in cells)
    if not 0 <= options.trial < most:
        raise BadInput(f"--trial: {options.trial} is not valid; expected 0 to {most - 1}")
    # Before any package of a test is imported.
    packages, codes = allowed(options.allow, None), list(filter(None, map(own_code, cells)))
    for code in codes:
        name, package = code["learner"], code["package"]
        if package not in packages and name not in own_tests.named():
            raise BadInput(f"test: {name!r} is not valid; expected one of a package that is allowed: --allow {package}")
    of_tests = {code["package"] for code in codes}
    if unused := next((extra for extra in packages if extra not in of_tests), None):
        wanted = ", ".join(sorted(of_tests)) or "none, since no test is of another package"
        raise BadInput(f"--allow: {unused!r} is not valid; expected {wanted}")
    return cells


def _write_rows(file: str, sets: dict[tuple[str, ...], list["Replay"]]) -> None:
    import pyarrow as pa
    from pyarrow import csv

    if len(sets) > 1:
        raise BadInput(f"--rows: {file} is not valid; expected one test set, not {len(sets)} (--only)")
    (group,) = sets.values()
    content = pa.BufferOutputStream()
    csv.write_csv(group[0].rows, content)
    write_whole(file, content.getvalue().to_pybytes())


def _lines(group: list["Replay"], trial: int) -> list[str]:
    """Return the rows of a test set, and the answer of each test to it."""
    from sigstats._common.tabular import in_columns

    first, rows = group[0].cell.subject, group[0].rows
    cells = [
        rows.column_names,
        *([_value(value) for value in row.values()] for row in rows.slice(0, _MOST).to_pylist()),
    ]
    more = [f"and {rows.num_rows - _MOST:,} more (--rows FILE has all)"] if rows.num_rows > _MOST else []
    tests = [value.cell.subject["test"] for value in group]
    width = max(map(len, tests))
    answers = [f"{test:{width}}  {_verdict(value)}" for test, value in zip(tests, group, strict=True)]
    where = ", ".join(filter(None, (first["dataset"], first.get("slice"))))
    body = (*in_columns(cells, left=0), *more, *answers)
    return [f"test set {trial} of {where}, {int(first['n']):,} rows", *(f"  {line}" for line in body)]


def _verdict(replay: "Replay") -> str:
    stored = "not stored" if replay.stored is None else f"stored: {_values(replay.stored)}"
    if replay.answer is None:
        return f"fails ({replay.problem})  {stored}"
    return f"{_values(replay.answer)}  {'as stored' if replay.same else stored}"


def _values(answer: "Mapping[str, Any]") -> str:
    given = {name: value for name, value in answer.items() if name != "replicate" and value is not None}
    return ", ".join(f"{name} {_value(value)}" for name, value in given.items())


def _value(value: Any) -> str:
    from sigstats._common.numerals import significant

    if isinstance(value, float):
        return significant(value)
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
