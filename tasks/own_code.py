"""Code from other packages in a cell: its identity, its use as planned, and the guards of each call.

A plan contains the identity of such code; cells are computed only with the same code; `fit` guards each call.
"""

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
    """The code on a worker differs from the planned code. The message names both versions."""


def code_of(learner: str, allowed: Sequence[str]) -> dict[str, str] | None:
    """Return the identity of the code of another package's learner, or None if it is built in or scikit-learn's."""
    from sigstats.learners import READY, own  # importing scikit-learn takes a second; tests of tables do not need it

    if learner in READY or not (own.is_path(learner) or learner in own.named()):
        return None
    return own.code_of(learner, allowed)


def with_measure_code(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a test, with the identity of the measure's code if it is from another package."""
    name = options.get("measure") or ""
    code = None if name in MEASURES else measures.code_of(name)
    return dict(options) if code is None else {**options, "measure_code": code}


def difference(before: Mapping[str, str], now: Mapping[str, str]) -> str:
    """Return a description of the changes in a learner's code, or "" if only the containing module has changed."""
    package = now["package"]
    if before["version"] != now["version"]:
        return f"{package} was {before['version'] or 'without a version'}, is {now['version'] or 'without a version'}"
    if before["source"] != now["source"]:
        return "its source has changed" if package.startswith(GIVEN) else f"the source of {package} has changed"
    if before.get("with") != now.get("with"):
        return f"its dependencies were {before.get('with', 'unknown')}, are {now.get('with', 'in its own package')}"
    return ""


def require_as_planned(name: str, planned: Mapping[str, str], here: Callable[[], Mapping[str, str]]) -> None:
    """Raise OtherCode if this process lacks the planned code or has a different version.

    `planned`: the identity of the code. `here`: function that returns the identity in this process.
    """
    worker, wanted = f"the worker on host {platform.node()}", code_in_words(planned)
    with rephrased(lambda text: f"{worker} cannot use {name} ({text}); install {wanted}", OtherCode):
        code = here()
    if code != planned:
        raise OtherCode(f"{worker} has {code_in_words(code)}, but the run was planned with {wanted}")


def build_as_planned(classifier: Learner, **data: Any) -> Any:
    """Return the estimator of a cell's classifier.

    Raises OtherCode if this process lacks the classifier or has a different version from the planned run.
    """
    from sigstats.learners import build, own

    learner, params, code = classifier.learner, classifier.params, classifier.code
    if code is None:
        return build(learner, params=params, **data)
    allowed = ("sklearn", code["package"])
    require_as_planned(learner, code, partial(own.code_of, learner, allowed))
    return build(learner, params=params, allowed=allowed, **data)


def measure_as_planned(name: str, code: Mapping[str, str] | None) -> str:
    """Return the measure of a cell. Calls of a user's function are watched like fits.

    Raises OtherCode if this process lacks the measure or has a different version from the planned run.
    """
    if code is None:
        return name
    require_as_planned(name, code, lambda: measures.code_of(name) or {})
    if not measures.is_path(name):
        return name
    spec = as_own_measure(name, (code["package"],)).spec
    formulas = {key: getattr(spec, key) for key in ("of_counts", "of_weights")}
    watched: dict[str, Any] = {key: partial(_watched, formula) for key, formula in formulas.items() if formula}
    return OwnMeasure(replace(spec, **watched))


def _watched(formula: Callable[..., Any], *values: Any) -> Any:
    with fit():
        return formula(*values)


#: Measures by import path that this process may import.
_ALLOWED: dict[str, str] = {}


def allow_measures(names: Iterable[str], allowed: Sequence[str]) -> dict[str, dict[str, str]]:
    """Import the measures among `names` that are import paths, and return the identities of their code.

    Raises ValueError if a package is not `allowed`. Afterwards `allowed_measure` returns these measures.
    """
    paths = [name for name in names if measures.is_path(name)]
    _ALLOWED.update((path, as_own_measure(path, allowed)) for path in paths)
    return {path: measures.code_of(path) or {} for path in paths}


def allowed_measure(name: str) -> str:
    """Return the measure at an import path, or any other name unchanged; raise Damaged if it was not allowed."""
    if measures.is_path(name) and name not in _ALLOWED:
        raise Damaged(f"the summary needs the measure {name} (--allow {re.split('[.:]', name)[0]})")
    return _ALLOWED.get(name, name)


def admit_measure(name: str | None, code: Mapping[str, str] | None) -> None:
    """Let `allowed_measure` return the measure of a cell in this process.

    Raises OtherCode if this process has a different version of the measure from the planned run.
    """
    measure = measure_as_planned(name or "", code)
    if measures.is_path(name):
        _ALLOWED[str(name)] = measure


#: Function that is called when a fit begins (True) and ends (False), or None in processes that are not watched.
_tell: Callable[[bool], None] | None = None


def watch(tell: Callable[[bool], None]) -> None:
    """Call `tell` whenever a fit in this process begins (True) or ends (False)."""
    global _tell  # noqa: PLW0603
    _tell = tell


@contextlib.contextmanager
def fit(seed: int = 0) -> Iterator[None]:
    """Guard one fit and its predictions, or one call of a test, in a watched process.

    The global generators of NumPy and of `random` are seeded first, so that code that draws from them gives equal
    results however replicates are cut into blocks. Changes to the process (`_surroundings`) are undone at the end, so
    that they do not affect later code. If the code forks and both processes return, the child process ends.
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
    """Restore the working folder, the environment, the import path and the warning filters at the end."""
    environment, path, folder = dict(os.environ), list(sys.path), ""
    with contextlib.suppress(OSError):  # the folder may be gone
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
