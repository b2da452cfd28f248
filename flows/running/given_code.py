"""Classifiers and tests that only this program has, as modules that the processes of a run import.

A notebook holds classes, functions and estimators that no file defines. Each becomes a module of one file, whose name
says its content: equal code has an equal name in every session, and its replicates are used again.

When not to use: for what a module defines, which a study names by its import path.
"""

import base64
import contextlib
import hashlib
import sys
import tempfile
import types
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sigstats._common.registry import COMMON, GIVEN

#: The name by which ``allow=`` lets such code go to other machines.
MAIN = "__main__"

_TEXT = '''"""{name}, of the program that ran the study, as cloudpickle wrote it."""

import base64
import pickle

CONTENT = "{content}"
{attribute} = pickle.loads(base64.b85decode(
    "{pickled}"
))
'''

#: What every class has of its own, and what says where in a file it stands.
_OF_THE_PLACE = {"__dict__", "__weakref__", "__module__", "__firstlineno__", "__static_attributes__", "__qualname__"}


class GivenCode:
    """The modules of a run, in a folder on the path of this process and of those that it starts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def files(self) -> tuple[Path, ...]:
        """The file of each module."""
        return tuple(sorted(self.folder.glob("*.py")))

    def path_of(self, value: Any, name: str) -> str:
        """The import path by which processes of the run find the value."""
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
    """A folder for modules, on the path as long as the context lasts."""
    with tempfile.TemporaryDirectory(prefix="sigstats-given-") as folder:
        sys.path.append(folder)
        try:
            yield GivenCode(Path(folder))
        finally:
            sys.path.remove(folder)


def importable(value: Any) -> bool:
    """True if a module that is no program holds a class or a function by its name."""
    found: Any = sys.modules.get(module) if (module := getattr(value, "__module__", None) or "") != MAIN else None
    for part in getattr(value, "__qualname__", "").split("."):
        found = getattr(found, part, None)
    return found is value


def content_of(value: Any) -> str:
    """SHA-256 of what a value does: of code the instructions and what they refer to, not where it stands."""
    state, seen = hashlib.sha256(), dict[int, int]()
    kept: list[Any] = []  # so that no two have one id

    def say(each: Any) -> None:
        if each is None or isinstance(each, (bool, int, float, complex, str, bytes, type(...))):
            state.update(f"{type(each).__name__} {each!r}\n".encode())
        elif id(each) in seen:
            state.update(f"again {seen[id(each)]}\n".encode())
        else:
            seen[id(each)] = len(seen)
            kept.append(each)
            for part in _parts(each):
                say(part)
            state.update(b"end\n")

    say(value)
    return state.hexdigest()


def _parts(value: Any) -> Iterator[Any]:
    """What a value is made of, beginning with what kind it is."""
    yield type(value).__name__
    if isinstance(value, types.ModuleType):
        yield value.__name__
    elif isinstance(value, types.CodeType):
        yield from (value.co_code, value.co_consts, value.co_names, value.co_varnames, value.co_freevars)
        yield from (value.co_argcount, value.co_kwonlyargcount, value.co_flags)
    elif isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType)) and importable(value):
        package = value.__module__.partition(".")[0]
        yield from (value.__module__, value.__qualname__)
        if package not in COMMON:
            yield str(getattr(sys.modules[package], "__version__", ""))
    elif isinstance(value, types.FunctionType):
        yield from (value.__code__, value.__defaults__, value.__kwdefaults__)
        yield [cell.cell_contents for cell in value.__closure__ or ()]
        used = sorted(_names(value.__code__) & value.__globals__.keys())
        yield {name: value.__globals__[name] for name in used}
    elif isinstance(value, type):
        own = {name: each for name, each in vars(value).items() if name not in _OF_THE_PLACE}
        yield from (value.__name__, value.__bases__, dict(sorted(own.items())))
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from (key, each)
    elif isinstance(value, (set, frozenset)):
        yield from sorted(map(content_of, value))
    elif isinstance(value, (list, tuple)):
        yield from value
    elif isinstance(value, (staticmethod, classmethod)):
        yield value.__func__
    elif isinstance(value, property):
        yield from (value.fget, value.fset, value.fdel)
    elif isinstance(value, np.ndarray) and value.dtype != object:
        yield from (str(value.dtype), value.shape, value.tobytes())
    else:
        reduced = value.__reduce_ex__(4)
        yield from (
            (list(each) if isinstance(each, Iterator) else each for each in reduced)
            if isinstance(reduced, tuple)
            else [reduced]
        )


def _names(code: types.CodeType) -> set[str]:
    """The names that code, and the code within it, looks up."""
    inner = [each for each in code.co_consts if isinstance(each, types.CodeType)]
    return set(code.co_names).union(*map(_names, inner))
