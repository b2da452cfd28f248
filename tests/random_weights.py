"""The law of means with random weights and one unit more, drawn: independent of how the library integrates it."""

import numpy as np

#: Of shares of the draws: more than five standard errors.
NEAR = 0.006


def not_worse(sums, most, draws=200_000):
    """The share of exponential weights of the sums, one unit more that gains `most` included, with a total from 0."""
    drawn = np.random.default_rng(20).standard_exponential((draws, len(sums) + 1))
    return float((drawn @ np.append(np.asarray(sums, dtype=float), most) >= 0).mean())
