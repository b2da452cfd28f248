"""Linear classifiers, compiled: losses and directions of logistic regressions, and liblinear's machine."""

from ._cross_entropy import Losses
from ._lbfgs_directions import directions
from ._trust_region import solve

__all__ = ["Losses", "directions", "solve"]
