"""List the ready studies, or print the file of one as a start for your own.

`sigstats run NAME` runs one. Relative paths of data start from the working folder: `sigstats studies --fetch NAME`
fetches the data of a study there, by scikit-learn's downloaders (OpenML, forest cover), and names the files that you
must get elsewhere.
"""

import argparse

from ..errors import DONE
from ._files import write_whole
from ._options import as_options

GROUP = "studies"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``sigstats studies``."""
    parser.add_argument("name", nargs="?", metavar="NAME", help="print this study file")
    parser.add_argument("--fetch", metavar="NAME", help="fetch the data of this study into the working folder")


def run(options: argparse.Namespace) -> int:
    """Print the list, or a file, or the data that were fetched."""
    from sigstats._common.validation import as_choice

    from ..config.toml_files import ready_studies, summary_of
    from ..errors import BadInput

    if options.fetch is not None and options.name is not None:
        raise BadInput(f"NAME: {options.name} is not valid with --fetch {options.fetch}; use one of them")
    if options.fetch is not None:
        from ..config.fetch import fetch

        for line in fetch(options.fetch, write_whole):
            print(line, flush=True)  # noqa: T201
        return DONE
    ready = ready_studies()
    if options.name is None:
        width = max(map(len, ready))
        for name, path in ready.items():
            print(f"{name:{width}}  {summary_of(path)}")  # noqa: T201
        return DONE
    with as_options():
        path = ready[as_choice(options.name, "NAME", list(ready))]
    print(path.read_text(encoding="utf-8"), end="")  # noqa: T201
    return DONE
