"""Classifiers of other packages, by an import path into a package that is allowed or by an entry point.

An import path, ``"mypackage.models:Net"``, leads to a classifier class or to an unfitted classifier, such as a
pipeline. Nothing else of a package is called, and nothing of it is imported before its name is found among the allowed
ones. An entry point of the group `GROUP` names the same for an installed package, which needs no allowance.
"""

import contextlib
import functools
import hashlib
import importlib
import importlib.metadata
import inspect
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from .._common.validation import one_line, refuse
from .base import attempt

#: The group of entry points that name learners.
GROUP = "sigstats.learners"

_WANTED = "the import path of a classifier class or of an unfitted classifier, as in 'mypackage.models:Net'"


@functools.cache
def _entry_points() -> Mapping[str, importlib.metadata.EntryPoint]:
    found = importlib.metadata.entry_points(group=GROUP)
    return {point.name: point for point in found if not {".", ":"} & set(point.name)}


def named() -> tuple[str, ...]:
    """The names of the learners that installed packages offer."""
    return tuple(sorted(_entry_points()))


def is_path(name: str) -> bool:
    """Whether a name is an import path into another package than scikit-learn."""
    return ("." in name or ":" in name) and name.partition(":")[0].partition(".")[0] != "sklearn"


def _parts(path: str) -> tuple[str, list[str]]:
    """The module of an import path, and the names in it."""
    module, colon, inner = path.partition(":")
    if not colon:
        module, _, inner = path.rpartition(".")
    return module, inner.split(".")


def find(name: str, allowed: Sequence[str]) -> Any:
    """The class or the unfitted classifier that an import path or an entry point names.

    Raises
    ------
    ValueError
        If the package is not allowed, or there is no such classifier. Nothing is imported of a package that is not.
    """
    path = _entry_points()[name].value.partition("[")[0].strip() if name in _entry_points() else name
    module, inner = _parts(path)
    package = module.partition(".")[0]
    if name == path and package not in allowed:
        wanted = " or ".join(allowed)
        raise refuse(
            "classifier", name, f"an import path into {wanted}, or into a package that is allowed: --allow {package}"
        )
    if any(not part.isidentifier() or part.startswith("_") for part in [*module.split("."), *inner]):
        raise refuse("classifier", name, "an import path of public names")
    try:
        with contextlib.redirect_stdout(sys.stderr):
            found: Any = importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise refuse("classifier", name, f"a classifier that can be imported; {one_line(error)}") from None
    except (Exception, SystemExit) as error:  # a module may do anything
        raised = f"{type(error).__name__}: {one_line(error)}"
        raise refuse("classifier", name, f"a classifier that can be imported; {module} raised {raised}") from None
    for part in inner:
        found = getattr(found, part, None)
    if inspect.ismodule(found) or not all(hasattr(found, method) for method in ("fit", "predict", "get_params")):
        raise refuse("classifier", name, _WANTED)
    return found


def make(name: str, params: dict[str, Any], allowed: Sequence[str]) -> Any:
    """The unfitted classifier of an import path or entry point.

    Every ``random_state`` in it that is None becomes 0, and every ``n_jobs`` that is None becomes 1.

    Raises
    ------
    ValueError
        As `find`, or if a parameter is unknown or it is no classifier.
    """
    from sklearn.base import clone

    found = find(name, allowed)
    try:
        made = attempt(found, params) if inspect.isclass(found) else clone(found).set_params(**params)
        unset = {key: value for key, value in made.get_params(deep=True).items() if value is None and key not in params}
        for ending, value in (("random_state", 0), ("n_jobs", 1)):
            made.set_params(**{key: value for key in unset if key.rpartition("__")[2] == ending})
    except ValueError:
        raise
    except Exception as error:  # a constructor may raise anything
        raise ValueError(f"classifier: {name} cannot be made: {type(error).__name__}: {one_line(error)}") from None
    if tag_of(made, "estimator_type") not in (None, "classifier"):
        raise refuse("classifier", name, f"{_WANTED}; scikit-learn takes it for a {tag_of(made, 'estimator_type')}")
    return made


def takes_missing(estimator: Any) -> bool:
    """Whether an estimator says that it takes NaN for a missing value."""
    return bool(getattr(tag_of(estimator, "input_tags"), "allow_nan", False))


def tag_of(estimator: Any, name: str) -> Any:
    """A tag of scikit-learn's; None where the estimator has none."""
    from sklearn.utils import get_tags

    try:
        return getattr(get_tags(estimator), name)
    except Exception:  # an estimator of a library of its own may have no tags, or raise anything
        return None


def code_of(name: str, allowed: Sequence[str]) -> dict[str, str]:
    """What identifies the code of a classifier.

    Returns
    -------
    dict
        Its ``package``; the ``version`` of the package, empty where it is not installed as a distribution; and the
        ``source``: SHA-256 of the files in which the classifier, the steps of a pipeline and their base classes are
        defined, as far as they are of this package.

    Raises
    ------
    ValueError
        As `find`, or if it is defined in no file.
    """
    found = find(name, allowed)
    module = sys.modules[_parts(_entry_points()[name].value if name in _entry_points() else name)[0]]
    package = module.__name__.partition(".")[0]
    names = {module.__name__} | {
        base.__module__
        for each in _parts_of(found)
        for base in inspect.getmro(each if inspect.isclass(each) else type(each))
        if base.__module__.partition(".")[0] == package
    }
    content = hashlib.sha256()
    for each in sorted(names):
        file = getattr(sys.modules[each], "__file__", None)
        if file is None:
            raise refuse("classifier", name, "one that is defined in a file, which a worker can import")
        content.update(each.encode() + b"\0" + Path(file).read_bytes() + b"\0")
    return {"package": package, "version": _version(package), "source": content.hexdigest()}


def _parts_of(found: Any) -> Iterator[Any]:
    """A classifier and all estimators in its parameters."""
    yield found
    if not inspect.isclass(found):
        yield from (value for value in found.get_params(deep=True).values() if hasattr(value, "fit"))


def _version(package: str) -> str:
    names = importlib.metadata.packages_distributions().get(package, [])
    if names:
        return importlib.metadata.version(names[0])
    return str(getattr(sys.modules[package], "__version__", ""))
