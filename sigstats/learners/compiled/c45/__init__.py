"""C4.5, compiled: a fold is predicted by the tree of the others."""

from ._prediction import predict_fold
from ._splits import Training

__all__ = ["Training", "predict_fold"]
