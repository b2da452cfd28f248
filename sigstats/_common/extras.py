"""The extras of the package: an import that needs one fails with the command that installs it."""

import importlib.util
import inspect
import os
import re
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from pathlib import Path

_MODULES = {
    "studies": "bokeh cachetools cryptography dask distributed fastapi fsspec httpx joblib pandas prefect psutil "
    "pydantic pydantic_core sklearn sqlalchemy threadpoolctl",
    "fast": "llvmlite numba",
    "s3": "s3fs",
    "jobqueue": "dask_jobqueue",
    "kubernetes": "dask_kubernetes kr8s",
    "stem": "snowballstemmer",
}
#: The extra that brings a module.
EXTRAS = {module: extra for extra, modules in _MODULES.items() for module in modules.split()}


class MissingExtra(ModuleNotFoundError):
    """A module of an extra that is not installed; the message is one line, with the command that installs it."""

    def __init__(self, module: str) -> None:
        super().__init__(f"{module} is not installed; pip install 'sigstats[{EXTRAS[module]}]'", name=module)


class _Missing(MetaPathFinder):
    """The last finder of modules, called if no other finder has succeeded."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: object = None) -> None:  # noqa: ARG002
        """Raise ``MissingExtra`` if a module of this package imports a module that belongs to an extra."""
        if fullname in EXTRAS and _importer().partition(".")[0] == "sigstats":
            raise MissingExtra(fullname)


def _importer() -> str:
    """Return the name of the importing module: other packages may try to import a module that they do not need.

    Empty if `importlib.util.find_spec` only checks whether the module exists.
    """
    frame = sys._getframe(1)
    while frame.f_back is not None and (
        frame.f_globals.get("__name__") == __name__ or frame.f_code.co_filename.startswith("<frozen importlib")
    ):
        if frame.f_code is importlib.util.find_spec.__code__:
            return ""
        frame = frame.f_back
    return str(frame.f_globals.get("__name__", ""))


def name_extras() -> None:
    """Make every failed import of this package name the missing extra."""
    sys.meta_path.append(_Missing())


def need(module: str) -> None:
    """Raise ``MissingExtra`` if a module that another package imports for this one is absent."""
    if importlib.util.find_spec(module) is None:
        raise MissingExtra(module)


def with_extra(error: Exception) -> Exception:
    """Return ``MissingExtra`` if a package could not import a module of an extra; otherwise the same error."""
    module = getattr(error.__cause__, "name", None) if isinstance(error, ImportError) else None
    return MissingExtra(module) if module in EXTRAS else error


def compiles_first(folder: Path) -> bool:
    """Return True if Numba (the extra ``fast``) has yet to compile the functions in a folder of this package.

    False if the folder cannot be written to, since Numba then stores them elsewhere.
    """
    if importlib.util.find_spec("numba") is None or os.environ.get("NUMBA_CACHE_DIR") or not os.access(folder, os.W_OK):
        return False
    return next(folder.rglob("*.nbi"), None) is None


def with_uses(value: object) -> object:
    """Return the value. If it is a function, its docstring repeats the module's "When not to use"."""
    doc, module = inspect.getdoc(value) or "", sys.modules.get(getattr(value, "__module__", None) or "")
    advice = re.search(
        r"^When not to use: .*?(?=\n\n|\Z)", getattr(module, "__doc__", None) or "", re.DOTALL | re.MULTILINE
    )
    if inspect.isfunction(value) and advice is not None and advice[0].rstrip() not in doc:
        value.__doc__ = re.sub(r"\n\n(?=Parameters\n)", lambda _: f"\n\n{advice[0].rstrip()}\n\n", doc, count=1)
    return value
