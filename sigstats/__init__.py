"""Statistics for people who evaluate classifiers: exact, Monte-Carlo, bootstrap and permutation tests."""

from .intervals import Interval, clopper_pearson

__all__ = ["Interval", "clopper_pearson"]
