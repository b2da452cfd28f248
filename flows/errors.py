"""The exit codes of the program, the error for bad input, and messages on why a command ends."""

import datetime
import json
import sys
from contextlib import AbstractContextManager
from typing import Any

from sigstats._common.credentials import without_credentials
from sigstats._common.messages import printable, rephrased

DONE, REGRESSION, BAD_INPUT, FAILED = 0, 1, 2, 3


class BadInput(Exception):
    """One line with the field, the value and a correct value. Nothing was written."""


def file_errors(what: str) -> AbstractContextManager[None]:
    """Report in one line that the system refuses a file; `what`: the file, and "cannot be read" or "written"."""
    return rephrased(lambda text: f"{what} ({text})", BadInput, OSError)


def complain(text: str, code: int, options: Any) -> int:
    """Print in one line why a command ends, as JSON if `options` ask for JSON logs; return the exit code."""
    line = without_credentials(printable(" ".join(text.split())))
    if getattr(options, "log_format", "text") == "json":
        print(json.dumps({"time": now(), "event": "error", "text": line, "code": code}), file=sys.stderr)  # noqa: T201
    else:
        print(f"sigstats: {line}", file=sys.stderr)  # noqa: T201
    return code


def now() -> str:
    """Return the time of an object of a log in JSON."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
