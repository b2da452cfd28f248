"""Which model is best over the data sets, in words."""

from collections.abc import Sequence

from sigstats.multiplicity import fewest_resamples

from ..pages.wording import count_of, join_words, p_equation
from .evidence import Evidence, Verdict
from .over_data_sets import OverDataSets

_NAMED = 6


def choice(best: str, tied: Sequence[str]) -> str:
    """Which to choose of the best classifier and those that do not differ significantly from it.

    >>> choice("a", ["b"])
    'take a or b: other criteria, such as cost, or more rows may decide'
    """
    rest = f" or {', '.join(tied)}: other criteria, such as cost, or more rows may decide" if tied else ""
    return f"take {best}{rest}"


def best_over_data_sets(evidence: Evidence) -> Verdict | None:
    """The best classifier on data sets like these, and on these; None if there are too few."""
    analysis = evidence.over_data_sets
    if analysis is None:
        return None
    beyond = analysis.comparison.conclusion.replace("No two", "no two", 1)
    on_these, to_do = _on_these(analysis)
    return Verdict(f"{on_these} Beyond these: {beyond}", tuple(_details(analysis)), to_do=to_do)


def _details(analysis: OverDataSets) -> list[str]:
    comparison = analysis.comparison
    k, models, what = len(comparison.models), comparison.models, analysis.score.model
    said = []
    if analysis.low:
        first = [model for model, low in zip(models, analysis.low, strict=True) if low == 1]
        named = join_words([*first[:_NAMED], *([f"{len(first) - _NAMED} more"] if len(first) > _NAMED else [])])
        may = "is the best" if len(first) == 1 else "may each be the best"
        said.append(f"On data sets like these {named} {may} of {count_of(k, what)}, all ranks taken together.")
    # The smallest p of n data sets is 2 / 2**n.
    fewest = fewest_resamples(len(comparison.pairs), [], method=comparison.adjust, alpha=comparison.alpha)
    needed = 1 + fewest.bit_length()
    if comparison.datasets < needed:
        said.append(
            f"{comparison.datasets} data sets are too few: {count_of(len(comparison.pairs), 'pair')} can be told "
            f"apart on {needed} or more."
        )
    if comparison.friedman is not None:
        p = p_equation(comparison.friedman.pvalue)
        how = "exactly" if comparison.friedman.method == "exact" else "Iman and Davenport's F"
        said.append(f"That all {what}s are alike: {p} (Friedman, {how}).")
    return said


def _on_these(analysis: OverDataSets) -> tuple[str, str]:
    comparison, what = analysis.comparison, analysis.score.model
    better = max if analysis.score.greater_is_better else min
    most = comparison.models[better(range(len(analysis.means)), key=lambda model: analysis.means[model])]
    pairs = zip(comparison.pairs, analysis.these, strict=False)
    ahead = {pair.b if pair.a == most else pair.a: these for pair, these in pairs if most in (pair.a, pair.b)}
    best = f"{most} has the best mean {analysis.score.name}"
    if not ahead:
        return f"On these {comparison.datasets} data sets {best}; how certain that is needs their rows.", ""
    tied = [other for other, these in ahead.items() if these.adjusted_pvalue > comparison.alpha]
    least = min(ahead.values(), key=lambda these: abs(these.difference))
    nearest = analysis.score.difference(abs(least.difference)).lstrip("+")
    others = count_of(len(comparison.models) - 1, f"other {what}")
    said = f"On these {comparison.datasets} data sets {best}; it differs from {len(ahead) - len(tied)} of {others}"
    said += f" (exact stratified tests, Holm), the nearest being {nearest} points behind."
    return said, f"On these data sets {choice(most, tied)}."
