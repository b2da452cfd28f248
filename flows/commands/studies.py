"""List the ready studies, or print the file of one, from which to make your own.

`sigstats run NAME` runs one. The files of those that need data say which, and where to put them: relative paths start
from the working folder.
"""

import argparse

from ..errors import DONE

GROUP = "studies"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``sigstats studies``."""
    parser.add_argument("name", nargs="?", metavar="NAME", help="print the file of this study")


def run(options: argparse.Namespace) -> int:
    """Print the list, or a file."""
    from sigstats._common.validation import as_choice

    from ..config.ready import ready_studies, summary_of
    from ..errors import BadInput

    ready = ready_studies()
    if options.name is None:
        width = max(map(len, ready))
        for name, path in ready.items():
            print(f"{name:{width}}  {summary_of(path)}")  # noqa: T201
        return DONE
    try:
        path = ready[as_choice(options.name, "NAME", list(ready))]
    except ValueError as error:
        raise BadInput(str(error)) from None
    print(path.read_text(encoding="utf-8"), end="")  # noqa: T201
    return DONE
