"""Counts of a test set as rows that a person can read."""

from collections.abc import Sequence

import pyarrow as pa

from .population import EventPopulation, Population

_POSITIVE, _NEGATIVE = "positive", "negative"


def counted_rows(drawn_from: Population | EventPopulation, counts: Sequence[int]) -> pa.Table:
    """The distinct rows of a test set with their counts: the true class, and what A and B predict.

    Where only right and wrong answers matter, all rows count as truly positive (`Population`).

    Examples
    --------
    >>> from sigstats.tasks.populations.population import Population
    >>> from sigstats.tasks.populations.rows import counted_rows
    >>> counted_rows(Population(outcomes=(1,) * 8), [3, 1, 0, 0, 0, 0, 0, 6]).to_pylist()[1]
    {'label': 'positive', 'pred_a': 'negative', 'pred_b': 'positive', 'count': 1}
    """
    if isinstance(drawn_from, EventPopulation):
        joint = drawn_from.record(counts)
        names = joint.categories
        sides = [
            [", ".join(str(names[place]) for place in side) for side in part]
            for part in zip(*joint.events, strict=True)
        ]
        return pa.table(dict(zip(("label", "pred_a", "pred_b"), sides, strict=True)) | {"count": list(joint.counts)})
    rows = [
        {
            "label": _NEGATIVE if event >= 4 else _POSITIVE,
            "pred_a": _NEGATIVE if event % 2 else _POSITIVE,
            "pred_b": _NEGATIVE if event % 4 >= 2 else _POSITIVE,
            "count": count,
        }
        for event, count in enumerate(counts)
        if count
    ]
    return pa.Table.from_pylist(rows)
