"""What a study says that was written in Python, as a study file would say it: the one is the other, to the byte."""

import hashlib
import sys
from collections.abc import Mapping
from os import PathLike, fspath
from typing import Any

import numpy as np

from sigstats._common.data_frames import opened
from sigstats._common.messages import one_line

from ..errors import BadInput
from ..running.given_code import GivenCode, importable

#: The keys of a study whose values may be classifiers or tests of other packages.
_OF_CODE = frozenset(("learner", "test"))

_FRAME = (
    'the path of a data set, {"name": "mine", "path": frame, "target": "the column of the class"}, or of a population; '
    "of anything else a file: write "
    'it with .to_parquet("mine.parquet"), and name that'
)


def plain(value: Any, where: str = "", code: GivenCode | None = None) -> Any:
    """Values of NumPy, paths, data frames, functions, classes and estimators in words."""
    if isinstance(value, Mapping):
        value = {str(key): each for key, each in value.items()}
        if where.startswith(("datasets.", "populations.")) and opened(value.get("path")) is not None:
            value = {"name": "frame", "source": "parquet", **value, "path": _in_memory(value["path"], where)}
        for key in _OF_CODE & value.keys():
            if _is_code(value[key]):
                named = _named(value[key], f"{where}.{key}", code)
                params = {**named.get("params", {}), **value.get("params", {})}
                value = {**value, key: named["learner"], **({"params": params} if params else {})}
        return {key: plain(each, f"{where}.{key}" if where else key, code) for key, each in value.items()}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(each, f"{where}.{place}", code) for place, each in enumerate(value)]
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, PathLike):
        return fspath(value)
    if opened(value) is not None:
        raise BadInput(f"study: {where}: a data frame is not valid; expected it as {_FRAME}")
    if _is_code(value):
        if not where.startswith("classifiers."):
            name = getattr(value, "__qualname__", type(value).__name__)
            raise BadInput(f"study: {where}: {name} is not valid; expected text, a number or a table")
        return _named(value, where, code)
    return value


def _is_code(value: Any) -> bool:
    return callable(value) or hasattr(value, "get_params")


def _in_memory(frame: Any, where: str) -> str:
    """A place in this process's memory that holds the frame as Parquet, by its content; the run stores its data."""
    import fsspec
    import narwhals as nw
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = nw.from_native(frame, eager_only=True).to_arrow().replace_schema_metadata(None)
        content = pa.BufferOutputStream()
        with pa.ipc.new_stream(content, table.schema) as stream:
            stream.write_table(table.combine_chunks())
    except Exception as error:  # a column may hold anything
        raise BadInput(f"study: {where}.path: the data frame cannot be written as Parquet ({error})") from None
    place = f"memory://sigstats/{hashlib.sha256(content.getvalue()).hexdigest()}.parquet"
    with fsspec.open(place, "wb") as file:
        pq.write_table(table, file)
    return place


def _named(value: Any, where: str, code: GivenCode | None) -> dict[str, Any]:
    """The name, the import path and the parameters of a function, a class or an estimator."""
    made = hasattr(value, "get_params") and not isinstance(value, type)
    source = type(value) if made else value
    name = getattr(source, "__qualname__", type(value).__name__).rpartition(".")[2]
    params = _changed(value) if made and importable(source) else {}
    if importable(source) and params is not None:
        parts = source.__module__.split(".")
        homes = [".".join(parts[:count]) for count in range(1, len(parts) + 1)]
        home = next(each for each in homes if getattr(sys.modules.get(each), name, None) is source)
        learner = f"{home}.{name}" if parts[0] == "sklearn" else f"{home}:{name}"
        return {"name": name, "learner": learner, **({"params": params} if params else {})}
    if code is None:
        raise BadInput(
            f"study: {where}: {name} of this program is not valid; expected what a module holds, as "
            '{"name": "mine", "learner": "mymodels:function_or_class"}, with allow=["mymodels"]'
        )
    try:
        if made:
            from sklearn.base import clone

            value = clone(value)
        return {"name": name, "learner": code.path_of(value, name)}
    except Exception as error:  # a constructor may raise anything
        raise BadInput(f"study: {where}: {name} is not valid; {one_line(error)}") from None


def _changed(estimator: Any) -> dict[str, Any] | None:
    """The parameters that are not the defaults of the class; None if one is no number, text or truth value."""
    try:
        usual = type(estimator)().get_params(deep=False)
    except TypeError:  # of a pipeline, say, some have no default
        return None
    changed = {name: each for name, each in estimator.get_params(deep=False).items() if repr(each) != repr(usual[name])}
    values = {name: each.item() if isinstance(each, np.generic) else each for name, each in changed.items()}
    return values if all(isinstance(each, (str, int, float)) for each in values.values()) else None
