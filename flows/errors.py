"""The exit codes of the program, the error for bad input, and how it says why it ends."""

import sys

from sigstats._common.credentials import without_credentials
from sigstats._common.messages import printable

DONE, REGRESSION, BAD_INPUT, FAILED = 0, 1, 2, 3


class BadInput(Exception):
    """One line with the field, the value and a correct value. Nothing was written."""


def complain(text: str, code: int) -> int:
    """Print why a command ends in one line; return the exit code."""
    print(f"sigstats: {without_credentials(printable(' '.join(text.split())))}", file=sys.stderr)  # noqa: T201
    return code
