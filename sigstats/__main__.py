"""The program, as ``sigstats`` and as ``python -m sigstats``.

This module imports nothing but Python's own library until it can tell what goes wrong: Python ends with exit code 1
after a traceback, and that code means that a regression was found.
"""

import atexit
import contextlib
import os
import sys


def program() -> int:
    """Run the program as a process of its own, which ends with the exit code whatever threads are still at work.

    A library's thread that reads a file ahead would end the process with SIGABRT when C++ takes its objects apart.
    """
    ended: list[int] = []

    def leave() -> None:
        if ended:
            for stream in (sys.stdout, sys.stderr):
                with contextlib.suppress(OSError, ValueError, AttributeError):  # closed, or never there
                    stream.flush()
            os._exit(ended[0])

    atexit.register(leave)  # the first to be registered is the last to be called
    ended.append(main())
    return ended[0]


def main() -> int:
    """Run the program; a start that fails is one line and exit code 3."""
    try:
        from sigstats.flows.cli import main as run
    except KeyboardInterrupt:
        return _complain("interrupted", 130)
    except BaseException as error:  # a broken dependency may raise anything, SystemExit too
        return _cannot_start(error)
    try:
        return run()
    except Exception as error:  # of a dependency that the arguments of a command need
        return _cannot_start(error)


def _cannot_start(error: BaseException) -> int:
    while error.__cause__ is not None:
        error = error.__cause__
    return _complain(f"cannot start: {type(error).__name__}: {error}", 3)


def _complain(text: str, code: int) -> int:
    print(f"sigstats: {' '.join(text.split())[:500]}", file=sys.stderr)  # noqa: T201
    return code


if __name__ == "__main__":
    sys.exit(program())
