"""Run a study, from its study file to its report.

Stored replicates are not computed again: an interrupted run continues where it stopped.
"""

import argparse
import threading
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from ..errors import BadInput, complain
from . import option
from ._options import add_allow, add_output, add_study, as_options, output_of, study_of

if TYPE_CHECKING:
    from ..running.result import StudyResult

GROUP = "studies"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``sigstats run``."""
    add_study(parser)
    add_output(parser)
    text = "serial, local, tcp://HOST:PORT of a Dask scheduler, or a cluster file (default: "
    text += "this process, plus local workers once processors are idle)"
    option(parser, "--cluster", "WHERE", text)
    parser.add_argument("--workers", type=int, metavar="N", help="number of local worker processes")
    add_allow(parser)
    text = "compute part K of N (from 1) on a shared output, as in an array job; finish with a run without --part"
    option(parser, "--part", "K/N", text)
    parser.add_argument(
        "--log-format", choices=("text", "json"), default="text", help="json: one object per line on standard error"
    )
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")


def run(options: argparse.Namespace) -> int:
    """Run the study."""
    from ..orchestration import server_configured, set_up
    from ..running.interrupt import Stopped, end_at_once, leave, run_interruptibly
    from ..running.kind import kind_of
    from ..running.options import run_options
    from ..running.progress import Display

    if options.workers is not None and options.workers < 1:
        raise BadInput(f"--workers: {options.workers} is not valid; expected 1 or more")
    study, base = study_of(options)
    kind = kind_of(study)
    with as_options():
        how = run_options(
            study, base, in_cells=kind.has_cells, output=output_of(options, study), cluster=options.cluster,
            workers=options.workers, allow=options.allow, part=options.part,
        )  # fmt: skip
    display = Display(quiet=options.quiet, log_format=options.log_format, study=study.name)

    def work(stop: threading.Event) -> "StudyResult":
        chosen = replace(how, display=display, stop=stop)
        if chosen.part is not None or not server_configured():
            return kind.run(study, chosen)
        set_up()
        from ..orchestration.flow_run import run_as_flow

        return run_as_flow(study, chosen, partial(kind.run, study))

    try:
        result = run_interruptibly(work)
    except Stopped as error:
        text = f"interrupted; run the same command to continue from {how.output}"
        end_at_once(complain(text, 128 + error.signal, options))
    result.tell(display)
    return leave(result.code)
