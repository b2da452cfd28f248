"""Tests of objects whose classes are known to degrees: a p-value becomes a possibility distribution of p-values."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
