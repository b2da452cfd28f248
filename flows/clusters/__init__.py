"""The kinds of cluster: where a study runs. A new kind is one new module of this folder."""

from contextlib import AbstractContextManager
from typing import Any, Protocol

from sigstats._common.registry import Registry
from sigstats.tasks.engine.pools import Pool

from ..config.study import Strict


class ClusterKind(Protocol):
    """What a module of this folder offers."""

    @property
    def Cluster(self) -> type[Strict]:  # noqa: N802
        """What a cluster file of ``kind = "<name of the module>"`` may say."""

    def open_pool(self, cluster: Any, /) -> AbstractContextManager[Pool]:
        """The workers, for as long as the context lasts; then everything is taken down again."""


REGISTRY = Registry(__name__, ClusterKind, what="cluster")


def kinds() -> dict[str, type[Strict]]:
    """Every kind of cluster with its model."""
    return {kind: module.Cluster for kind, module in REGISTRY.modules().items()}


def open_pool(cluster: Any) -> AbstractContextManager[Pool]:
    """The workers of a cluster, for as long as the context lasts."""
    return REGISTRY.module(cluster.kind).open_pool(cluster)
