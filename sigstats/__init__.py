"""Statistics for people who evaluate classifiers: exact, Monte-Carlo, bootstrap and permutation tests."""

import lazy_loader

# The names stand in __init__.pyi. Each is imported when it is first used, so that a command that needs one of them does
# not wait for all.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
