"""Messages about options of the command line, worded for callers of Python functions."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

_OPTION = re.compile(r"--([a-z-]+) (?:'([^']*)'|([\w/@-]+(?:\.\w+)*))")
#: The arguments of the options that have another name.
ARGUMENTS = {"group": "groups", "measure": "measures", "slice": "slices"}


@contextmanager
def as_arguments() -> Iterator[None]:
    """Name arguments of functions in place of options of the command line in every ValueError."""
    try:
        yield
    except ValueError as error:
        raise ValueError(in_arguments(str(error)).replace("this file", "this frame")) from None


def in_arguments(message: str) -> str:
    """A message, in one line, with options of the command line replaced by arguments of a function."""
    named = message.replace("--score-range LOW HIGH", "score_range=(LOW, HIGH)").replace("--classes", "classes=[...]")
    named = named.replace("--unpaired", "sigstats.unpaired_test")
    named = _OPTION.sub(
        lambda value: f"{ARGUMENTS.get(value[1], value[1]).replace('-', '_')}={(value[2] or value[3])!r}", named
    )
    named = named.replace("--by-position", "by_position=True")
    if lacking := re.search(r"column ('.+') was not found, nor in", named):
        named += f"; read_predictions(..., slices=[{lacking[1]}]) reads it too"
    return " ".join(re.sub("='(COLUMN|NAME|FILE)'", r"=\1", named).split())
