"""Answers that two classifiers may give which are still to be trained, for the time that tests of them take."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..storage.store import Store
from .population import EventPopulation, Population
from .trained_pair import data_of, positives, split
from .trained_sets import joint_events, truth_of

#: A is wrong on one of so many rows, and B on one of so many others; of categories it assigns none there.
_WRONG_A, _WRONG_B = 5, 7


def likely_answers(store: Store, name: str, work: Mapping[str, Any]) -> Population | EventPopulation:
    """What the classifiers of a cell may say of the rows that they are neither trained nor tested on.

    `store`: with the data set.
    `name`: the name of the population.
    `work`: as for `sigstats.tasks.populations.trained_sets.SetPair` or
    `sigstats.tasks.populations.trained_pair.Pair`.
    """
    data = data_of(store, work)
    rest = split(len(data), work["split"]).rest
    wrong = [np.arange(len(rest)) % each == 0 for each in (_WRONG_A, _WRONG_B)]
    if "categories" not in work:
        positive = positives(data, work["positive"])[rest]
        a, b = (positive ^ side for side in wrong)
        return Population(outcomes=tuple(np.bincount(4 * ~positive + ~a + 2 * ~b, minlength=8).tolist()))
    found = [tuple(np.flatnonzero(row).tolist()) for row in truth_of(data, work["categories"])[rest]]
    answers = ([() if no else true for true, no in zip(found, side, strict=True)] for side in wrong)
    counted = Counter(zip(found, *answers, strict=True))
    return EventPopulation(name, joint_events(work["categories"], sorted(counted.items())))
