"""An ARFF file, as Weka reads it: ``{name = "mine", source = "arff", path = "mine.arff"}``.

Attributes are numeric (real, integer), nominal, or strings, which also count as nominal. Values are separated by commas
or white space, rows may be sparse, quotes are single or double with backslash escapes, keywords may be in any case, and
``?`` is a missing value. Row weights and relational attributes are refused. ``scipy.io.arff`` reads neither string
attributes nor sparse rows, and does not mark missing nominal values.

The class is the attribute ``target``; by default the attribute called "class", or the last attribute if it is nominal.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sigstats._common.validation import hint, refuse, shown
from sigstats.files.inputs import as_text, place, read_bytes, size_of_fields
from sigstats.files.inputs.limit import Budget
from sigstats.files.tables.spelling import is_number

from ..dataset import Dataset
from ..options import COLUMNS, Kinds, validate_options
from ..tables import Lines, Numbers, Texts, dataset

OPTIONS: Mapping[str, Kinds] = {**COLUMNS, "path": str, "encoding": str}
REQUIRED = ("path",)


def load(spec: Mapping[str, Any], base: Path) -> Dataset:
    """Read the file."""
    spec = validate_options(spec, OPTIONS, required=REQUIRED)
    where = place(spec["path"], base)
    content = read_bytes(where, spec.get("encoding"))
    Budget(where).require(size_of_fields(content, b"\n,"))
    table = Arff(where, as_text(content, where, spec.get("encoding", "utf-8")))
    return dataset(table, spec, target=spec.get("target") or _target(table))


def _target(table: "Arff") -> str:
    called = [name for name in table.names if name.lower() == "class"]
    if len(called) == 1:
        return called[0]
    last = table.attributes[-1]
    if last.kind == "nominal":
        return last.name
    nominal = [attribute.name for attribute in table.attributes if attribute.kind == "nominal"]
    wanted = f"one of {', '.join(map(shown, nominal[:20]))}" if nominal else "the name of the class"
    sentence = f"is missing, and the last attribute, {shown(last.name)}, is {last.kind}"
    raise ValueError(f"{table.where}: target: {sentence}; set target to {wanted}")


_QUOTED = r"""'(?P<single>(?:[^'\\]|\\.)*+)'|"(?P<double>(?:[^"\\]|\\.)*+)\""""

#: A value and its end: a comma, a closing brace, a comment or the end of the text. The quantifiers are possessive, so
#: that matching takes linear time.
_VALUE = re.compile(rf"""\s*+(?:{_QUOTED}|(?P<bare>[^,'"{{}}%]*+))\s*+(?P<end>,|}}|%|\Z)""", re.DOTALL)
_ATTRIBUTE = re.compile(
    rf"""@attribute\s++(?:{_QUOTED}|(?P<bare>[^\s'"{{}}%,]++))\s*+(?P<type>.*+)""", re.DOTALL | re.IGNORECASE
)
#: A value in a row without commas.
_WORD = re.compile(rf"""{_QUOTED.replace("single", "s").replace("double", "d")}|[^\s'"]++""", re.DOTALL)
#: An entry of a sparse row.
_ENTRY = re.compile(rf"""\s*+(?P<place>\d++)\s++(?:{_QUOTED}|(?P<bare>[^,'"{{}}%\s]++))\s*+(?:,|\Z)""", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}


@dataclass(frozen=True)
class Attribute:
    """A column of the kind ``numeric``, ``nominal``, ``string`` or ``date``."""

    name: str
    kind: str
    values: tuple[str, ...] = ()

    @property
    def absent(self) -> str:
        """The value of the attribute in a sparse row that does not list it."""
        return self.values[0] if self.values else "0"


class Arff(Lines):
    """The table of an ARFF file."""

    def __init__(self, where: str, text: str) -> None:
        lines = enumerate(re.split(r"\r\n|\r|\n", text), start=1)
        self.attributes = _header(where, lines)
        super().__init__(where, [attribute.name for attribute in self.attributes], _rows(where, lines, self.attributes))

    def numbers(self, name: str) -> Numbers | None:
        """Return a column as numbers, or None if it is not declared numeric."""
        if self._attribute(name).kind != "numeric":
            return None
        texts = self.texts(name)
        for field in texts.names:
            if not is_number(field):
                raise self.error(name, f"{shown(field)} is not valid; expected a number or ?", texts.first(field))
        return texts.numbers()

    def texts(self, name: str) -> Texts:
        """Return a column as strings; raise ValueError if it is nominal and has undeclared values."""
        attribute = self._attribute(name)
        if attribute.kind == "date":
            raise self.error(name, "a date cannot be a feature; convert it to a number, or list the column in drop")
        texts = super().texts(name)
        if attribute.kind == "nominal":
            for field in texts.names:
                if field not in attribute.values:
                    complaint = f"{shown(field)} is not declared; {hint(field, sorted(attribute.values))}"
                    raise self.error(name, complaint, texts.first(field))
        return texts

    def _attribute(self, name: str) -> Attribute:
        return self.attributes[self.names.index(name)]


def _header(where: str, lines: Iterator[tuple[int, str]]) -> Sequence[Attribute]:
    """Return the attributes. The iterator `lines` is then at the first line after ``@data``."""
    attributes: list[Attribute] = []
    for line, text in lines:
        text = text.strip()
        keyword = text.split(None, 1)[0].lower() if text else "%"
        if keyword.startswith("%") or keyword == "@relation":
            continue
        if keyword == "@data":
            if not attributes:
                raise ValueError(f"{where}, line {line}: no attribute is declared before @data")
            return attributes
        declared = _ATTRIBUTE.fullmatch(text) if keyword == "@attribute" else None
        if declared is None:
            raise refuse(f"{where}, line {line}", text, "@relation, @attribute NAME TYPE, or @data")
        if declared["type"].startswith("{"):
            kind, values = "nominal", _declared(where, line, declared["type"][1:], lines)
        else:
            kind, values = _kind(where, line, declared["type"]), ()
        attributes.append(Attribute(_text_of(declared), kind, values))
    raise ValueError(f"{where}: has no @data; expected an ARFF file")


def _kind(where: str, line: int, text: str) -> str:
    # Weka ignores everything after the word, such as a range: "real [0,1]".
    word = re.split(r"[\s\[%]", text, maxsplit=1)[0].lower()
    kinds = {"numeric": "numeric", "real": "numeric", "integer": "numeric", "string": "string", "date": "date"}
    if word not in kinds:
        known = "; relational attributes are not read" if word == "relational" else ""
        raise ValueError(
            f"{where}, line {line}: type {shown(text)} is not valid; expected numeric, real, integer, string, date or "
            f"{{values}}{known}"
        )
    return kinds[word]


def _declared(where: str, line: int, text: str, lines: Iterator[tuple[int, str]]) -> tuple[str, ...]:
    """Return the values of a nominal attribute, which end at a closing brace and may take several lines."""
    parts = [text]
    while True:
        if "}" in parts[-1]:
            values, end = _values(where, line, "\n".join(parts))
            if end == "}":
                break
        _, further = next(lines, (0, "@"))
        if further.lstrip().startswith("@"):
            raise ValueError(f"{where}, line {line}: the list of values does not end; add a closing brace")
        parts.append(further)
    named = [value for value in values if value is not None]
    seen: set[str] = set()
    for value in named:
        if value in seen:
            raise ValueError(f"{where}, line {line}: {shown(value)} is declared twice; list each value once")
        seen.add(value)
    return tuple(named)


def _rows(
    where: str, lines: Iterator[tuple[int, str]], attributes: Sequence[Attribute]
) -> Iterator[tuple[int, Sequence[str | None]]]:
    values: Sequence[str | None]
    for line, text in lines:
        text = text.strip()
        if not text or text.startswith("%"):
            continue
        if text.startswith("{"):
            values = _sparse(where, line, text, attributes)
        elif "," not in text and len(attributes) > 1:
            values = [value for word in _WORD.finditer(text) for value in _values(where, line, word[0])[0]]
        elif any(mark in text for mark in "'\"{}%"):
            values, end = _values(where, line, text)
            if end == "}":
                raise ValueError(f"{where}, line {line}: a brace is not valid here; expected values between commas")
        else:
            values = [None if value == "?" else value for value in map(str.strip, text.rstrip(",").split(","))]
            if "" in values:
                raise _nothing(where, line)
        yield line, values


def _sparse(where: str, line: int, text: str, attributes: Sequence[Attribute]) -> list[str | None]:
    """Return the values of a row ``{place value, ...}``. Unlisted attributes are 0, or their first declared value."""
    values: list[str | None] = [attribute.absent for attribute in attributes]
    inside, brace, rest = text[1:].rpartition("}")
    if not brace or rest.strip():
        raise refuse(f"{where}, line {line}", text, "a sparse row that ends with a brace")
    position = 0
    while inside[position:].strip():
        match = _ENTRY.match(inside, position)
        if match is None or int(match["place"]) >= len(attributes):
            wanted = f"a place from 0 to {len(attributes) - 1} and its value"
            raise refuse(f"{where}, line {line}", inside[position:].strip(), wanted)
        values[int(match["place"])] = None if match["bare"] == "?" else _text_of(match)
        position = match.end()
    return values


def _values(where: str, line: int, text: str) -> tuple[list[str | None], str]:
    """Return the values up to the end, a comment or a brace, and the character there. An unquoted ``?`` is None."""
    values: list[str | None] = []
    position = 0
    while True:
        match = _VALUE.match(text, position)
        if match is None:
            rest = text[position:]
            weights = "; weights of rows are not read" if "{" in rest else ""
            raise refuse(f"{where}, line {line}", rest, f"values between commas, with closed quotes{weights}")
        value = _text_of(match)
        bare = match["bare"] is not None
        if bare and not value and match["end"] != "}":
            raise _nothing(where, line)
        if value or not bare:
            values.append(None if bare and value == "?" else value)
        position = match.end()
        if match["end"] != ",":
            return values, match["end"]


def _nothing(where: str, line: int) -> ValueError:
    return ValueError(f"{where}, line {line}: there is nothing between two commas; expected a value or ?")


def _text_of(match: re.Match[str]) -> str:
    if match["bare"] is not None:
        return match["bare"].strip()
    quoted = match["single"] if match["single"] is not None else match["double"]
    return _ESCAPE.sub(lambda escape: _ESCAPED.get(escape[1], escape[1]), quoted)
