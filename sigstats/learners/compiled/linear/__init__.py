"""Linear classifiers, compiled: losses of logistic regressions, and liblinear's machine."""

from ._cross_entropy import Losses
from ._trust_region import solve

__all__ = ["Losses", "solve"]
