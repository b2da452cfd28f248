"""The probabilities that exactly one of two classifiers is right, as a person knows them."""

from typing import Any

from .._common.validation import as_real, refuse

#: More than the rounding of a sum of probabilities.
_ROUNDING = 1e-12


def discordant_probabilities(
    only_a: Any, only_b: Any, accuracy_a: Any, accuracy_b: Any, discordance: Any
) -> tuple[float, float]:
    """The probabilities that only A, and only B, is right: given as such, or by accuracies and their discordance.

    Raises ValueError, unless exactly one of the two ways is taken, with probabilities that can be together.

    >>> [round(p, 3) for p in discordant_probabilities(None, None, 0.40, 0.35, 0.25)]
    [0.15, 0.1]
    """
    direct, by_accuracy = (only_a, only_b), (accuracy_a, accuracy_b, discordance)
    if all(value is not None for value in direct) and all(value is None for value in by_accuracy):
        a, b = as_real(only_a, "only_a", low=0, high=1), as_real(only_b, "only_b", low=0, high=1)
        if a + b > 1 + _ROUNDING:
            raise refuse("only_a + only_b", a + b, "at most 1")
        return a, b
    if any(value is None for value in by_accuracy) or any(value is not None for value in direct):
        given = ["only_a", "only_b", "accuracy_a", "accuracy_b", "discordance"]
        named = [name for name, value in zip(given, direct + by_accuracy, strict=True) if value is not None]
        raise ValueError(
            f"given are {', '.join(named) or 'no probabilities'}; expected only_a= and only_b=, the probabilities that "
            "only A, and only B, is right, or accuracy_a=, accuracy_b= and discordance=, that exactly one is right"
        )
    s, t = as_real(accuracy_a, "accuracy_a", low=0, high=1), as_real(accuracy_b, "accuracy_b", low=0, high=1)
    d = as_real(discordance, "discordance", low=0, high=1)
    least, most = abs(s - t), min(s + t, 2 - s - t)
    if not least - _ROUNDING <= d <= most + _ROUNDING:
        raise refuse("discordance", discordance, f"from {least:g} to {most:g}, with accuracies {s:g} and {t:g}")
    return max(0.0, (d + s - t) / 2), max(0.0, (d - s + t) / 2)
