"""Tests that take counts, from labels: how the counts are made of labels and predictions."""

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, Protocol, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class TakesCounts(Protocol[P, R_co]):
    """A test of counts, which counts labels by `from_predictions`."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """The test of counts."""

    def from_predictions(self, y: Any, *predictions: Any, **options: Any) -> R_co:
        """The test of what true labels and predictions give, with the options of both."""


def takes_counts(
    positional: int, counted: Callable[..., tuple[Any, ...]], *of_counting: str
) -> Callable[[Callable[P, R]], TakesCounts[P, R]]:
    """Let a test of counts have a way in from labels, and name it where it is given labels.

    `positional`: how many arguments the test takes by position; `counted` makes these of the true labels and of the
    predictions. `of_counting`: the options of `counted`, such as ``positive``; all others are the test's.
    """

    def wrap(test: Callable[P, R]) -> TakesCounts[P, R]:
        name = getattr(test, "__name__", "the test")

        @functools.wraps(test)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            if len(args) > positional:
                given = ", ".join("yab"[: len(args)]) if len(args) < 4 else "y, a, b"
                raise ValueError(
                    f"{name} takes counts, at most {positional}; of labels: {name}.from_predictions({given})"
                )
            return test(*args, **kwargs)

        def from_predictions(y: Any, *predictions: Any, **options: Any) -> R:
            own = {key: options.pop(key) for key in of_counting if key in options}
            return cast(Any, test)(*counted(y, *predictions, **own), **options)  # type: ignore[no-any-return]

        from_predictions.__doc__ = f"`{name}` of true labels and predictions, in place of counts."
        cast(Any, checked).from_predictions = from_predictions
        return cast("TakesCounts[P, R]", checked)

    return wrap
