"""Summarise finished or interrupted studies again and write their reports, without running anything."""

import argparse
import contextlib
from typing import TYPE_CHECKING

from sigstats._common.messages import printable

from ..errors import DONE, BadInput
from ._files import refuse_overwriting, write_text
from ._options import output_read, usable

if TYPE_CHECKING:
    from sigstats.tasks.storage.store import Store

GROUP = "studies"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``sigstats report``."""
    parser.add_argument("output", metavar="OUTPUT", nargs="+", help="folder or fsspec URL of the results")
    parser.add_argument("--report", metavar="FILE", help="also write a page on regression studies of several models")


def run(options: argparse.Namespace) -> int:
    """Write the summary and the report of each output, and the page over all of them."""
    refuse_overwriting(options, [], "report")
    for output in options.output:
        _report(output)
    if options.report is not None:
        from ..regression.page import models_page

        write_text(options.report, models_page(options.output, options.report))
        print(printable(f"report: {options.report}"))  # noqa: T201
    return DONE


def _report(output: str) -> None:
    from sigstats._common.numerals import count_of
    from sigstats.tasks.results import Results
    from sigstats.tasks.storage.store import Store
    from sigstats.tasks.summary import lost

    from ..report.evidence import Evidence
    from ..report.problems import how_to_finish
    from ..running.workers import changes_of

    store = Store(usable(output))
    with output_read(output, "no study with a summary", used="read or written"):
        if cells := lost(store):
            raise BadInput(
                f"OUTPUT: the replicates of {count_of(len(cells), 'computation')} were deleted, so a new "
                "report.html would lack figures and tables; run the study again to compute them"
            )
        report, missing = _written(store), ""
        with contextlib.suppress(FileNotFoundError):  # a study without cells lacks none
            missing = how_to_finish(Evidence(Results(store)))
    if changes := str(changes_of(store)):
        print(f"over all runs of this output: {changes}")  # noqa: T201
    if missing:
        print(printable(f"not complete: {missing}"))  # noqa: T201
    print(printable(f"report: {report}"))  # noqa: T201


def _written(store: "Store") -> str:
    from sigstats.tasks.storage.seal import Damaged
    from sigstats.tasks.summary import is_current

    from ..report.page import write_report

    study = store.read_json("study.json").get("study")
    kind = study.get("kind") if isinstance(study, dict) else None
    if kind is not None and is_current(store):
        return write_report(store)
    from ..kinds import KINDS, kind_named  # what makes studies is not needed above

    if kind not in KINDS:
        raise Damaged("study.json names no kind of study")
    report: str = kind_named(kind).report(store)
    return report
