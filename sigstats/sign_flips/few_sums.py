"""The law of a sum with random signs where its possible values are few, however far apart they lie.

Equal magnitudes are taken together: t of size m put ``j m`` into the sum in ``comb(t, j)`` ways. The possible sums of
one half of the sizes and of the other are listed, and the tail is counted over pairs of them.
"""

from bisect import bisect_left
from collections.abc import Mapping
from itertools import accumulate

#: Half of the sizes have at most so many sums.
MOST_SUMS = 2**16


def halves(distinct: Mapping[int, int]) -> tuple[dict[int, int], dict[int, int], int]:
    """The sizes in two parts, each with how often it occurs, and the number of sums of the part that has more.

    >>> halves({3: 9, 5: 4, 7: 1})
    ({3: 9}, {5: 4, 7: 1}, 10)
    """
    parts: tuple[dict[int, int], dict[int, int]] = ({}, {})
    sums = [1, 1]
    for size, times in sorted(distinct.items(), key=lambda item: (-item[1], item[0])):
        fewer = int(sums[1] < sums[0])
        parts[fewer][size] = times
        sums[fewer] *= times + 1
    return *parts, max(sums)


def tail_count(one: Mapping[int, int], other: Mapping[int, int], threshold: int) -> int:
    """How many choices of signs give a sum of at least the threshold, from the two parts of `halves`.

    >>> tail_count({1: 1, 2: 1}, {5: 1}, 6)  # 1 + 5, 2 + 5 and 1 + 2 + 5
    3
    """
    first, second = _counts(one), sorted(_counts(other).items())
    sums = [total for total, _ in second]
    from_here_on = [*accumulate((count for _, count in reversed(second)), initial=0)][::-1]
    return sum(count * from_here_on[bisect_left(sums, threshold - total)] for total, count in first.items())


def _counts(distinct: Mapping[int, int]) -> dict[int, int]:
    """The number of choices of signs that give each sum."""
    counts = {0: 1}
    for size, times in distinct.items():
        grown: dict[int, int] = {}
        ways = 1
        for j in range(times + 1):
            added = j * size
            for total, count in counts.items():
                grown[total + added] = grown.get(total + added, 0) + ways * count
            ways = ways * (times - j) // (j + 1)
        counts = grown
    return counts
