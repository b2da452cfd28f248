"""Write the replicates of a study as Parquet tables for pandas, polars, DuckDB and Spark: one per kind (fan-out)."""

import argparse

from sigstats._common.messages import printable, rephrased

from ..errors import DONE, BadInput, file_errors
from ._options import output_read, usable

GROUP = "studies"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``sigstats export``."""
    parser.add_argument("output", metavar="OUTPUT", help="folder or fsspec URL of the results")
    parser.add_argument(
        "--to", metavar="DIR_OR_URL", required=True, help="new or empty folder, which gets a subfolder per kind"
    )


def run(options: argparse.Namespace) -> int:
    """Write the tables."""
    from sigstats.tasks.results import Results, export
    from sigstats.tasks.storage.store import Store

    results = Results(Store(usable(options.output)))
    to = usable(options.to, "--to")
    with output_read(options.output, "no study that is computed in cells"):
        results.plan  # noqa: B018 (read before anything is written)
    written = file_errors(f"--to: {to} cannot be written")
    with written, rephrased("OUTPUT: ", BadInput, LookupError), rephrased("--to: ", BadInput):
        made = export(results, to)
    if made.incomplete:
        print(f"note: {len(made.incomplete)} cells are not complete and are left out")  # noqa: T201
    print(printable(f"{made.rows:,} rows in {made.files} files: {', '.join(made.fanouts)}"))  # noqa: T201
    for name in made.fanouts:
        print(printable(f"{to.rstrip('/')}/fanout={name}"))  # noqa: T201
    return DONE
