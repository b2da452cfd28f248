"""The program ``sigstats``: run a command, or print in one line why it cannot run."""

import errno
import logging
import os
import re
import sys
import traceback
from collections.abc import Sequence

from sigstats._common.credentials import refuse_credentials
from sigstats._common.extras import MissingExtra
from sigstats._common.messages import hint, printable, shown

from . import commands
from .errors import BAD_INPUT, FAILED, BadInput, complain


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    names = commands.REGISTRY.names()
    command = next((argument for argument in arguments if not argument.startswith("-")), None)
    # The modules of other commands are imported only to list them.
    program = commands.parser(command if command in names and arguments[0] in (command, "--debug") else None)
    if command is not None and command not in names:
        program.error(f"{shown(command)} is not a command; {hint(command, names)}")
    options = program.parse_args(arguments)
    if options.version:
        import importlib.metadata

        print(f"sigstats {importlib.metadata.version('sigstats')}")  # noqa: T201
        return 0
    if options.command is None:
        program.print_help(sys.stderr)
        return BAD_INPUT
    try:
        refuse_credentials(vars(options), error=BadInput)
        return commands.REGISTRY.module(options.command).run(options)
    except (BadInput, MissingExtra) as error:
        return complain(str(error), BAD_INPUT, options)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader of the output has closed it
        return FAILED
    except KeyboardInterrupt:
        return complain("interrupted", 130, options)
    except BaseException as error:  # an exception class of foreign code would exit with the code of a regression
        logging.getLogger("distributed.process").setLevel(logging.CRITICAL)  # it tells what it ends after this process
        if options.debug:
            # And not raised: Python's exit code would be that of a regression.
            print(printable(traceback.format_exc(), keep="\n"), end="", file=sys.stderr)  # noqa: T201
            return FAILED
        if isinstance(error, OSError) and error.errno == errno.ELOOP:  # a link in an output, which is not followed
            return complain(f"--output: {error.strerror}", BAD_INPUT, options)
        cause: BaseException = error
        while isinstance(cause, ImportError) and cause.__cause__ is not None:  # NumPy's has pages of advice
            cause = cause.__cause__
        problem = f"{type(cause).__name__}: {cause}".removesuffix(": ")
        return complain(f"{problem}{_remedy(cause)} (--debug shows where)", FAILED, options)


#: Errors of the system and of libraries if a resource is exhausted, and the advice for each.
_EXHAUSTED: tuple[tuple[set[int], str, str], ...] = (
    ({errno.ENOSPC, errno.EDQUOT}, "No space left", "free some space there, and run the same command to continue"),
    ({errno.EMFILE}, "Too many open files", "raise the limit (ulimit -n)"),
    (
        {errno.ENOMEM, errno.EAGAIN},
        "start new thread|map segment|allocate memory|malloc|Cluster failed to start",
        "free memory, or raise the limits of memory and processes (ulimit -v, ulimit -u, a control group)",
    ),
    (set(), "No usable temporary directory", "name a folder that can be written as TMPDIR"),
)


def _remedy(error: BaseException) -> str:
    """Return advice if the system is out of disk space, files, memory or threads; empty for other errors."""
    number = errno.ENOMEM if isinstance(error, MemoryError) else getattr(error, "errno", None)
    for numbers, words, remedy in _EXHAUSTED:
        if number in numbers or re.search(words, str(error)):
            return f"; {remedy}"
    return ""
