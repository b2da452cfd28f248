"""Trees and forests, compiled: a fold is predicted by what scikit-learn would grow on the others."""

from ._draws import Features, Settings
from ._growth import Retrained, predict_fold

__all__ = ["Features", "Retrained", "Settings", "predict_fold"]
