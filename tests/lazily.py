"""Modules that take a second to import and that few tests use: each worker of xdist collects all of the tests."""

import importlib.util
import sys
from types import ModuleType


def lazily(name: str) -> ModuleType:
    """Return the module of this name, which is imported when a test first uses something of it."""
    if name not in sys.modules:
        spec = importlib.util.find_spec(name)
        assert spec is not None, name
        assert spec.loader is not None, name
        spec.loader = importlib.util.LazyLoader(spec.loader)
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
        package, _, last = name.rpartition(".")
        if package:
            setattr(sys.modules[package], last, sys.modules[name])
    return sys.modules[name]
