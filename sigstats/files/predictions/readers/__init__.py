"""The formats of predictions. A module per format recognises the beginning of files, and reads them.

`read_file` tries the formats in their order. A file in no known format is refused with the likely one (`_unknown`).
"""

import contextlib
import json
import re
import shlex
from collections.abc import Callable, Container, Iterable, Iterator
from functools import cache
from typing import Any, Protocol

import pyarrow as pa

from sigstats._common.messages import some_of
from sigstats._common.registry import Registry
from sigstats._common.validation import shown

from ...inputs import as_utf8, reading
from ...inputs.content import START, Content, open_content
from ...tables.table import Table
from .._columns import Columns
from .._log import EvaluationLog


class Format(Protocol):
    """The members that a module of this folder must have.

    A format of tables, not logs, also has ``TABLE = True``; one whose labels name instances, ``INSTANCES = True``.
    """

    #: Position in the order of attempts; the last format, CSV, takes all remaining files.
    ORDER: int
    #: Name of the format for users.
    NAME: str
    #: The beginning of files of the format; if other formats share it, ``reads(content)`` decides.
    BEGINS: re.Pattern[bytes]

    def read(self, content: Content, columns: Columns, /) -> Table | EvaluationLog:
        """Return a table with the wanted columns, or the log of an evaluation. ValueError names file and fault."""


REGISTRY = Registry(__name__, Format, what="format of predictions")

#: Errors of Python and Arrow for a damaged or malicious file.
DAMAGE = (ValueError, ArithmeticError, LookupError, OSError, EOFError, RecursionError, MemoryError, pa.ArrowException)
#: Formats with an encoding of their own: Parquet, Arrow, ZIP and NumPy.
_ENCODED = (b"PAR1", b"ARROW1", b"PK\x03\x04", b"\x93NUMPY")


class NoTable(ValueError):
    """Raised by a format for a file that only looks like one."""


def read_file(path: str, columns: Columns) -> Table | EvaluationLog:
    """Return one file, by the first format that reads it."""
    with open_content(path, encoding=columns.form.encoding) as opened:
        if not opened.start.strip():
            raise ValueError(f"{opened.where}: is empty; expected predictions")
        with reading(opened.where, DAMAGE):
            content = _unzipped(opened)
            if columns.form.encoding is not None and not content.start.startswith(_ENCODED):
                text = as_utf8(content.whole(), content.where, columns.form.encoding)
                content = Content(content.where, text[:START], whole=text)
            with contextlib.suppress(NoTable):
                if module := _format(content):
                    return module.read(content, columns)
            raise _unknown(content)


def _unzipped(content: Content) -> Content:
    """Return the file in a ZIP of one file, as pandas and Kaggle write it; any other file unchanged."""
    if not content.start.startswith(b"PK\x03\x04") or _format(content) is not None:
        return content
    with content.archive() as archive:
        if len(archive.names) != 1:
            return content
        whole = archive.read(archive.names[0])
    return Content(content.where, whole[:START], whole=whole)


def format_of(path: str) -> Format | None:
    """Return the format that reads a file, if any."""
    with open_content(path) as content:
        try:
            return _format(_unzipped(content))
        except DAMAGE:
            return None


def format_names() -> list[str]:
    """Return the names of the formats, in the order of attempts."""
    return [module.NAME for module in _formats()]


def _format(content: Content) -> Format | None:
    """Return the first format that recognises a file."""
    for module in _formats():
        reads: Callable[[Content], bool] | None = getattr(module, "reads", None)
        if module.BEGINS.match(content.start) and (reads is None or reads(content)):
            return module
    return None


@cache
def _formats() -> list[Format]:
    return sorted(REGISTRY.modules().values(), key=lambda module: module.ORDER)


#: Files of other kinds, by their first bytes.
_KNOWN = {
    b"%PDF": "a PDF document",
    **dict.fromkeys((b"\x80\x04\x95", b"\x80\x05\x95"), "a pickle; write it as CSV or Parquet"),
    b"\x89HDF": "an HDF5 file; write it as CSV or Parquet",
    b"\xd0\xcf\x11\xe0": "an old Office document; write it as CSV",
    b"version https://git-lfs": "a Git LFS pointer (run `git lfs pull`)",
    **dict.fromkeys((b"<!DOCTYPE", b"<html", b"<?xml"), "HTML or XML"),
}
#: A line of a run of TREC: query, Q0, document, rank, score, name.
RUN = re.compile(rb"\S+[ \t]+Q0[ \t]+\S+[ \t]+\d+[ \t]+\S+[ \t]+\S+\r?\n")
_HARNESS = "the results of lm-evaluation-harness without answers; run with --log_samples, which writes samples_*.jsonl"
#: Objects that programs write in addition to the answers, by some of their keys.
_OTHER_OUTPUT = {
    ("config_general", "results", "versions"): "the results of lighteval, whose answers are in details_*.parquet",
    ("results", "versions"): _HARNESS,
    ("results", "n-samples", "config"): _HARNESS,
    ("adapter_spec", "request_states"): "HELM's scenario_state.json; the scores are in per_instance_stats.json",
    ("scenario_spec", "adapter_spec"): "HELM's run_spec.json; the scores are in per_instance_stats.json",
    ("name", "count", "sum", "sum_squared"): "HELM's stats.json; the scores are in per_instance_stats.json",
    ("macro avg", "weighted avg"): "scikit-learn's classification_report, which has sums and no rows",
    ("mteb_version", "task_name", "scores"): "a result of MTEB, which is the mean of one task and has no rows",
    ("_timestamp", "_evaluate_version"): "a result of Hugging Face's evaluate, which is a mean and has no rows",
}
#: The most names in a message, and the bytes in which binary data are recognised.
_NAMES, _LINE = 5, 1000
#: The end of a command that writes the rows of a JSON object to a file.
_ROWS = " > rows.json"
#: A key that jq takes without quotes.
_PLAIN = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def _unknown(content: Content) -> ValueError:
    """Return the error for a file in an unknown format."""
    appearance = _appearance(content)
    if appearance in _OTHER_OUTPUT.values() or appearance.endswith(_ROWS):
        return ValueError(f"{content.where}: looks like {appearance}")
    words = [len(line.split()) for line in content.start[: content.start.rfind(b"\n")].splitlines()]
    if appearance.startswith("text whose") and len(words) > 1 and {*words} == {max(words[0], 2)}:
        return ValueError(f"{content.where}: spaces cannot separate columns of text; write commas or tabs")
    return ValueError(f"{content.where}: looks like {appearance}; expected {', '.join(format_names())}")


def _appearance(content: Content) -> str:
    """Return a description of the likely format."""
    start = content.start
    for mark, name in _KNOWN.items():
        if start.startswith(mark):
            return name
    if start.startswith(b"PK"):
        with content.archive() as archive:
            if "[Content_Types].xml" in archive.names:
                return "an Office document; write it as CSV"
            return f"a ZIP with {_listed(archive.names)}" if archive.names else "an empty ZIP"
    if start[257:262] == b"ustar":
        return "a tar archive"
    if re.match(rb"(?:\0[^\0]){4}|(?:[^\0]\0){4}", start):
        return "text in UTF-16 without a byte order mark"
    if is_binary(content):
        return "binary data"
    if start.lstrip().startswith((b"{", b"[")):
        return _json_in_words(content)
    if RUN.match(start):
        return "a run of TREC, which trec_eval -q scores"
    return f"text whose first line is {shown(start.lstrip()[:200].splitlines()[0].decode(errors='replace'))}"


def _json_in_words(content: Content) -> str:
    try:
        value = content.json()
    except ValueError as error:
        cause = error.__context__
        if isinstance(cause, json.JSONDecodeError):
            return f"JSON that is damaged at line {cause.lineno}, column {cause.colno} ({cause.msg})"
        raise
    first = value[0] if isinstance(value, list) and value else value
    program = program_output(first if isinstance(first, dict) else ())
    if program:
        return program
    if isinstance(value, dict):
        rows = [f"jq {shlex.quote(key)} {shlex.quote(content.where)}{_ROWS}" for key in _keys_of_rows(value)]
        remedy = f"; write its rows to a file: {' or '.join(rows[:3])}" if rows else ""
        return f"a JSON object with the keys {_listed(value)}{remedy}" if value else "an empty JSON object"
    return f"a JSON array of {type(value[0]).__name__}" if value else "an empty JSON array"


def _keys_of_rows(value: Any, path: str = "") -> Iterator[str]:
    """Yield the keys of lists of objects in a JSON object, in jq's notation."""
    if isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
        yield path
    for key, part in value.items() if isinstance(value, dict) else ():
        yield from _keys_of_rows(part, f"{path}.{key if _PLAIN.fullmatch(key) else json.dumps(key)}")


def _listed(names: Iterable[str]) -> str:
    return some_of([shown(name) for name in names], _NAMES)


def program_output(keys: Container[str]) -> str:
    """Return the evaluation program that writes objects with these keys; empty if unknown."""
    return next((name for wanted, name in _OTHER_OUTPUT.items() if all(key in keys for key in wanted)), "")


def is_binary(content: Content) -> bool:
    """Return True unless a file begins like text."""
    return b"\0" in content.start[:_LINE].partition(b"\n")[0] or content.start.startswith((*_KNOWN, b"PK\x03\x04"))
