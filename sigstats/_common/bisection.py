"""The smallest whole number that is enough, found by doubling and halving."""

from collections.abc import Callable


def smallest_enough(enough: Callable[[int], bool], maximum: int, *, low: int = 0) -> int | None:
    """The smallest whole number above `low` that is enough; None if `maximum` is not.

    `enough`: whether a number is enough. If it is not true of all numbers above one of which it is true, the answer
    is enough and the number below it is not, but a smaller one may be.
    `maximum`: the largest number that is asked for.
    `low`: a number that is not enough.

    >>> smallest_enough(lambda n: n * n >= 200, 1000), smallest_enough(lambda n: n * n >= 200, 10)
    (15, None)
    """
    high = min(max(2 * low, 1), maximum)
    while not enough(high):
        if high == maximum:
            return None
        low, high = high, min(2 * high, maximum)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
