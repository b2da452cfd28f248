"""How many examples a property draws that asks for a number of its own, and what `make check` alone takes."""

from hypothesis import settings

#: What a property draws that asks for no number, by the profile of ``make check``.
_USUAL = 100


def examples(number: int) -> int:
    """`number`, or the part of it that the profile at hand draws: `make test` draws a fifth."""
    return max(1, number * settings().max_examples // _USUAL)


def retrained(replicates: int) -> int:
    """`replicates` of a permutation that is retrained in two ways, or, in a run such as `make test`, some of them."""
    return replicates if thorough() else 1 + replicates // 5


def thorough() -> bool:
    """Whether this is no quick run such as `make test`, so that a test may take its dear size."""
    return settings().max_examples >= _USUAL


def simulated(samples: int) -> int:
    """`samples` that a test simulates, or, in a run such as `make test`, half of them."""
    return samples if thorough() else samples // 2
