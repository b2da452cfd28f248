"""Run a study, from its study file to its report.

What the output holds already is taken up: a run that was interrupted goes on where it was.
"""

import argparse
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import DONE, FAILED, REGRESSION, BadInput
from ._options import add_study, output_of, study_of, workers_of

if TYPE_CHECKING:
    from ..studies.regression import RegressionStudy


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``sigstats run``."""
    add_study(parser)
    parser.add_argument("--output", metavar="DIR_OR_URL", help="where results go (default: results/NAME)")
    parser.add_argument(
        "--cluster",
        metavar="WHERE",
        help="serial, local, tcp://HOST:PORT of a Dask scheduler, or a cluster file (default: local; serial if small)",
    )
    parser.add_argument("--workers", type=int, metavar="N", help="worker processes of a local cluster")
    parser.add_argument(
        "--log-format", choices=("text", "json"), default="text", help="json: an object a line on standard error"
    )
    parser.add_argument("--quiet", action="store_true", help="say nothing unless something is wrong")


def run(options: argparse.Namespace) -> int:
    """Run the study."""
    from ..config.cluster import load_cluster
    from ..running.interrupt import Stopped, end_at_once, leave, run_interruptibly
    from ..running.progress import Display, duration
    from ..running.study import Finished, run_study
    from ..studies.regression import RegressionStudy

    workers = workers_of(options)
    study = study_of(options)
    if isinstance(study, RegressionStudy):
        return _evaluate(study, options)
    named = options.cluster is not None or workers is not None
    cluster = load_cluster(options.cluster, workers) if named else None
    output = output_of(options, study)
    display = Display(quiet=options.quiet, log_format=options.log_format, study=study.name)
    display.say(f"{study.name}: {study.question}")
    started = time.monotonic()

    def work(stop: threading.Event) -> Finished:
        return run_study(
            study, base=Path(options.study).parent, output=output, cluster=cluster, display=display, stop=stop
        )

    try:
        finished = run_interruptibly(work)
    except Stopped as error:
        print(f"sigstats: interrupted; the same command goes on from {output}", file=sys.stderr)  # noqa: T201
        end_at_once(128 + error.signal)
    for outcome in finished.failed:
        first = outcome.failures[0] if outcome.failures else None
        about = ", ".join(outcome.cell.subject.values())
        reason = f"{first.error}: {first.message}" if first else "replicates are missing"
        display.event("failed", cell=outcome.cell.name, error=reason)
        print(f"sigstats: failed: {about}: {reason}", file=sys.stderr)  # noqa: T201
    rejected = sum(row.decision == "reject" for row in finished.rows)
    display.say(
        f"{len(finished.plan.cells)} cells, {finished.replicates:,} replicates, {len(finished.rows)} hypotheses, "
        f"{rejected} rejected at {finished.plan.alpha:g}, in {duration(time.monotonic() - started)}"
    )
    display.say(f"report: {finished.report}")
    display.event(
        "end",
        cells=len(finished.plan.cells),
        failed=len(finished.failed),
        replicates=finished.replicates,
        hypotheses=len(finished.rows),
        rejected=rejected,
        seconds=round(time.monotonic() - started, 3),
        report=finished.report,
    )
    return leave(FAILED if finished.failed else DONE)


def _evaluate(study: "RegressionStudy", options: argparse.Namespace) -> int:
    """A regression study: done in this process, where Prefect follows if it has a server."""
    from ..comparison.sentences import TITLES, reasons
    from ..comparison.text import show
    from ..orchestration.environment import server_configured, set_up
    from ..regression.evaluate import evaluate

    for name in ("cluster", "workers"):
        if getattr(options, name) is not None:
            raise BadInput(f"--{name}: {getattr(options, name)} is not valid; a regression study runs in this process")
    if options.log_format != "text":
        raise BadInput(f"--log-format: {options.log_format} is not valid; a regression study has no log")
    base, output = Path(options.study).parent, output_of(options, study)
    if server_configured():
        set_up(output)
        from ..orchestration.deployment import evaluate_under_prefect

        found = evaluate_under_prefect(study, base=base, output=output)
    else:
        found = evaluate(study, base=base, output=output)
    failed = found.comparison.verdict == "fail"
    if options.quiet and failed:
        for line in (f"{study.name}: {TITLES['fail']}", *(f"  {reason}" for reason in reasons(found.comparison))):
            print(line, file=sys.stderr)  # noqa: T201
    if not options.quiet:
        about = found.record.evaluation
        show(found.comparison, about.baseline, about.candidate)
        if not found.appended:
            print(f"nothing new: these files were compared on {about.evaluated_at:%Y-%m-%d %H:%M} UTC")  # noqa: T201
        print(f"look {about.look} at these rows, level {about.level:.3g}")  # noqa: T201
        print(f"report: {found.report}")  # noqa: T201
    for line in found.damaged:
        print(f"note: left out: {line}", file=sys.stderr)  # noqa: T201
    return REGRESSION if failed else DONE
