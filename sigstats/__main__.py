"""The program, as ``sigstats`` and as ``python -m sigstats``.

This module imports nothing but Python's own library until it can tell what goes wrong: Python ends with exit code 1
after a traceback, and that code means that a regression was found.
"""

import sys


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
    sys.exit(main())
