"""Show the parts of a study (its cells), its cost and its size, and refuse a study that cannot run.

Times come from replicates that are computed here and discarded; --no-timing skips this.
"""

import argparse

from sigstats._common.messages import printable

from ..errors import DONE
from ._options import add_allow, add_study, as_options, output_of, study_of

GROUP = "studies"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``sigstats plan``."""
    add_study(parser)
    parser.add_argument("--output", metavar="DIR_OR_URL", help="results whose replicates count as done")
    add_allow(parser)
    parser.add_argument("--no-timing", action="store_true", help="measure no times")


def run(options: argparse.Namespace) -> int:
    """Print the plan."""
    from ..running.kind import kind_of
    from ..running.options import run_options

    study, base = study_of(options)
    with as_options():
        how = run_options(study, base, in_cells=True, output=output_of(options, study), allow=options.allow)
    text = kind_of(study).plan(study, how, timing=not options.no_timing)
    print(printable(text, keep="\n"))  # noqa: T201
    return DONE
