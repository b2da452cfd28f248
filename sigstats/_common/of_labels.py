"""Functions of counts that also take labels, as `from_predictions`."""

import functools
import inspect
from collections.abc import Callable
from typing import Any, ParamSpec, Protocol, TypeVar, cast

P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class TakesCounts(Protocol[P, Q, R_co]):
    """A function of counts, whose `from_predictions` is the same function of labels."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """The function of counts."""

    @property
    def from_predictions(self) -> Callable[Q, R_co]:
        """The function of labels."""


#: The documentation that functions of labels have in common.
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
    """Attach the function of labels to a function of counts, which names it if it is called with labels.

    `positional`: the number of arguments of the function of counts that may be given by position.
    """

    def wrap(test: Callable[P, R]) -> TakesCounts[P, Q, R]:
        name = getattr(test, "__name__", "the test")
        named = inspect.signature(from_predictions).parameters.values()
        order = ", ".join(one.name for one in named if one.kind is one.POSITIONAL_OR_KEYWORD)

        @functools.wraps(test)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
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
