"""Which model is best over the data sets, in words."""

from collections.abc import Sequence

from sigstats.multiplicity import fewest_resamples

from ..pages.wording import count_of, join_words
from .evidence import Evidence, Verdict
from .over_data_sets import OverDataSets

_NAMED = 6


def choice(best: str, tied: Sequence[str]) -> str:
    """Advice on the best classifier and those that do not differ significantly from it.

    >>> choice("a", ["b", "c"])
    'take a, b or c: other criteria, such as cost, or more rows may decide'
    """
    rest = ": other criteria, such as cost, or more rows may decide" if tied else ""
    return f"take {' or '.join(filter(None, (', '.join([best, *tied][:-1]), [best, *tied][-1])))}{rest}"


def best_in_words(best: str, tied: Sequence[str], worse: Sequence[str], where: str) -> str:
    """Name the best model, the models not shown to differ from it, and those shown to be worse.

    >>> best_in_words("a", ["b"], ["c"], "on iris")
    'a is best on iris; b is not shown to differ; c is worse'
    >>> best_in_words("a", ["b", "c"], [], "on iris")
    'a is ahead on iris; b and c are not shown to differ'
    """
    said = f"{best} is {'best' if worse or not tied else 'ahead'} {where}"
    for names, verb in ((tied, "not shown to differ"), (worse, "worse")):
        if names:
            shown = join_words(names) if len(names) <= _NAMED else f"{len(names)} others"
            said += f"; {shown} {'is' if len(names) == 1 else 'are'} {verb}"
    return said


def best_over_data_sets(evidence: Evidence) -> Verdict | None:
    """The best classifier on data sets like these, and on these; None if there are too few."""
    analysis = evidence.over_data_sets
    if analysis is None:
        return None
    on_these, nearest, to_do = _on_these(analysis)
    beyond = ("On data sets like these:", analysis.comparison.conclusion)
    return Verdict(on_these, (*nearest, beyond[1], *_details(analysis)), also=(beyond,), to_do=to_do)


def _details(analysis: OverDataSets) -> list[str]:
    comparison = analysis.comparison
    said = []
    # The smallest p of n data sets is 2 / 2**n.
    fewest = fewest_resamples(len(comparison.pairs), [], method=comparison.adjust, alpha=comparison.alpha)
    needed = 1 + fewest.bit_length()
    if comparison.datasets < needed:
        said.append(
            f"{comparison.datasets} data sets are too few: {count_of(len(comparison.pairs), 'pair')} can be told "
            f"apart on {needed} or more."
        )
    return said


def _on_these(analysis: OverDataSets) -> tuple[str, tuple[str, ...], str]:
    """The best model on these data sets, the distance of the next one, and the models to choose from."""
    comparison = analysis.comparison
    better = max if analysis.score.greater_is_better else min
    most = better(analysis.means, key=lambda model: analysis.means[model])
    pairs = zip(comparison.pairs, analysis.these, strict=False)
    ahead = {pair.b if pair.a == most else pair.a: these for pair, these in pairs if most in (pair.a, pair.b)}
    where = f"on these {comparison.datasets} data sets"
    if not ahead:
        known = f"{most} has the best mean {analysis.score.name} {where}; how certain that is needs their rows."
        return known, (), ""
    tied = [other for other, these in ahead.items() if these.adjusted_pvalue > comparison.alpha]
    least = min(ahead.values(), key=lambda these: abs(these.difference))
    nearest = (
        f"By mean {analysis.score.name} (exact stratified tests, Holm) the nearest to {most} is "
        f"{analysis.score.difference(abs(least.difference)).lstrip('+')} points behind."
    )
    return (
        f"{best_in_words(most, tied, [other for other in ahead if other not in tied], where)}.",
        (nearest,),
        f"On these data sets {choice(most, tied)}.",
    )
