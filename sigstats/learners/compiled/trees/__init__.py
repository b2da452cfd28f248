"""Trees and forests, compiled: a fold is predicted by what scikit-learn would grow on the others."""

from ._forest_folds import Features, Retrained, Settings
from ._growth import predict_all

__all__ = ["Features", "Retrained", "Settings", "predict_all"]
