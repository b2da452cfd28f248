"""Calls of public functions: rules on inputs, inputs that exclude each other, former names, and labels for counts.

Former names warn until a release. A function of counts can also be called with labels.
"""

import functools
import inspect
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any, ParamSpec, Protocol, TypeAlias, TypeVar, cast

from .validation import shown

P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
#: Former names of `sigstats`: the module and the name now, and the release that no longer has the former name
#: (docs/releases.md).
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
    """Return the object for which a name of `MOVED` stands."""
    module, now, until = MOVED[name]
    _warn(f"sigstats.{name} is now {module}.{now}", until, level=4)
    return getattr(import_module(module), now)


def _warn(message: str, until: str, *, level: int) -> None:
    warnings.warn(f"{message}; the former name will be removed in {until}", DeprecationWarning, stacklevel=level)


class TakesCounts(Protocol[P, Q, R_co]):
    """A function of counts. Its attribute `from_predictions` is the same function, called with labels."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """Return the result for counts."""

    @property
    def from_predictions(self) -> Callable[Q, R_co]:
        """The same function, called with labels instead of counts."""


#: Documentation that all functions of labels share.
_LABELS = """

Parameters
----------
{order} : array_like, shape (n,)
    The true labels and the assigned ones: all numbers or all strings.
positive : label, optional
    For measures of one class: that class; by default the second of 0 and 1, -1 and 1, false and true, or no and yes.
other options
    As of `{name}`.
"""


def takes_counts(positional: int, from_predictions: Callable[Q, R]) -> Callable[[Callable[P, R]], TakesCounts[P, Q, R]]:
    """Attach the function of labels to a function of counts. Errors for calls with labels then mention it.

    `positional`: how many arguments of the function of counts may be positional.
    """

    def wrap(test: Callable[P, R]) -> TakesCounts[P, Q, R]:
        name = getattr(test, "__name__", "the test")
        named = inspect.signature(from_predictions).parameters.values()
        order = ", ".join(one.name for one in named if one.kind is one.POSITIONAL_OR_KEYWORD)

        @functools.wraps(test)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            # The first argument may be a table of counts. A later array or list is labels; a 0-d array has shape ().
            if len(args) > positional or any(
                getattr(given, "shape", isinstance(given, (list, tuple))) for given in args[1:]
            ):
                raise ValueError(f"{name} takes counts; with labels, call {name}.from_predictions({order})")
            return test(*args, **kwargs)

        of_labels = cast(Any, from_predictions)
        of_labels.__doc__ = (of_labels.__doc__ or "") + _LABELS.format(order=order, name=name)  # none by -OO
        of_labels.__name__, of_labels.__qualname__ = "from_predictions", f"{name}.from_predictions"
        cast(Any, checked).from_predictions = of_labels
        return cast("TakesCounts[P, Q, R]", checked)

    return wrap


Subject = TypeVar("Subject")
#: The errors of what breaks a rule.
Errors: TypeAlias = Iterator[ValueError]

_ONE = "expected one of them"
#: Inputs that select what is read from files, except groups.
_READ = (
    *("id", "label", "epoch", "task", "labels", "unmatched", "unscored", "duplicates"),
    *("prediction", "score", "slice", "model", "probabilities"),
    *("lower_is_better", "higher_is_better", "by_position", "missing", "classes", "allow_different_tasks"),
)
_OF_MEASURES = ("measure", "positive", "score_range")
#: Inputs, other inputs that exclude them, and the remedy.
_EXCLUDED = (
    (("order",), ("several answers to an item", "groups", "group", "epoch", "run", "runs", "tasks", "weights"), _ONE),
    (("weights",), ("several answers to an item", "epoch", "run", "runs", "tasks", "fresh rows"), _ONE),
    (("run",), ("epoch", "group"), f"{_ONE}, since runs are the independent units"),
    (("by_position",), ("id", "labels that have ids", "groups by id"), _ONE),
    (("probabilities", "ratio"), ("score",), _ONE),
    (("changed",), ("run", "several candidates"), "expected the rows of two models"),
    (("group",), ("fresh rows",), "expected independent rows"),
    (
        ("score", "ratio", "lower_is_better", "higher_is_better", "model", "epoch", "run", "task", "labels", "human"),
        ("arrays",),
        "expected data frames",
    ),
    (("by_position", "unmatched", "duplicates"), ("arrays",), "expected data frames"),
    (("changed", "run", "positive", "order", "weights", "ratio", "measure", "costs"), ("human",), _ONE),
    (("changed", "run", "human", "order", "weights", "task", "unmatched", "bins"), ("unpaired",), _ONE),
    ((*_READ, *_OF_MEASURES, "cost", "run", "human", "power"), ("votes",), _ONE),
    (("power",), ("several candidates", "several scores"), "expected one candidate, and one score"),
    (("power",), ("unpaired", "human", "order", "weights"), _ONE),
)


def check_rules(subject: Subject, rules: Iterable[Callable[[Subject], Iterator[Exception]]]) -> None:
    """Raise the first error of the first rule that the subject breaks; later rules are not examined."""
    for rule in rules:
        for error in rule(subject):
            raise error


def check_together(given: Mapping[str, Any]) -> None:
    """Raise ValueError if two of the given inputs exclude each other.

    None, False, an empty sequence and ``"refuse"`` (the default action) mean that an input is not given.
    """
    usual: tuple[Any, ...] = (None, False, "refuse", (), [])
    present = {name: v for name, v in given.items() if not any(type(v) is type(none) and v == none for none in usual)}
    for names, others, cure in _EXCLUDED:
        name = next((name for name in names if name in present), "")
        other = next((other for other in others if other in present), "")
        if name and other:
            first, second = (f" {shown(v)}" if isinstance(v := present[key], str) else "" for key in (name, other))
            be = "are" if name.endswith("s") and not first else "is"
            raise ValueError(f"{name}:{first} {be} not valid with {other}{second}; {cure}")
