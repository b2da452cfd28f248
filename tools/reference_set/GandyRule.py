"""Gandy's sequential Monte-Carlo test: where it ends, the p-value of the end, and the interval of p."""

from collections.abc import Iterator
from fractions import Fraction

from ._cases import Case
from ._exit_limits import limits
from ._exits import Rule, counted, first_end, pvalue, urn

SOURCE = (
    "Gandy (2009), section 2; the p-value orders the ends and is their probability where p is uniform; the interval "
    "has each p at which neither tail of that order is below half of one less the confidence."
)
METHODS = ("paths counted in whole numbers, with beta integrals", "Polya's urn and chances passed on, in balls")

#: The interval that is reported by default, as a double; and for how many replicates it is made.
_LEVEL, _MOST = Fraction(0.99), 400
#: Fields of the rule, and what was drawn: how many, and which exceeded.
_EASY = {"maximum": 99, "alpha": 0.5, "risk": 0.1, "half_spent": 10}
_USUAL = {"maximum": 999, "alpha": 0.05}
_TESTS = {"maximum": 999, "alpha": 0.05, "reject_at": 0.0125, "risk": 0.01, "half_spent": 100}
_FAR = {"maximum": 1500, "alpha": 0.01, "risk": 1e-6, "half_spent": 50}


def cases() -> Iterator[Case]:
    """None and all that exceed, one in so many, a few at first, and ends without a verdict."""
    drawn: list[tuple[str, dict[str, float], list[int]]] = []
    for every in (1, 2, 3, 5, 99):
        drawn.append(("easy", _EASY, list(range(every, 100, every))))
    drawn += [("easy", {**_EASY, "maximum": 5}, list(range(1, s + 1))) for s in range(4)]
    drawn += [("easy", {"maximum": 1, "alpha": 0.05}, exceeding) for exceeding in ([], [1])]
    for rule in (_USUAL, _TESTS):
        for every in (1, 2, 4, 8, 12, 15, 20, 30, 60, 200, 1000):
            drawn.append(("average", rule, list(range(every, 1000, every))))
    for every in (1, 3, 40, 70, 100, 150, 300, 2000):
        drawn.append(("hard", _FAR, list(range(every, 1501, every))))
    drawn += [("hard", rule, [10, 20, 30, 40]) for rule in (_USUAL, _TESTS, _FAR)]
    for difficulty, rule, exceeding in drawn:
        yield _case(difficulty, rule, exceeding)


def _case(difficulty: str, given: dict[str, float], exceeding: list[int]) -> Case:
    maximum = int(given["maximum"])
    fields = {name: Fraction(str(value)) for name, value in given.items()}
    alpha = fields["alpha"]
    spent = int(given.get("half_spent", 1000))
    rule = Rule(maximum, fields.get("reject_at", alpha), alpha, fields.get("risk", Fraction(1, 1000)), spent)
    both = [method(rule, maximum) for method in (counted, urn)]
    found = []
    for ends in both:
        n, s = first_end(ends, set(exceeding), maximum)
        found.append((n, s, pvalue(ends, n, s)))
    names = ("n_resamples", "exceedances", "pvalue")
    values = {name: (found[0][place], found[1][place]) for place, name in enumerate(names)}
    n, s, _ = found[0]
    if n <= _MOST:
        ends = limits(both[0], both[1], maximum, (n, s), _LEVEL)
        values.update({f"pvalue_interval[{place}]": ends[place] for place in (0, 1)})
    shown = [each for each in exceeding if each <= found[0][0]]
    return Case(difficulty, {**given, "drawn": found[0][0], "exceeding": shown}, values)
