"""Print the script by which a shell completes commands, options and files.

In ~/.bashrc: eval "$(sigstats completion bash)"; the same with zsh in ~/.zshrc, after compinit; for fish, write the
script to ~/.config/fish/completions/sigstats.fish.
"""

import argparse

from ..errors import DONE

GROUP = "this machine"

#: What an argument of this name in the help is completed with.
_FILES = {"FILE", "BASELINE", "CANDIDATE", "STUDY", "OUTPUT", "DIR", "DIR_OR_URL", "WHERE"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``sigstats completion``."""
    parser.add_argument("shell", choices=("bash", "fish", "zsh"), help="the shell that completes")


def run(options: argparse.Namespace) -> int:
    """Print the script of the shell."""
    import shtab

    from . import whole_parsers

    program, of_commands = whole_parsers()
    for parser in of_commands.values():
        parser.description = (parser.description or "").partition("\n")[0]
        for action in parser._actions:
            if action.metavar in _FILES:
                action.complete = shtab.FILE  # type: ignore[attr-defined]
    print(shtab.complete(program, shell=options.shell))  # noqa: T201
    return DONE
