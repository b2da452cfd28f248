"""What a study says that was written in Python, as a study file would say it: the one is the other, to the byte."""

import sys
from collections.abc import Mapping
from os import PathLike, fspath
from typing import Any

import numpy as np

from sigstats._common.data_frames import opened

from ..errors import BadInput


def plain(value: Any, where: str = "") -> Any:
    """Values of NumPy, paths, classes and estimators of packages in words; `where` is the key that a complaint names.

    Raises BadInput of what only this process knows: it says how a study is told of it.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from sigstats.flows.studies._from_python import plain
    >>> plain({"classifiers": [DecisionTreeClassifier(max_depth=3)]})["classifiers"][0]["learner"]
    'sklearn.tree.DecisionTreeClassifier'
    """
    if isinstance(value, Mapping):
        return {key: plain(each, f"{where}.{key}" if where else str(key)) for key, each in value.items()}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(each, f"{where}.{place}") for place, each in enumerate(value)]
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, PathLike):
        return fspath(value)
    if opened(value) is not None:
        wanted = (
            'a file: write it with .to_parquet("mine.parquet"), and name {"name": "mine", "source": "parquet", '
            '"path": "mine.parquet", "target": "the column of the class"}'
        )
        raise BadInput(f"study: {where}: a data frame is not valid; expected {wanted}")
    if callable(value) or hasattr(value, "get_params"):
        return _named(value, where)
    return value


def _named(value: Any, where: str) -> Any:
    """A function, a class or an estimator by the module and the name that it is imported by."""
    made = hasattr(value, "get_params") and not isinstance(value, type)
    source = type(value) if made else value
    name = getattr(source, "__qualname__", "")
    parts = str(getattr(source, "__module__", "")).split(".")
    homes = [".".join(parts[:count]) for count in range(1, len(parts) + 1)]
    home = next((each for each in homes if getattr(sys.modules.get(each), name, None) is source), "__main__")
    params = _changed(value) if made and home != "__main__" else {}
    if not where.startswith("classifiers"):
        raise BadInput(f"study: {where}: {name or 'an object'} is not valid; expected text, a number or a table")
    if home == "__main__" or params is None:
        raise BadInput(
            f"study: {where}: {name or 'an object'} of this program is not valid; expected what a module holds, as "
            '{"name": "mine", "learner": "mymodels:function_or_class"}, with allow=["mymodels"]'
        )
    learner = f"{home}.{name}" if parts[0] == "sklearn" else f"{home}:{name}"
    if where.endswith(".learner"):
        return learner
    return {"name": name, "learner": learner, **({"params": params} if params else {})}


def _changed(estimator: Any) -> dict[str, Any] | None:
    """The parameters that are not the defaults of the class; None if one is no number, text or truth value."""
    given, usual = estimator.get_params(deep=False), type(estimator)().get_params(deep=False)
    changed = {name: each for name, each in given.items() if repr(each) != repr(usual[name])}
    values = {name: each.item() if isinstance(each, np.generic) else each for name, each in changed.items()}
    return values if all(isinstance(each, (str, int, float)) for each in values.values()) else None
