"""What the image "serving" lacks cannot be imported: compilers, and clients of Kubernetes."""

import sys

for lacking in ("numba", "llvmlite", "kubernetes", "kubernetes_asyncio", "kr8s", "dask_kubernetes", "pykube", "kopf"):
    sys.modules[lacking] = None  # type: ignore[assignment]
