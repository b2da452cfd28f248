"""The commands. A new command is one new module of this folder.

The module's docstring is its help; its first line is shown in the list of commands.
"""

import argparse
from typing import Protocol

from sigstats._common.registry import Registry


class Command(Protocol):
    """The functions that a module of this folder must have."""

    def add_arguments(self, parser: argparse.ArgumentParser, /) -> None:
        """Add the arguments of the command to its parser."""

    def run(self, options: argparse.Namespace, /) -> int:
        """Run the command with parsed arguments and return its exit code."""


REGISTRY = Registry(__name__, Command, what="command")
