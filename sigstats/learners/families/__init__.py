"""The ready learners: scikit-learn estimators by name. A new family of learners is one new module of this folder."""

from collections.abc import Mapping
from typing import Protocol

from ..._common.registry import Registry
from ..base import Build


class Family(Protocol):
    """The names that a module of this folder must have."""

    @property
    def READY(self) -> Mapping[str, Build]:  # noqa: N802
        """Name of a learner to the function ``(params, nominal, missing) -> estimator`` that builds it."""


REGISTRY = Registry(__name__, Family, what="family of learners")
