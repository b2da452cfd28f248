"""Code of other packages in a cell: its identity when the run was planned, and the guards of each call."""

import contextlib
import os
import platform
import random
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from sigstats._common.messages import rephrased
from sigstats._common.registry import GIVEN, code_in_words
from sigstats.measures import own as measures
from sigstats.measures.measure import as_own_measure
from sigstats.measures.table import MEASURES, OwnMeasure

from .record import Learner
from .storage.seal import Damaged


class OtherCode(Exception):
    """The code of a worker differs from that of the planned run; the message names both."""


def code_of(learner: str, allowed: Sequence[str]) -> dict[str, str] | None:
    """The identity of the code of another package's learner; None for learners of this package and scikit-learn."""
    from sigstats.learners import READY, own  # scikit-learn takes a second, and tests of tables need none of it

    if learner in READY or not (own.is_path(learner) or learner in own.named()):
        return None
    return own.code_of(learner, allowed)


def with_measure_code(options: Mapping[str, Any]) -> dict[str, Any]:
    """The description of a test, with the identity of its measure's code if another package offers it."""
    name = options.get("measure") or ""
    code = None if name in MEASURES else measures.code_of(name)
    return dict(options) if code is None else {**options, "measure_code": code}


#: Measures by import path that this process may import.
_ALLOWED: dict[str, str] = {}


def allow_measures(names: Iterable[str], allowed: Sequence[str]) -> dict[str, dict[str, str]]:
    """Import the measures among `names` that are import paths, and return the identity of the code of each.

    Raises ValueError if their packages are not `allowed`. Afterwards `allowed_measure` knows them.
    """
    paths = [name for name in names if measures.is_path(name)]
    _ALLOWED.update((path, as_own_measure(path, allowed)) for path in paths)
    return {path: measures.code_of(path) or {} for path in paths}


def allowed_measure(name: str) -> str:
    """Return the measure at an import path, or any other name unchanged. Raises Damaged if it may not be imported."""
    if measures.is_path(name) and name not in _ALLOWED:
        raise Damaged(f"the summary needs the measure {name} (--allow {re.split('[.:]', name)[0]})")
    return _ALLOWED.get(name, name)


def admit_measure(name: str | None, code: Mapping[str, str] | None) -> None:
    """Let `allowed_measure` return the measure of a cell in this process.

    Raises OtherCode if this process has another version of it than the run was planned with.
    """
    measure = measure_as_planned(name or "", code)
    if measures.is_path(name):
        _ALLOWED[str(name)] = measure


def measure_as_planned(name: str, code: Mapping[str, str] | None) -> str:
    """Return the measure of a cell; calls of a user's function are watched like fits.

    Raises OtherCode if this process has another version of it than the run was planned with, or none.
    """
    if code is None:
        return name
    require_as_planned(name, code, lambda: measures.code_of(name) or {})
    if not measures.is_path(name):
        return name
    spec = as_own_measure(name, (code["package"],)).spec
    formulas = {key: getattr(spec, key) for key in ("of_counts", "of_weights")}
    watched: dict[str, Any] = {key: value and partial(_watched, value) for key, value in formulas.items()}
    return OwnMeasure(replace(spec, **watched))


def _watched(formula: Callable[..., Any], *values: Any) -> Any:
    with fit():
        return formula(*values)


def build_as_planned(classifier: Learner, **data: Any) -> Any:
    """The estimator of a cell's classifier.

    Raises OtherCode if this process has another version of it than the run was planned with.
    """
    from sigstats.learners import build, own

    learner, params, code = classifier.learner, classifier.params, classifier.code
    if code is None:
        return build(learner, params=params, **data)
    allowed = ("sklearn", code["package"])
    require_as_planned(learner, code, partial(own.code_of, learner, allowed))
    return build(learner, params=params, allowed=allowed, **data)


def require_as_planned(name: str, planned: Mapping[str, str], here: Callable[[], Mapping[str, str]]) -> None:
    """Refuse a cell whose code this process does not have.

    Raises OtherCode if it has none, or another version.
    """
    with rephrased(lambda text: f"{_where()} cannot use {name} ({text}); expected {code_in_words(planned)}", OtherCode):
        value = here()
    if value != planned:
        raise OtherCode(f"{_where()} has {code_in_words(value)}, and the run was planned with {code_in_words(planned)}")


def _where() -> str:
    return f"the worker on host {platform.node()}"


def difference(before: Mapping[str, str], now: Mapping[str, str]) -> str:
    """Describe the changes of a learner's code; empty if only the module that contains the code has changed."""
    package = now["package"]
    if before["version"] != now["version"]:
        return f"{package} was {before['version'] or 'without a version'}, is {now['version'] or 'without one'}"
    if before["source"] != now["source"]:
        return "its source has changed" if package.startswith(GIVEN) else f"the source of {package} has changed"
    if before.get("with") != now.get("with"):
        return f"what it uses was {before.get('with', 'not known')}, is {now.get('with', 'its own')}"
    return ""


#: Told when a fit begins (True) and ends (False); None outside such a process.
_tell: Callable[[bool], None] | None = None


def watch(tell: Callable[[bool], None]) -> None:
    """Call `tell` when a fit of this process begins or ends, from now on."""
    global _tell  # noqa: PLW0603
    _tell = tell


@contextlib.contextmanager
def fit(seed: int = 0) -> Iterator[None]:
    """The time of one fit and its predictions, or of one call of a test.

    The global generators of NumPy and of `random` are seeded before it: code that draws from them gives equal results
    however replicates are cut into blocks. Its changes to the process (`_surroundings`) are undone afterwards, so that
    they do not affect later code. If it forks and both processes return, the second one ends.
    """
    if _tell is None:
        yield
        return
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002
    process = os.getpid()
    _tell(True)
    try:
        with _surroundings():
            yield
    finally:
        if os.getpid() != process:
            os._exit(0)
        _tell(False)


@contextlib.contextmanager
def _surroundings() -> Iterator[None]:
    """Keep the working folder, the environment, the import path, and how NumPy and `warnings` warn."""
    environment, path, folder = dict(os.environ), list(sys.path), ""
    with contextlib.suppress(OSError):  # it may be gone
        folder = os.getcwd()  # noqa: PTH109
    try:
        with np.errstate(), warnings.catch_warnings():
            yield
    finally:
        sys.path[:] = path
        if environment != dict(os.environ):
            os.environ.clear()
            os.environ.update(environment)
        with contextlib.suppress(OSError):
            os.chdir(folder)
