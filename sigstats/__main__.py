"""The program, as ``sigstats`` and as ``python -m sigstats``.

This module imports only Python's own library until it can report errors itself: after a traceback Python ends with exit
code 1, which means that a regression was found.
"""

import atexit
import codecs
import contextlib
import gc
import io
import os
import signal
import sys
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import Buffer


def program() -> int:
    """Run the program as a separate process, which ends with the exit code even if other threads are still at work.

    A library's thread that reads a file ahead would end the process with SIGABRT when C++ destroys its objects.
    """
    ended: list[int] = []

    def leave() -> None:
        if ended:
            for stream in (sys.stdout, sys.stderr):
                with contextlib.suppress(OSError, ValueError, AttributeError):  # closed, or never there
                    stream.flush()
            os._exit(ended[0])

    gc.set_threshold(50_000, 20, 50)  # most of what a command makes lasts to its end: to look for garbage finds little
    os.environ.setdefault("PYTHONSAFEPATH", "1")  # no process that this one starts imports files of the working folder
    _mend_streams()
    signal.signal(signal.SIGINT, _interrupt)
    atexit.register(leave)  # the first to be registered is the last to be called
    ended.append(main())
    return ended[0]


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt at Ctrl-C, except during an import, when the process ends.

    Otherwise the module, or its importer, would mistake the error for one of its own, and report or ignore it.
    """
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            os._exit(_complain("interrupted", 128 + number))
        frame = frame.f_back
    raise KeyboardInterrupt


#: ASCII for characters of the program's output that the encoding lacks.
_PLAIN = {
    "−": "-",
    "–": "-",
    "×": "x",
    "≤": "<=",
    "≥": ">=",
    "…": "...",
    "●": "*",
    "⁻": "^-",
    "\N{NO-BREAK SPACE}": " ",
}
_PLAIN |= {digit: str(value) for value, digit in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")}


def _plain(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lost = error.object[error.start : error.end]
    return "".join(_PLAIN.get(char) or char.encode("ascii", "backslashreplace").decode() for char in lost), error.end


class _Output(io.FileIO):
    """Standard output, whose write errors name it as the file."""

    #: The last error; the parser of arguments passes over it.
    fault: OSError | None = None

    def write(self, content: "Buffer", /) -> int:
        try:
            return super().write(content)
        except BrokenPipeError:
            raise
        except OSError as error:
            error.filename = "standard output"
            _Output.fault = error
            raise


def _mend_streams() -> None:
    """Make the standard streams accept all text, even if they are closed or the locale is ASCII.

    A file that is opened while a stream is closed would get the stream's number, and the text printed to it.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free number, which is this one
            os.set_inheritable(number, True)  # for the processes that are started, which have streams then
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
    codecs.register_error("sigstats", _plain)
    if isinstance(sys.stdout, io.TextIOWrapper):
        named = io.BufferedWriter(_Output(1, "w", closefd=False))
        sys.stdout = io.TextIOWrapper(named, encoding=sys.stdout.encoding, line_buffering=sys.stdout.line_buffering)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="sigstats")


def main() -> int:
    """Run the program; if it cannot start, print one line and return exit code 3."""
    try:
        from sigstats.tasks.process import COMMAND, require_addresses, take_buffers

        require_addresses(COMMAND, "a command")
        take_buffers()
        from sigstats.flows.commands import main as run
    except KeyboardInterrupt:
        return _complain("interrupted", 130)
    except BaseException as error:  # a broken dependency may raise anything, SystemExit too
        return _cannot_start(error)
    try:
        try:
            code = run()
        except SystemExit as ended:  # of the parser of arguments, after --help
            code = int(ended.code or 0)
        with contextlib.suppress(OSError):  # told of below, unless whoever read it has seen enough
            sys.stdout.flush()
        return _complain(f"standard output: {_Output.fault.strerror}", 3) if code < 2 and _Output.fault else code
    except KeyboardInterrupt:
        return _complain("interrupted", 130)
    except Exception as error:  # of a dependency that the arguments of a command need
        return _cannot_start(error)


def _cannot_start(error: BaseException) -> int:
    from sigstats._common.extras import MissingExtra

    if isinstance(error, MissingExtra):  # of the arguments of a command
        return _complain(str(error), 2)
    while error.__cause__ is not None:
        error = error.__cause__
    return _complain(f"cannot start: {type(error).__name__}: {error}", 3)


def _complain(text: str, code: int) -> int:
    shown = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in " ".join(text.split()))
    print(f"sigstats: {shown[:500]}", file=sys.stderr)  # noqa: T201
    return code


if __name__ == "__main__":
    sys.exit(program())
