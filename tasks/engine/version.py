"""Which version of this package a process has."""

import importlib.metadata


def version() -> str:
    """The version that is installed, or that of the source where none is."""
    try:
        return importlib.metadata.version("sigstats")
    except importlib.metadata.PackageNotFoundError:
        return "without a version"
