"""Quality and cost together: the models that no other model is shown to beat in both.

Null hypothesis of an ordered pair: in the population of the rows (or groups), the first model's mean score is not
better, or its mean cost is not lower. Its p-value is the larger of the p-values of the two parts, valid however scores
and costs depend on each other (Berger 1982, Technometrics 24). All ordered pairs are adjusted together by Holm's steps:
if a model beats a second one in both, and the second a third, then the first beats the third. So with the confidence of
the ranking, every model that is called dominated is dominated.

When not to use: to show that a cheaper model is as good as an expensive one (`sigstats.compare` with a margin).
Equality cannot be shown, so of two equally good models the more expensive one stays on the front.
"""

from dataclasses import replace

import numpy as np

from .._common.validation import FloatArray
from .rank_sets import adjusted_pairs, is_shown
from .result import RankedCost, Ranking


def with_costs(ranking: Ranking, costs: Ranking, cost: str) -> Ranking:
    """The ranking with the front of quality and cost; `costs` ranks the same models by the `cost`, the cheapest first.

    Raises ValueError if the costs are of other rows.
    """
    if costs.n != ranking.n or costs.averaged != ranking.averaged:
        wanted = f"those of the {ranking.n:,} {ranking.unit}s with a score"
        raise ValueError(f"{cost}: costs of {costs.n:,} {costs.unit}s are not valid; expected {wanted}")
    names = [model.model for model in ranking.models]
    adjusted = adjusted_pairs(np.maximum(_pvalues(ranking, names), _pvalues(costs, names)))
    shown = is_shown(adjusted, ranking.confidence_level)
    by_name = {model.model: model for model in costs.models}
    of_models = tuple(
        RankedCost(
            model=name,
            cost=by_name[name].score,
            confidence_interval=by_name[name].confidence_interval,
            dominated_by=tuple(names[other] for other in np.flatnonzero(shown[:, place])),
            adjusted_pvalue=float(adjusted[:, place].min()),
        )
        for place, name in enumerate(names)
    )
    own = (note for note in costs.notes if note.name != "identical-models")  # equal prices are not copies
    return replace(ranking, cost=cost, costs=of_models, notes=tuple(dict.fromkeys([*ranking.notes, *own])))


def _pvalues(ranking: Ranking, names: list[str]) -> FloatArray:
    """The one-sided p-values of all ordered pairs; 1 if the first model has the worse score."""
    pvalues = np.ones((len(names), len(names)))
    for pair in ranking.pairs:
        pvalues[names.index(pair.a), names.index(pair.b)] = pair.pvalue
    return pvalues
