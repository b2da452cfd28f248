"""The agreement of a judge with people about one model."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..intervals import Interval, clopper_pearson


class JudgeAgreement(NamedTuple):
    """The agreement of the judge with people, about one model.

    Attributes
    ----------
    both_right, judge_alone_right, people_alone_right, both_wrong : int
        The number of labelled rows by what both say of the model's answer. Of marks, those above the middle of the
        limits count as right.
    """

    both_right: int
    judge_alone_right: int
    people_alone_right: int
    both_wrong: int

    def agreement(self, confidence_level: float = 0.95) -> Interval:
        """Clopper and Pearson's interval of the share of rows of which both say the same."""
        return clopper_pearson(self.both_right + self.both_wrong, sum(self), confidence_level=confidence_level)

    def sensitivity(self, confidence_level: float = 0.95) -> Interval:
        """That of the share called right by the judge among the answers that people call right."""
        return _share(self.both_right, self.people_alone_right, confidence_level)

    def specificity(self, confidence_level: float = 0.95) -> Interval:
        """That of the share called wrong by the judge among the answers that people call wrong."""
        return _share(self.both_wrong, self.judge_alone_right, confidence_level)


def agreement_of(judge: NDArray[np.bool_], people: NDArray[np.bool_]) -> JudgeAgreement:
    """The agreement on the labelled rows, right or wrong by each."""
    counts = np.bincount(2 * people.astype(np.int64) + judge, minlength=4)
    wrong, judge_alone, people_alone, right = (int(each) for each in counts)
    return JudgeAgreement(right, judge_alone, people_alone, wrong)


def _share(successes: int, others: int, confidence_level: float) -> Interval:
    if successes + others == 0:
        return Interval(0.0, 1.0, confidence_level)
    return clopper_pearson(successes, successes + others, confidence_level=confidence_level)
