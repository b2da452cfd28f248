"""What the report says of the models over all data sets, before it says anything of one of them."""

import math

from ...pages.wording import count_of, join_words, p_equation
from ..evidence import Evidence
from ..over_data_sets import OverDataSets
from ..performance import choice
from ..section import Verdict

_NAMED = 6

_RUNS = (
    "On data sets like these: each data set gives one difference of accuracies, which exact signed-rank tests take, "
    "adjusted by Holm's method. On these data sets: the rows are the sample, and the mean difference of accuracy is "
    "tested exactly given the rows that one classifier alone got right. Probabilities are those of the Bayesian "
    "signed-rank test; differences of at most one point are none in practice. Cross-validated rows share training "
    "sets; neither test accounts for the choice of the folds."
)
_SCORES = (
    "Each data set gives one difference of scores, which exact signed-rank tests take. The data sets are taken for a "
    "sample of data sets like them, and of a score it is not known how far chance moved it. Probabilities are those "
    "of the Bayesian signed-rank test; differences of at most {equal} are none in practice. Where less is better, "
    "differences are turned, so that the greater is the better."
)


def over_data_sets(evidence: Evidence) -> Verdict | None:
    """Who is best on data sets like these, and on these; None if there are too few."""
    found = evidence.over_data_sets
    if found is None:
        return None
    beyond = found.comparison.conclusion.replace("No two", "no two", 1)
    on_these, to_do = _on_these(found)
    return Verdict(f"{on_these} Beyond these: {beyond}", tuple(_details(found)), to_do=to_do)


def over_data_sets_method(evidence: Evidence) -> str:
    """How it is found; empty where there are too few data sets."""
    found = evidence.over_data_sets
    if found is None:
        return ""
    return _RUNS if found.score.in_percent else _SCORES.format(equal=found.score.equal)


def _details(found: OverDataSets) -> list[str]:
    comparison = found.comparison
    k, models, what = len(comparison.models), comparison.models, found.score.model
    said = []
    if found.low:
        first = [model for model, low in zip(models, found.low, strict=True) if low == 1]
        named = join_words([*first[:_NAMED], *([f"{len(first) - _NAMED} more"] if len(first) > _NAMED else [])])
        may = "is the best" if len(first) == 1 else "may each be the best"
        said.append(f"On data sets like these {named} {may} of {count_of(k, what)}, all ranks taken together.")
    family = 1 if comparison.adjust == "none" else len(comparison.pairs)
    needed = 1 + math.ceil(math.log2(family / comparison.alpha))
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


def _on_these(found: OverDataSets) -> tuple[str, str]:
    """What the rows of these data sets say, where they are known, and what to do."""
    comparison, what = found.comparison, found.score.model
    better = max if found.score.greater_is_better else min
    most = comparison.models[better(range(len(found.means)), key=lambda model: found.means[model])]
    pairs = zip(comparison.pairs, found.these, strict=False)
    ahead = {pair.b if pair.a == most else pair.a: these for pair, these in pairs if most in (pair.a, pair.b)}
    best = f"{most} has the best mean {found.score.name}"
    if not ahead:
        return f"On these {comparison.datasets} data sets {best}; how certain that is needs their rows.", ""
    tied = [other for other, these in ahead.items() if these.adjusted_pvalue > comparison.alpha]
    least = min(ahead.values(), key=lambda these: abs(these.difference))
    nearest = found.score.difference(abs(least.difference)).lstrip("+")
    others = count_of(len(comparison.models) - 1, f"other {what}")
    said = f"On these {comparison.datasets} data sets {best}; it differs from {len(ahead) - len(tied)} of {others}"
    said += f" (exact stratified tests, Holm), the nearest being {nearest} points behind."
    return said, f"On these data sets {choice(most, tied)}."
