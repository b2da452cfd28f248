"""The answer to a call with labels of a test that takes counts."""

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def takes_counts(positional: int, call: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a test name the call that counts, where it is given labels and predictions as further arguments.

    `positional`: how many arguments the test takes by position. `call`: the call on ``y, a, b`` that does what was
    meant.

    Examples
    --------
    >>> from sigstats._common.counts_wanted import takes_counts
    >>> @takes_counts(2, "mcnemar_test(*discordant_counts(y, a, b))")
    ... def mcnemar_test(only_a, only_b): ...
    >>> mcnemar_test([0, 1], [0, 1], [1, 1])
    Traceback (most recent call last):
        ...
    ValueError: mcnemar_test takes counts, at most 2; of labels: mcnemar_test(*discordant_counts(y, a, b))
    """

    def wrap(test: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(test)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            if len(args) > positional:
                name = getattr(test, "__name__", "the test")
                raise ValueError(f"{name} takes counts, at most {positional}; of labels: {call}")
            return test(*args, **kwargs)

        return checked

    return wrap
