"""The analyses: how stored replicates become hypotheses. A new test of a study is one new module of this folder.

`sigstats.tasks.summary.summarize` adds the adjustment for multiplicity, the possibilistic indices and the decision.
"""

from collections.abc import Iterator
from typing import Protocol

from sigstats._common.registry import Registry

from ..results import Results
from ..schema import Hypothesis


class Analysis(Protocol):
    """What a module of this folder offers."""

    def rows(self, results: Results, /) -> Iterator[Hypothesis]:
        """Every hypothesis of the test in a study, in the order of the plan.

        One whose replicates are missing has ``decision="missing"``. The fields that all tests share are added later.
        """


REGISTRY = Registry(__name__, Analysis, what="analysis")
