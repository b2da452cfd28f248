"""Trees and forests, compiled: a fold is predicted by what scikit-learn would grow on the others."""

from ._coded_growth import predict_coded_fold
from ._forest_folds import Retrained
from ._forest_growth import predict_fold as predict_forest_fold
from ._forest_splits import Settings
from ._tree_growth import predict_fold
from ._tree_levels import predict_fold_by_levels

__all__ = [
    "Retrained",
    "Settings",
    "predict_coded_fold",
    "predict_fold",
    "predict_fold_by_levels",
    "predict_forest_fold",
]
