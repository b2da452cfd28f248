"""A data set from openml.org: ``{name = "iris", source = "openml", id = 61}``, or ``dataset = "iris", version = 1``.

scikit-learn fetches it and keeps it in a cache (the folder ``cache``; by default scikit-learn's own), so that a second
run needs no network. The class is OpenML's, or ``target``; the nominal features are OpenML's, or ``nominal``.
"""

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sigstats._common.validation import shown
from sigstats.files.inputs import reading

from ..dataset import Dataset
from ..options import COLUMNS, Kinds, validate_options
from ..tables import DataColumns, Numbers, Texts, dataset

OPTIONS: Mapping[str, Kinds] = {**COLUMNS, "id": int, "dataset": str, "version": int, "cache": str}
REQUIRED = ("name",)


def load(spec: Mapping[str, Any], base: Path) -> Dataset:
    """Fetch the data set, or read it from the cache."""
    spec = validate_options(spec, OPTIONS, required=REQUIRED)
    where = f"data set {spec['name']}"
    if ("id" in spec) == ("dataset" in spec) or ("dataset" in spec) != ("version" in spec):
        given = " and ".join(key for key in ("id", "dataset", "version") if key in spec) or "neither"
        raise ValueError(f"{where}: give either id, or dataset and version; got {given}")
    bunch = _fetch(spec, base, where)
    target = spec.get("target") or _only(bunch.target_names, where)
    return dataset(_Fetched(where, bunch), spec, target=target)


def _fetch(spec: Mapping[str, Any], base: Path, where: str) -> Any:
    from sklearn.datasets import fetch_openml

    # The network, the server and the parser may raise anything.
    with reading(where, fault="OpenML returned no data set"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings about the status of the data set on OpenML
        return fetch_openml(
            spec.get("dataset"),
            version=spec.get("version", "active"),
            data_id=spec.get("id"),
            data_home=str(base / spec["cache"]) if "cache" in spec else None,
            target_column=spec.get("target", "default-target"),
            as_frame=False,
            parser="liac-arff",
            delay=0.2,
        )


def _only(names: Any, where: str) -> str:
    if len(names) != 1:
        listed = ", ".join(map(shown, names)) or "none"
        raise ValueError(f"{where}: target: is missing, and OpenML names {listed}; set target to the name of the class")
    return str(names[0])


class _Fetched(DataColumns):
    """The columns that scikit-learn decoded: numbers, and codes of declared categories."""

    def __init__(self, where: str, bunch: Any) -> None:
        super().__init__(where, [*bunch.feature_names, *bunch.target_names])
        data = bunch.data.toarray() if hasattr(bunch.data, "toarray") else bunch.data
        self._columns = dict(zip(bunch.feature_names, np.asarray(data, dtype=np.float64).T, strict=True))
        self._target = np.asarray(bunch.target, dtype=object)
        self._categories: Mapping[str, Any] = bunch.categories

    def numbers(self, name: str) -> Numbers | None:
        return self._columns[name] if name in self._columns and name not in self._categories else None

    def texts(self, name: str) -> Texts:
        if name not in self._columns:
            return _texts([None if value is None or value != value else str(value) for value in self._target])
        column = self._columns[name]
        if name not in self._categories:
            return _texts([None if value != value else repr(value).removesuffix(".0") for value in column.tolist()])
        codes = np.where(np.isnan(column), -1, column).astype(np.int64)
        return Texts.of([str(category) for category in self._categories[name]], codes)


def _texts(values: list[str | None]) -> Texts:
    positions = {name: position for position, name in enumerate(dict.fromkeys(values))}
    return Texts.of(list(positions), np.array([positions[value] for value in values], dtype=np.int64))
