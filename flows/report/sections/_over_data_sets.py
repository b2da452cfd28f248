"""What the report says of the classifiers over all data sets, before it says anything of one of them."""

import math

from ..evidence import Evidence
from ..over_data_sets import OverDataSets
from ..section import Verdict
from ..wording import count_of, join_words, p_equation, signed

_NAMED = 6


def over_data_sets(evidence: Evidence) -> Verdict | None:
    """Who is best on data sets like these, and on these; None where there are too few."""
    found = evidence.over_data_sets
    if found is None:
        return None
    return Verdict(found.comparison.conclusion, tuple(_details(found)))


def _details(found: OverDataSets) -> list[str]:
    k, models = len(found.comparison.models), found.comparison.models
    first = [model for model, low in zip(models, found.low, strict=True) if low == 1]
    named = join_words([*first[:_NAMED], *([f"{len(first) - _NAMED} more"] if len(first) > _NAMED else [])])
    may = "is the best" if len(first) == 1 else "may each be the best"
    said = [f"On data sets like these {named} {may} of {count_of(k, 'classifier')}, all ranks taken together."]
    needed = 1 + math.ceil(math.log2(len(found.pairs) / found.comparison.alpha))
    if len(found.datasets) < needed:
        said.append(
            f"{len(found.datasets)} data sets are too few: {count_of(len(found.pairs), 'pair')} can be told apart on "
            f"{needed} or more."
        )
    friedman = found.comparison.friedman
    if friedman is not None:
        said.append(
            f"That all classifiers are alike: {p_equation(friedman.pvalue)} (Friedman, Iman and Davenport's F)."
        )
    most = max(range(k), key=lambda model: found.accuracy[model])
    ahead = [pair for pair in found.pairs if models[most] in (pair.like_these.a, pair.like_these.b)]
    shown = [pair for pair in ahead if pair.adjusted_p_these <= found.comparison.alpha]
    least = min(ahead, key=lambda pair: abs(pair.difference))
    said.append(
        f"On these {len(found.datasets)} data sets themselves {models[most]} has the highest mean accuracy; it differs "
        f"from {len(shown)} of {count_of(k - 1, 'other')} (exact stratified tests, Holm), the nearest being "
        f"{signed(100 * abs(least.difference), 2).lstrip('+')} points behind."
    )
    return said
