"""Nearest neighbours, compiled: votes from lists, and the nearest row where features are permuted."""

from ..vector_products import ROWS, SINGLE_COLUMNS
from ._list_walk import walk_lists
from ._nearest_rows import mix, predict_fold

__all__ = ["ROWS", "SINGLE_COLUMNS", "mix", "predict_fold", "walk_lists"]
