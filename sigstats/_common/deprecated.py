"""Former names, which work for one more minor release and warn (docs/releases.md)."""

import functools
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
#: Former names of `sigstats`: the module and the name now, and the release that no longer has the former name.
MOVED = {
    "dcf_test": ("sigstats.proportions", "dcf_test", "0.3"),
    "dominance": ("sigstats.possibilistic", "dominance", "0.3"),
    "membership": ("sigstats.possibilistic", "membership", "0.3"),
    "possibility": ("sigstats.possibilistic", "possibility", "0.3"),
    "proportion_test": ("sigstats.proportions", "proportion_test", "0.3"),
    "rank_sets": ("sigstats.ranking.rank_sets", "rank_sets", "0.3"),
    "relax_probabilities": ("sigstats.possibilistic", "relax_probabilities", "0.3"),
    "weigh_hypotheses": ("sigstats.possibilistic", "weigh_hypotheses", "0.3"),
}


def renamed(until: str, **names: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a function accept the former names of its parameters until a release: ``@renamed("0.3", target="power")``."""

    def wrap(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def accepting(*args: P.args, **kwargs: P.kwargs) -> R:
            __tracebackhide__ = True  # pytest shows the line that calls
            name = getattr(function, "__name__", "the function")
            for former in names.keys() & kwargs.keys():
                if names[former] in kwargs:
                    raise TypeError(f"{name}() got both {names[former]!r} and {former!r}, its former name")
                kwargs[names[former]] = kwargs.pop(former)
                _warn(f"{name}(): {former!r} is now {names[former]!r}", until, level=3)
            return function(*args, **kwargs)

        return accepting

    return wrap


def moved(name: str) -> Any:
    """The object that a name of `MOVED` stands for."""
    module, now, until = MOVED[name]
    _warn(f"sigstats.{name} is now {module}.{now}", until, level=4)
    return getattr(import_module(module), now)


def _warn(message: str, until: str, *, level: int) -> None:
    warnings.warn(f"{message}; the former name will be removed in {until}", DeprecationWarning, stacklevel=level)
