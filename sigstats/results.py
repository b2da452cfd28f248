"""The types of results, for annotations and for `eval` of their `repr`; functions of `sigstats` return them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__package__, __file__)
