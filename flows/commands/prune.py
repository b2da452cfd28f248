"""Delete the parts of an output that are no longer needed, such as the replicates of a study whose report is final."""

import argparse

from ..errors import DONE, BadInput
from ._options import output_read, usable

GROUP = "studies"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``sigstats prune``."""
    parser.add_argument("output", metavar="OUTPUT", help="folder or fsspec URL of the results")
    parser.add_argument(
        "--keep", choices=["summary", "replicates"], required=True, help="largest part of the output that is kept"
    )


def run(options: argparse.Namespace) -> int:
    """Delete the folders, and print their names."""
    from sigstats.tasks.results import read_plan
    from sigstats.tasks.storage.files import Locked
    from sigstats.tasks.storage.store import Store
    from sigstats.tasks.summary import prune

    store = Store(usable(options.output))
    with output_read(options.output, "no study that is computed in cells", used="read or written"):
        read_plan(store)
        store.read_table("summary.parquet", kind="summary")
        try:
            deleted = prune(store, options.keep)
        except Locked as other:
            raise BadInput(f"OUTPUT: {other}; wait for it to end") from None
    print(f"deleted: {', '.join(deleted) or 'nothing'}")  # noqa: T201
    return DONE
