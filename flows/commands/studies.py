"""List the ready studies, or print the file of one, to begin a study of one's own with.

`sigstats run NAME` runs one. Those that need data say in their files which, and where to put them: relative paths start
in the working folder.
"""

import argparse

from ..errors import DONE


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``sigstats studies``."""
    parser.add_argument("name", nargs="?", metavar="NAME", help="print the file of this one")


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
