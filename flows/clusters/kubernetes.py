"""Workers as pods of Kubernetes, which Dask's operator starts and replaces."""

import uuid
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Annotated, Any, Literal

from pydantic import Field

from sigstats.tasks.engine.pools import Pool
from sigstats.tasks.plan import Needs

from ..config.model import bytes_of
from . import by_class
from ._engine import environment, quietly
from ._workers import ClusterFile, Workers, opened_for

#: Seconds of idleness after which the operator deletes the pods, which a killed run cannot do; a task that waits for a
#: worker counts as work.
_IDLE_SECONDS = 600

Label = Annotated[str, Field(pattern=r"^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$")]


class Cluster(ClusterFile):
    """``kind = "kubernetes"``. It needs the operator of dask-kubernetes, and an object store for the output."""

    kind: Literal["kubernetes"] = "kubernetes"
    image: str = Field(pattern=r"^[a-z0-9][A-Za-z0-9._/:@-]*$", description="Container image with this package")
    workers: Workers = Field(description="Worker pods of one thread")
    memory: str = Field("2Gi", pattern=r"^[0-9]+[KMGT]i$", description='Memory of each pod, as in "2Gi"')
    namespace: Label | None = Field(None, description="Namespace; that of the current context by default")
    service_account: Label | None = Field(None, description="Service account of the pods")
    secret: Label | None = Field(None, description="Secret whose entries are variables of the workers, such as keys")
    pull_secret: Label | None = Field(None, description="Secret for pulling the image")
    node_selector: dict[str, str] = Field(default_factory=dict, description="Labels of the nodes")
    tolerations: list[dict[str, Any]] = Field(default_factory=list, description="Taints of nodes that pods tolerate")
    timeout: int = Field(300, gt=0, description="Seconds to wait for the scheduler's pod")


def manifest(cluster: Cluster, name: str, needs: Needs | None = None) -> dict[str, Any]:
    """The ``DaskCluster`` resource for the operator; its pods run without root and without privileges.

    Its workers have `needs`, if given, in addition to their own memory.
    """
    from dask_kubernetes.operator import make_cluster_spec

    made: dict[str, Any] = make_cluster_spec(
        name, image=cluster.image, n_workers=1, env=environment(), idle_timeout=_IDLE_SECONDS
    )
    worker = ["dask", "worker", "--name", "$(DASK_WORKER_NAME)", "--nthreads", "1", "--no-dashboard"]
    worker += ["--memory-limit", f"{cluster.memory}B"]
    for part, command in (("scheduler", ["dask", "scheduler", "--host", "0.0.0.0"]), ("worker", worker)):  # noqa: S104
        pod = made["spec"][part]["spec"]
        pod["containers"][0] |= {
            "args": command,
            "resources": {"requests": {"cpu": "1", "memory": cluster.memory}, "limits": {"memory": cluster.memory}},
            "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
            **({"envFrom": [{"secretRef": {"name": cluster.secret}}]} if cluster.secret and part == "worker" else {}),
        }
        pod |= {
            "securityContext": {"runAsNonRoot": True, "runAsUser": 1000, "seccompProfile": {"type": "RuntimeDefault"}},
            "automountServiceAccountToken": cluster.service_account is not None,
            **({"serviceAccountName": cluster.service_account} if cluster.service_account else {}),
            **({"imagePullSecrets": [{"name": cluster.pull_secret}]} if cluster.pull_secret else {}),
            **({"nodeSelector": dict(cluster.node_selector)} if cluster.node_selector else {}),
            **({"tolerations": list(cluster.tolerations)} if cluster.tolerations else {}),
        }
    (of_workers,) = made["spec"]["worker"]["spec"]["containers"]
    del of_workers["ports"]  # that of a dashboard
    if needs is not None:
        memory = f"{(bytes_of(f'{cluster.memory}B') + needs.memory) // 2**20}Mi"
        gpus = {"nvidia.com/gpu": str(needs.gpu)} if needs.gpu else {}
        requests = {"cpu": str(needs.threads), "memory": memory}
        of_workers["resources"] = {"requests": requests, "limits": {"memory": memory, **gpus}}
    return made


@quietly
def open_pool(cluster: Cluster, needs: Sequence[Needs] = ()) -> AbstractContextManager[Pool]:
    """Start the pods through the operator, and delete them at the end; blocks with needs get pods of their own."""
    made = {"class": "dask_kubernetes.operator.KubeCluster", "workers": cluster.workers}
    kube = by_class.Cluster.model_validate(made)
    by_class.imported(kube.class_)
    import kr8s

    # Asked first: a KubeCluster that finds no server would be cleaned up, with an error, at exit.
    with by_class.refused(kube, "a scheduler"):
        kr8s.api(namespace=cluster.namespace).version()

    def pods(one: Needs | None) -> AbstractContextManager[Pool]:
        arguments = {
            "custom_cluster_spec": manifest(cluster, f"sigstats-{uuid.uuid4().hex[:10]}", one),
            "namespace": cluster.namespace,
            "resource_timeout": cluster.timeout,
            "shutdown_on_close": True,
            "quiet": True,
        }
        return by_class.open_workers(kube, arguments, one)

    return opened_for(needs, pods)
