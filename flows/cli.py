"""The program ``sigstats``: one command a file in `sigstats.flows.commands`."""

import argparse
import errno
import logging
import os
import re
import sys
import traceback
from collections.abc import Sequence
from typing import Any, NoReturn

from sigstats._common.extras import MissingExtra
from sigstats._common.messages import did_you_mean, hint, printable, shown

from . import commands
from .config.credentials import refuse_credentials, without_credentials
from .errors import BAD_INPUT, FAILED, BadInput


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, in which control characters and credentials of arguments are replaced."""

    def error(self, message: str) -> NoReturn:
        """Print what is wrong with the arguments, and exit."""
        self.exit(BAD_INPUT, f"{self.prog}: {without_credentials(printable(message))} (see {self.prog} --help)\n")


class _CommandParser(_Parser):
    """The parser of one command. Its arguments are added when it is used, since those of some import NumPy."""

    def __init__(self, *, command: commands.Command, **options: Any) -> None:
        super().__init__(description=command.__doc__, **options)
        self._command: commands.Command | None = command

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse the arguments of the command, and show its help if they ask for it."""
        command, self._command = self._command, None
        if command is not None:
            try:
                command.add_arguments(self)
            except SystemExit as error:  # raised by a broken dependency, not by this parser
                raise ImportError(f"SystemExit: {error}") from None
        options, unknown = super().parse_known_args(args, namespace)
        files = next((each for each in self._get_positional_actions() if each.nargs in ("+", "*")), None)
        if files is not None and not any(each.startswith("-") for each in unknown):  # those that follow an option
            setattr(options, files.dest, [*getattr(options, files.dest), *unknown])
            unknown = []
        if unknown:
            option, _, _ = unknown[0].partition("=")
            known = [name for name in self._option_string_actions if name.startswith("--")]
            near = did_you_mean(option, known) if option.startswith("-") else ""
            self.error(f"{shown(option)} is not an argument{near}")
        return options, unknown


def parser(only: str | None = None) -> argparse.ArgumentParser:
    """The parser of the program, or of one command alone; the help of a command is the docstring of its module."""
    program = _Parser(
        prog="sigstats",
        description="Tests of classifiers: exact, Monte-Carlo, bootstrap and permutation, from one table to a cluster.",
        epilog="Exit codes: 0 done, 1 a regression was found, 2 bad input, 3 the run failed, 128+N ended by signal N.",
    )
    program.add_argument("--version", action="store_true", help="print the version and exit")
    program.add_argument("--debug", action="store_true", help="show the traceback of an error that is no bad input")
    subparsers = program.add_subparsers(
        title="commands", metavar="COMMAND", dest="command", parser_class=_CommandParser
    )
    for name in commands.REGISTRY.names() if only is None else [only]:
        module = commands.REGISTRY.module(name)
        summary = (module.__doc__ or "").partition("\n")[0].rstrip(".")  # python -OO takes docstrings away
        subparsers.add_parser(name, help=summary[:1].lower() + summary[1:], command=module)
    return program


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    names = commands.REGISTRY.names()
    command = next((each for each in arguments if not each.startswith("-")), None)
    # The modules of the other commands are imported for the list of them alone.
    program = parser(command if command in names and arguments[0] in (command, "--debug") else None)
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
        refuse_credentials(vars(options))
        return commands.REGISTRY.module(options.command).run(options)
    except (BadInput, MissingExtra) as error:
        return _complain(str(error), BAD_INPUT)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader of the output has closed it
        return FAILED
    except KeyboardInterrupt:
        return _complain("interrupted", 130)
    except BaseException as error:  # an exception class of foreign code would exit with the code of a regression
        logging.getLogger("distributed.process").setLevel(logging.CRITICAL)  # it tells what it ends after this process
        if options.debug:
            # And not raised: Python's exit code would be that of a regression.
            print(printable(traceback.format_exc(), keep="\n"), end="", file=sys.stderr)  # noqa: T201
            return FAILED
        cause: BaseException = error
        while isinstance(cause, ImportError) and cause.__cause__ is not None:  # NumPy's has pages of advice
            cause = cause.__cause__
        return _complain(f"{type(cause).__name__}: {cause}{_remedy(cause)} (--debug shows where)", FAILED)


#: What the system says where it gives no more of something, by number and in words of libraries, and what to do.
_SHORT: tuple[tuple[set[int], str, str], ...] = (
    ({errno.ENOSPC, errno.EDQUOT}, "No space left", "make room there; the same command goes on from what is stored"),
    ({errno.EMFILE}, "Too many open files", "raise the limit (ulimit -n)"),
    (
        {errno.ENOMEM, errno.EAGAIN},
        "start new thread|map segment|allocate memory|malloc|Cluster failed to start",
        "free memory, or raise the limits of memory and processes (ulimit -v, ulimit -u, a control group)",
    ),
)


def _remedy(error: BaseException) -> str:
    """What to do where the system gives no more room, files, memory or threads; empty for other errors."""
    number = errno.ENOMEM if isinstance(error, MemoryError) else getattr(error, "errno", None)
    for numbers, words, remedy in _SHORT:
        if number in numbers or re.search(words, str(error)):
            return f"; {remedy}"
    return ""


def _complain(text: str, code: int) -> int:
    print(f"sigstats: {without_credentials(printable(' '.join(text.split())))}", file=sys.stderr)  # noqa: T201
    return code
