"""An ARFF file: ``{name = "mine", source = "arff", path = "mine.arff"}``.

Attributes are numeric or nominal as they are declared, strings are nominal, and ``?`` is missing. The class is the
attribute that ``target`` names; without it the one called "class", or the last if it is nominal.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sigstats._common.validation import shown

from ...input_files import as_text, place, read_bytes, require_fields
from ..dataset import Dataset
from ..options import COLUMNS, Kinds, validate_options
from ..tables import dataset
from ._arff import Arff

OPTIONS: Mapping[str, Kinds] = {**COLUMNS, "path": str, "encoding": str}
REQUIRED = ("path",)


def load(spec: Mapping[str, Any], base: Path) -> Dataset:
    """Read the file."""
    spec = validate_options(spec, OPTIONS, required=REQUIRED)
    where = place(spec["path"], base)
    content = read_bytes(where, spec.get("encoding"))
    require_fields(content, where, b"\n,")
    table = Arff(where, as_text(content, where, spec.get("encoding", "utf-8")))
    return dataset(table, spec, target=spec.get("target") or _target(table))


def _target(table: Arff) -> str:
    called = [name for name in table.names if name.lower() == "class"]
    if len(called) == 1:
        return called[0]
    last = table.attributes[-1]
    if last.kind == "nominal":
        return last.name
    nominal = [attribute.name for attribute in table.attributes if attribute.kind == "nominal"]
    hint = f"one of {', '.join(map(shown, nominal[:20]))}" if nominal else "the name of the class"
    found = f"is missing, and the last attribute, {shown(last.name)}, is {last.kind}"
    raise ValueError(f"{table.where}: target: {found}; expected {hint}")
