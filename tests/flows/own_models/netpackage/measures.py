"""Measures, as somebody else would write them: good ones, and some that are none."""

import numpy as np


def f1(tp, fn, fp, tn):
    """Twice the true positives, over that and all errors; 0 where there is none of them."""
    return np.divide(2 * tp, 2 * tp + fn + fp, out=np.zeros_like(tp), where=2 * tp + fn + fp > 0)


def g_mean(tp, fn, fp, tn):
    """The geometric mean of recall and specificity; 0 where there is no row of a class."""
    rates = [np.divide(a, a + b, out=np.zeros_like(a), where=a + b > 0) for a, b in ((tp, fn), (tn, fp))]
    return np.sqrt(rates[0] * rates[1])


def cost(tp, fn, fp, tn):
    """Ten for a miss, one for a false alarm."""
    return 10 * fn + fp


cost.greater_is_better = False


def raises(tp, fn, fp, tn):
    """It raises."""
    raise KeyError("no\nsuch count")


def matrix(tp, fn, fp, tn):
    """All four counts."""
    return np.stack([tp, fn, fp, tn])


answer = 42


def right(y, prediction, weights):
    """The share of right rows."""
    return np.average(y == prediction, weights=weights)


def paid(y, prediction, weights):
    """Ten for a row of class c that is not called so, one for any other wrong row."""
    return np.average(np.where(y == prediction, 0, np.where((y == "c") | (y == 1), 10, 1)), weights=weights)


paid.greater_is_better = False
