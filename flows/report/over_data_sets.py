"""Models over several data sets, and over data sets like them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sigstats.many_datasets.comparison import DatasetsComparison

from ..pages.wording import number, signed, significant

Rights: TypeAlias = NDArray[np.bool_]

RESAMPLES, SEED = 10_000, 0


@dataclass(frozen=True)
class Score:
    """The scored quantity, and the format of its values."""

    name: str
    #: What is compared: ``"classifier"``.
    model: str
    in_percent: bool
    #: Differences up to this are none in practice.
    rope: float
    greater_is_better: bool = True

    def text(self, value: float) -> str:
        """A mean score."""
        return f"{100 * value:.2f}%" if self.in_percent else number(value, 4)

    def difference(self, value: float) -> str:
        """A difference of scores, with its sign."""
        return signed(100 * value, 2) if self.in_percent else signed(value, 4)

    @property
    def equal(self) -> str:
        """Up to which difference models are equal in practice."""
        return f"{significant(100 * self.rope)} point" if self.in_percent else significant(self.rope)


@dataclass(frozen=True)
class TheseDataSets:
    """Two models over these data sets, whose rows are the sample."""

    #: The mean difference of the score, A less B.
    difference: float
    #: Of the exact stratified test, two-sided, adjusted over the pairs by Holm's method.
    pvalue: float
    adjusted_pvalue: float


@dataclass(frozen=True)
class OverDataSets:
    """All models over the data sets that all of them finished."""

    #: Models from the best mean rank to the worst.
    comparison: DatasetsComparison
    score: Score
    #: The mean score of each model.
    means: dict[str, float]
    #: How the models are compared.
    method: str
    #: The pairs compared over these data sets; empty if the rows are unknown.
    these: Sequence[TheseDataSets] = ()
