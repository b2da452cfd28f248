"""Kernel machines, compiled: kernels as libsvm rounds them, and its steps."""

from ._kernels import Kernel
from ._smo import solve

__all__ = ["Kernel", "solve"]
