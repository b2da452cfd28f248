"""Studies written in Python: `plain` converts their values to those of a study file, `GivenCode` their code to modules.

A study from Python is equal, to the byte, to the study of a study file. Classes, functions and estimators that a
notebook defines become modules, which the processes of a run import. The name of such a module is a hash of its
content, so that replicates of the same code are reused in every session. Objects of other modules have an import path.
"""

import ast
import base64
import contextlib
import hashlib
import inspect
import linecache
import re
import sys
import tempfile
import types
from collections.abc import Iterator, Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

from sigstats._common.data_frames import opened
from sigstats._common.messages import one_line, refuse, shown
from sigstats._common.registry import GIVEN
from sigstats._common.source import COMMON, names_in, source_of, version_of

from ..errors import BadInput

#: The name in ``allow=`` that permits sending such code to other machines.
MAIN = "__main__"

_TEXT = '''"""{name}, of the program that ran the study, as cloudpickle wrote it."""

import base64
import pickle

CONTENT = "{content}"
{attribute} = pickle.loads(base64.b85decode(
    "{pickled}"
))
'''


class GivenCode:
    """The modules of a run, in a folder on the import path of this process and of the processes that it starts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def files(self) -> tuple[Path, ...]:
        """The files of the modules."""
        return tuple(sorted(self.folder.glob("*.py")))

    def path_of(self, value: Any, name: str) -> str:
        """Write a value as a module; return the import path by which processes of the run find the value."""
        import cloudpickle

        try:
            content, pickled = content_of(value), base64.b85encode(cloudpickle.dumps(value)).decode()
        except Exception as error:  # an object may raise anything
            raise ValueError(f"{name} cannot be sent to a process: {type(error).__name__}: {error}") from None
        attribute = name if name.isidentifier() and not name.startswith("_") else "given"
        module = f"{GIVEN}{content[:12]}"
        text = _TEXT.format(name=name, content=content, attribute=attribute, pickled=pickled)
        (self.folder / f"{module}.py").write_text(text, encoding="utf-8")
        return f"{module}:{attribute}"


@contextlib.contextmanager
def given_code() -> Iterator[GivenCode]:
    """Open a folder for modules that is on the import path while the context lasts."""
    with tempfile.TemporaryDirectory(prefix="sigstats-given-") as folder:
        sys.path.append(folder)
        try:
            yield GivenCode(Path(folder))
        finally:
            sys.path.remove(folder)


def importable(value: Any) -> bool:
    """Return True if a module other than the main program contains this class or function under its name."""
    module = getattr(value, "__module__", None) or ""
    result: Any = None if module == MAIN else sys.modules.get(module)
    for part in getattr(value, "__qualname__", "").split("."):
        result = getattr(result, part, None)
    return result is value


def content_of(value: Any) -> str:
    """Return the SHA-256 of code and the names that it uses, or of values; raise ValueError if there is no source."""
    state, seen = hashlib.sha256(), dict[int, int]()
    kept: list[Any] = []  # keeps the objects alive, so that no two have the same id

    def add(part: Any) -> None:
        if part is None or isinstance(part, (bool, int, float, complex, str, bytes, type(...))):
            state.update(f"{type(part).__name__} {part!r}\n".encode())
        elif id(part) in seen:
            state.update(f"again {seen[id(part)]}\n".encode())
        else:
            seen[id(part)] = len(seen)
            kept.append(part)
            for inner in _parts(part):
                add(inner)
            state.update(b"end\n")

    add(value)
    return state.hexdigest()


def _parts(value: Any) -> Iterator[Any]:
    """Yield the type of a value, and the parts that identify it."""
    import joblib

    yield type(value).__name__
    if isinstance(value, types.ModuleType):
        yield value.__name__
    elif isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType)) and importable(value):
        package = value.__module__.partition(".")[0]
        yield from (value.__module__ if package in COMMON else "", value.__qualname__)
        if package not in COMMON:
            source, versions = source_of(value.__module__, value.__qualname__.partition(".")[0])
            yield from (source, versions, version_of(package))
    elif isinstance(value, (type, types.FunctionType)):
        text, names = _source(value)
        yield text
        closure = inspect.getclosurevars(value).nonlocals if isinstance(value, types.FunctionType) else {}
        known = {**next((function.__globals__ for function in _functions(value)), {}), **closure}
        yield {name: known[name] for name in sorted(names & known.keys())}
        yield getattr(value, "__bases__", ())
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from (key, inner)
    elif isinstance(value, (list, tuple)):
        yield from value
    elif hasattr(value, "get_params"):
        yield from (type(value), value.get_params(deep=False))
    else:
        yield joblib.hash(value)


def _functions(value: Any) -> list[types.FunctionType]:
    """Return the function `value`, or the functions that the class `value` defines."""
    if isinstance(value, types.FunctionType):
        return [inspect.unwrap(value)]
    members = (getattr(member, "fget", None) or getattr(member, "__func__", member) for member in vars(value).values())
    return [member for member in members if isinstance(member, types.FunctionType)]


def _source(value: Any) -> tuple[str, set[str]]:
    """Return the source of a function or class, which may be in a notebook cell, and the names in the source."""
    kinds = (ast.ClassDef,) if isinstance(value, type) else (ast.FunctionDef, ast.Lambda)
    for function in _functions(value):
        at = function.__code__.co_firstlineno
        text = "".join(linecache.getlines(function.__code__.co_filename, function.__globals__))
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, kinds) and getattr(node, "name", value.__name__) == value.__name__:
                decorators: list[ast.expr] = getattr(node, "decorator_list", [])
                first = min([node.lineno, *(one.lineno for one in decorators)])
                if first == at or (isinstance(value, type) and first <= at <= (node.end_lineno or 0)):
                    parts = [*map(ast.unparse, decorators), ast.get_source_segment(text, node) or ""]
                    # Without the names of bases, which a class does not know after it was sent and came back.
                    bodies = node.body if isinstance(node, ast.ClassDef) else [node]
                    return "\n".join(parts), set().union(*map(names_in, bodies))
    raise ValueError(f"{value.__name__} has no source; define it in a file or in a notebook cell")


#: The keys of a study that may have classifiers or tests from other packages as values.
_CODE_KEYS = frozenset(("learner", "test"))

_DATASET = '{"name": "mine", "path": frame, "target": "the column of the class"}'
_FRAME = (
    f"the path of a data set, {_DATASET}, or of a population; elsewhere, write it to a file with "
    '.to_parquet("mine.parquet"), and give the path of that file'
)


def plain(value: Any, where: str = "", code: GivenCode | None = None) -> Any:
    """Convert NumPy values, paths, data frames, functions, classes and estimators to plain values of a study file.

    `where`: the place of the value in the study, as in ``datasets.0.path``. `code`: takes code without an import path.
    """
    if isinstance(value, Mapping):
        table = _without_frames_and_code({str(key): item for key, item in value.items()}, where, code)
        return {key: plain(item, f"{where}.{key}" if where else key, code) for key, item in table.items()}
    if re.fullmatch(r"datasets\.\d+", where) and isinstance(value, (np.ndarray, list, tuple)):
        raise BadInput(f"study: {where}: an array is not valid; expected a data frame, {_DATASET}")
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(item, f"{where}.{place}", code) for place, item in enumerate(value)]
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, PathLike):
        return fspath(value)
    if _is_frame(value):
        raise BadInput(f"study: {where}: a data frame is not valid; expected it as {_FRAME}")
    if _is_code(value):
        if where.startswith("tests."):
            return {"test": _code_entry(value, where, code)["learner"]}
        if not where.startswith("classifiers."):
            name = getattr(value, "__qualname__", type(value).__name__)
            raise BadInput(f"study: {where}: {name} is not valid; expected a string, a number or a table")
        return _code_entry(value, where, code)
    if re.fullmatch(r"(classifiers|tests)\.\d+(\.learner|\.test)?", where) and not isinstance(value, str):
        wanted = "a name, a function, or an object with fit, predict and get_params"
        raise BadInput(f"study: {where}: {shown(value)} is not valid; expected {wanted}")
    return value


def _without_frames_and_code(table: dict[str, Any], where: str, code: GivenCode | None) -> dict[str, Any]:
    """Replace a data frame in a table by its URL, and a classifier or test by its import path."""
    if where.startswith(("datasets.", "populations.")) and not isinstance(table.get("path", ""), (str, PathLike)):
        defaults = {} if where.endswith(".documents") else {"name": "frame", "source": "parquet"}
        table = {**defaults, **table, "path": _in_memory(table["path"], table.get("name", "frame"), where)}
    elif re.fullmatch(r"datasets\.\d+", where) and "source" not in table and not any(map(_is_frame, table.values())):
        raise BadInput(f"study: {where}: source is missing; name a reader, or give a data frame as in {_DATASET}")
    for key in _CODE_KEYS & table.keys():
        if _is_code(table[key]):
            entry = _code_entry(table[key], f"{where}.{key}", code)
            params = {**entry.get("params", {}), **table.get("params", {})}
            table = {**table, key: entry["learner"], **({"params": params} if params else {})}
    return table


def _is_frame(value: Any) -> bool:
    return opened(value) is not None


def _is_code(value: Any) -> bool:
    return callable(value) or hasattr(value, "get_params") or hasattr(value, "fit")


def _in_memory(frame: Any, name: Any, where: str) -> str:
    """Write the frame as Parquet to this process's memory, under a name made of content and name; return its URL."""
    import fsspec
    import pyarrow as pa
    import pyarrow.parquet as pq

    if (value := opened(frame)) is None:
        raise refuse(f"study: {where}.path", frame, "a file, or a data frame whose columns have different names")
    try:
        table = value.to_arrow().replace_schema_metadata(None)
        content = pa.BufferOutputStream()
        with pa.ipc.new_stream(content, table.schema) as stream:
            stream.write_table(table.combine_chunks())
    except Exception as error:  # a column may hold anything
        raise BadInput(f"study: {where}.path: the data frame cannot be written as Parquet ({error})") from None
    named = re.sub(r"[^\w-]+", "_", str(name))
    place = f"memory://sigstats/{hashlib.sha256(content.getvalue()).hexdigest()[:12]}/{named}.parquet"
    with fsspec.open(place, "wb") as file:
        pq.write_table(table, file)
    return place


def _code_entry(value: Any, where: str, code: GivenCode | None) -> dict[str, Any]:
    """Return the name, import path and parameters of a classifier or test; `code` takes one without an import path."""
    is_estimator = hasattr(value, "get_params") and not isinstance(value, type)
    source = type(value) if is_estimator else value
    name = getattr(source, "__qualname__", type(value).__name__).rpartition(".")[2]
    params = _changed_params(value) if is_estimator and importable(source) else {}
    if importable(source) and params is not None:
        parts = source.__module__.split(".")
        modules = [".".join(parts[:count]) for count in range(1, len(parts) + 1)]
        shortest = next(module for module in modules if getattr(sys.modules.get(module), name, None) is source)
        learner = f"{shortest}.{name}" if parts[0] == "sklearn" else f"{shortest}:{name}"
        return {"name": name, "learner": learner, **({"params": params} if params else {})}
    if code is None:
        raise BadInput(
            f"study: {where}: {name} of this program is not valid; expected an object that a module defines, as "
            '{"name": "mine", "learner": "mymodels:function_or_class"}, with allow=["mymodels"]'
        )
    try:
        if is_estimator:
            from sklearn.base import clone

            value = clone(value)
        return {"name": name, "learner": code.path_of(value, name)}
    except Exception as error:  # a constructor may raise anything
        raise BadInput(f"study: {where}: {name} is not valid; {one_line(error)}") from None


def _changed_params(estimator: Any) -> dict[str, Any] | None:
    """Return the parameters that differ from the defaults, or None if any is not a number, string or boolean."""
    try:
        usual = type(estimator)().get_params(deep=False)
    except TypeError:  # some parameters have no default, for example in a pipeline
        return None
    changed = {
        name: param for name, param in estimator.get_params(deep=False).items() if repr(param) != repr(usual[name])
    }
    values = {name: value.item() if isinstance(value, np.generic) else value for name, value in changed.items()}
    return values if all(isinstance(value, (str, int, float)) for value in values.values()) else None
