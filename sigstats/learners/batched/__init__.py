"""Learners that predict a block of replicates at once. A new batched form is one new module of this folder."""

from typing import Protocol

from ..._common.registry import Registry
from ..base import BatchedLearner


class BatchedForm(Protocol):
    """What a module of this folder offers."""

    @property
    def BATCHED(self) -> tuple[type[BatchedLearner], ...]:  # noqa: N802
        """The learners, in the order in which they are asked whether they know an estimator."""


REGISTRY = Registry(__name__, BatchedForm, what="batched learner")
