"""Trees and forests, compiled: a fold is predicted by what scikit-learn would grow on the others."""

from ._all_columns import count_levels
from ._coded_growth import predict_from_codes
from ._forest_folds import Retrained, Settings, draw_ahead
from ._sorted_growth import predict_from_order
from ._sorted_splits import Features

__all__ = [
    "Features",
    "Retrained",
    "Settings",
    "count_levels",
    "draw_ahead",
    "predict_from_codes",
    "predict_from_order",
]
