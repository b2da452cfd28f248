"""The version of this package in a process."""

import importlib.metadata


def version() -> str:
    """The installed version of this package, or "without a version" if it is not installed."""
    try:
        return importlib.metadata.version("sigstats")
    except importlib.metadata.PackageNotFoundError:
        return "without a version"
