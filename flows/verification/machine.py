"""What a verification ran on."""

import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def machine() -> dict[str, str]:
    """The versions, the processor and the BLAS libraries."""
    found = {"sigstats": version("sigstats"), "Python": platform.python_version()}
    for name in ("numpy", "scipy", "python-flint", "numba"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "absent"
    import scipy.linalg  # noqa: F401 - loads the BLAS library that is asked about

    try:
        from threadpoolctl import threadpool_info
    except ImportError:  # the light installation
        libraries = set()
    else:
        libraries = {f"{each['internal_api']} {each['version']}" for each in threadpool_info()}
    return {
        **found,
        "BLAS": ", ".join(sorted(libraries)) or "unknown",
        "processor": _processor(),
        "system": platform.platform(),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())
