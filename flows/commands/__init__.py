"""The program ``sigstats``: its commands and their parsers. To add a command, add a module to this folder.

Its docstring is the help; the first line is shown in the list of commands. `main` runs a command, or prints in one line
why it cannot run.
"""

import argparse
import errno
import logging
import os
import re
import sys
import traceback
from collections.abc import Sequence
from typing import Any, NoReturn, Protocol

from sigstats._common.credentials import refuse_credentials, without_credentials
from sigstats._common.extras import MissingExtra
from sigstats._common.messages import did_you_mean, hint, printable, shown
from sigstats._common.registry import Registry

from ..errors import BAD_INPUT, FAILED, BadInput, complain


class Command(Protocol):
    """The interface of the modules of this folder."""

    #: The heading above the command in the list of commands.
    GROUP: str

    def add_arguments(self, parser: argparse.ArgumentParser, /) -> None:
        """Add the arguments of the command to its parser."""

    def run(self, options: argparse.Namespace, /) -> int:
        """Run the command with parsed arguments and return its exit code."""


#: The headings of the list of commands, in their order.
GROUPS = ("files of predictions", "studies", "this machine")

REGISTRY = Registry(__name__, Command, what="command")


#: Messages of argparse about a value, and those in their place.
_IN_OUR_WORDS = (
    (
        r"^argument (\S+): invalid (?:float|fraction) value: (.*)",
        r"\1: \2 is not valid; expected a number, as in 0.05",
    ),
    (r"^argument (\S+): invalid int value: (.*)", r"\1: \2 is not valid; expected a whole number"),
    (r"^argument (\S+): invalid choice: (.*) \(choose from (.*)\)", r"\1: \2 is not valid; expected one of \3"),
    (r"^argument (\S+): expected one argument", r"\1: has no value"),
)


class _Once(argparse._StoreAction):
    """An option with one value; a different second value is an error."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: Any, values: Any, option_string: Any = None) -> None:
        given = getattr(namespace, self.dest, self.default)
        if self.option_strings and given is not self.default and given != values:
            parser.error(f"{option_string}: {shown(given)} and {shown(values)} are given; expected one value")
        super().__call__(parser, namespace, values, option_string)


class _Parser(argparse.ArgumentParser):
    """A parser with errors of one line, in which control characters and credentials of arguments are masked."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        for name in (None, "store"):
            self.register("action", name, _Once)
        self._negative_number_matcher = re.compile(r"-\.?\d")  # -1pt and -5% are values as well, no options

    def error(self, message: str) -> NoReturn:
        """Print what is wrong with the arguments, and exit."""
        for pattern, replacement in _IN_OUR_WORDS:
            message = re.sub(pattern, replacement, message)
        self.exit(BAD_INPUT, f"{self.prog}: {without_credentials(printable(message))} (see {self.prog} --help)\n")


class _Program(_Parser):
    """The parser of the program, whose help lists the commands by topic."""

    def format_help(self) -> str:
        """Return the help: usage, the commands under the heading of their group, and the options."""
        formatter = self._get_formatter()
        formatter.add_usage(self.usage, self._actions, self._mutually_exclusive_groups)
        formatter.add_text(self.description)
        listed = _commands_of(self)._choices_actions
        groups = {action.dest: REGISTRY.module(action.dest).GROUP for action in listed}
        for group in dict.fromkeys((*GROUPS, *groups.values())):
            formatter.start_section(group)
            formatter.add_arguments([action for action in listed if groups[action.dest] == group])
            formatter.end_section()
        formatter.start_section("options")
        formatter.add_arguments(self._get_optional_actions())
        formatter.end_section()
        formatter.add_text(self.epilog)
        return formatter.format_help()


class _CommandParser(_Parser):
    """The parser of one command. Its arguments are added when it is used, since those of some import NumPy."""

    def __init__(self, *, command: Command, **options: Any) -> None:
        super().__init__(description=command.__doc__, epilog="The words: docs/glossary.md.", **options)
        self._command: Command | None = command

    def complete(self) -> "_CommandParser":
        """Return this parser with the arguments of its command."""
        command, self._command = self._command, None
        if command is not None:
            try:
                command.add_arguments(self)
            except SystemExit as error:  # raised by a broken dependency, not by this parser
                raise ImportError(f"SystemExit: {error}") from None
        return self

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse the arguments of the command, and show its help if they ask for it."""
        self.complete()
        options, unknown = super().parse_known_args(args, namespace)
        files = next((action for action in self._get_positional_actions() if action.nargs in ("+", "*")), None)
        # argparse gives a positional only the first run of values; files after an option are in `unknown`.
        if files is not None and not any(value.startswith("-") for value in unknown):
            setattr(options, files.dest, [*getattr(options, files.dest), *unknown])
            unknown = []
        if unknown:
            option, _, _ = unknown[0].partition("=")
            known = [name[2:] for name in self._option_string_actions if name.startswith("--")]
            # The last step puts the dashes back into the suggestion.
            near = did_you_mean(option.lstrip("-"), known).replace("'", "'--", 1) if option.startswith("-") else ""
            self.error(f"{shown(option)} is not an argument{near}")
        return options, unknown


def option(group: argparse._ActionsContainer, name: str, metavar: str, text: str) -> None:
    """Add an option with a value; None by default."""
    group.add_argument(name, metavar=metavar, help=text)


def repeatable(group: argparse._ActionsContainer, name: str, metavar: str, text: str) -> None:
    """Add an option that may be repeated; its value is a list."""
    group.add_argument(name, action="append", default=[], metavar=metavar, help=text)


def parser(only: str | None = None) -> argparse.ArgumentParser:
    """The parser of the program, or only of one command; the help of a command is the docstring of its module."""
    program = _Program(
        prog="sigstats",
        description="Tests of classifiers: exact, Monte-Carlo, bootstrap and permutation, from one table to a cluster.",
        epilog="Exit codes: 0 done, 1 a regression was found, 2 bad input, 3 the run failed, 128+N ended by signal N. "
        "The words of reports: docs/glossary.md, and the end of each report.",
    )
    program.add_argument("--version", action="store_true", help="print the version and exit")
    program.add_argument("--debug", action="store_true", help="show the traceback of unexpected errors")
    subparsers = program.add_subparsers(metavar="COMMAND", dest="command", parser_class=_CommandParser)
    for name in REGISTRY.names() if only is None else [only]:
        module = REGISTRY.module(name)
        summary = (module.__doc__ or "").partition("\n")[0].rstrip(".")  # python -OO takes docstrings away
        subparsers.add_parser(name, help=summary[:1].lower() + summary[1:], command=module)
    return program


def whole_parsers() -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    """Return the parser of the program, and that of each command with its arguments."""
    program = parser()
    return program, {name: command.complete() for name, command in _commands_of(program).choices.items()}


def _commands_of(program: argparse.ArgumentParser) -> "argparse._SubParsersAction[_CommandParser]":
    (command,) = program._get_positional_actions()
    assert isinstance(command, argparse._SubParsersAction)
    return command


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    names = REGISTRY.names()
    command = next((argument for argument in arguments if not argument.startswith("-")), None)
    # The modules of other commands are imported only to list them.
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
        refuse_credentials(vars(options), error=BadInput)
        return REGISTRY.module(options.command).run(options)
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
