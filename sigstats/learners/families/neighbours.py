"""Nearest neighbours, behind a scaler of the numeric features."""

from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from ..._common.validation import refuse
from ..base import attempt
from ..neighbours.nearest_neighbours import NearestNeighbours


def _with_scaling(neighbours: Any, nominal: Any) -> Any:
    if nominal is None:
        return make_pipeline(MinMaxScaler(), neighbours)
    if nominal.all():
        return neighbours
    scale = ColumnTransformer(
        [
            ("numeric", MinMaxScaler(), np.flatnonzero(~nominal)),
            ("nominal", "passthrough", np.flatnonzero(nominal)),
        ]
    )
    return make_pipeline(scale, neighbours)


def _k_nn(params: dict[str, Any], nominal: Any, missing: bool) -> Any:  # noqa: ARG001 - missing values are at home here
    # Numeric features come first out of the scaler.
    mask = None if nominal is None else tuple(sorted(nominal.tolist()))
    return _with_scaling(attempt(NearestNeighbours, params, nominal=mask), nominal)


def _one_nn(params: dict[str, Any], nominal: Any, missing: bool) -> Any:
    if "n_neighbors" in params:
        raise refuse("params", "n_neighbors", "no number of neighbours for 1-nn; use k-nn")
    return _k_nn(params, nominal, missing)


def _five_nn(params: dict[str, Any], nominal: Any, missing: bool) -> Any:
    return _k_nn({"n_neighbors": 5, **params}, nominal, missing)


READY = {"1-nn": _one_nn, "k-nn": _five_nn}
