"""Trees and forests, compiled: each fold is predicted by the trees that scikit-learn grows on the others."""

from ._forest_folds import Features, Retrained, Settings
from ._growth import predict_all

__all__ = ["Features", "Retrained", "Settings", "predict_all"]
