"""Two classifiers on rows that come in groups: several rows of one patient, one document, one conversation.

Rows of one group are not independent, so that tests which count rows (McNemar's, or a bootstrap of rows) reject too
often. Here whole groups are drawn again.

When not to use: with fewer than some twenty groups in which the two differ, where the bootstrap's intervals are too
short; rows without groups have an exact test, `sigstats.mcnemar_test`.
"""

from typing import Any

import numpy as np

from .._common.random_streams import RNG, as_generator
from .._common.validation import (
    as_count,
    as_groups,
    as_labels,
    refuse,
    require_same_index,
    same_kind_of_labels,
)
from ..joint.events import MOST_CLASSES, JointEvents
from ..measures.measure import as_measure
from .replicates import Replicates, evaluate

#: With fewer groups, or fewer in which A and B differ, the result carries a warning.
FEW_GROUPS = 20
_CHUNK = 2**22


def grouped_replicates(
    label: Any, a: Any, b: Any, groups: Any, *, measure: str = "macro-f1", n_resamples: int = 10_000, rng: RNG = None
) -> tuple[JointEvents, Replicates]:
    """Bootstrap replicates of any measure of classes, drawn by groups of rows.

    Parameters
    ----------
    label, a, b : array_like, shape (n,)
        The true class of each row, and what A and B predict: all numbers or all strings.
    groups : array_like of int, shape (n,)
        The group of each row, any whole numbers.
    measure : str
        As for `sigstats.bootstrap_test`.
    n_resamples : int
        The number of replicates.
    rng : None, int, SeedSequence, BitGenerator or Generator
        Source of the replicates.

    Returns
    -------
    events : JointEvents
        The joint events of all rows, for `sigstats.bootstrap.test.bootstrap_summary`; its classes are those that occur.
    replicates : sigstats.bootstrap.replicates.Replicates

    Raises
    ------
    ValueError
        If the four differ in length, labels are missing or mix numbers with strings, there are fewer than two classes
        or groups, or the measure is unknown.

    Notes
    -----
    The cluster bootstrap (Field and Welsh, Journal of the Royal Statistical Society B 69 (2007)): groups are drawn with
    replacement. A replicate's counts of joint events are those of
    its groups, so that its cost does not depend on the number of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from sigstats.bootstrap.grouped import grouped_replicates
    >>> label, groups = np.arange(60) % 3, np.arange(60) // 4
    >>> _, drawn = grouped_replicates(label, label, np.where(groups < 5, 0, label), groups, n_resamples=99, rng=1)
    >>> bool((drawn.a == 1).all()), bool((drawn.b < 1).all())
    (True, True)
    """
    from scipy.sparse import coo_array  # slow to import

    require_same_index(label=label, a=a, b=b, groups=groups)
    columns = [as_labels(value, name) for name, value in (("label", label), ("a", a), ("b", b))]
    for name, column in zip(("a", "b"), columns[1:], strict=True):
        same_kind_of_labels(columns[0], column, name)
    n = len(columns[0])
    codes, count = as_groups(groups, "groups", n)
    size = as_count(n_resamples, "n_resamples", minimum=1, maximum=10**7)
    chosen, generator = as_measure(measure), as_generator(rng)
    occurring, numbers = np.unique(np.concatenate(columns), return_inverse=True)
    classes = len(occurring)
    if not 2 <= classes <= MOST_CLASSES:
        raise refuse("label, a, b (number of classes)", classes, f"2 to {MOST_CLASSES}")
    joint = (numbers[:n] * classes + numbers[n : 2 * n]) * classes + numbers[2 * n :]
    distinct, event_of, often = np.unique(joint, return_inverse=True, return_counts=True)
    triples = np.column_stack([distinct // classes**2, distinct // classes % classes, distinct % classes])
    events = JointEvents(
        tuple(occurring.tolist()),
        events=tuple(((y,), (one,), (other,)) for y, one, other in triples.tolist()),
        counts=tuple(often.tolist()),
    )
    within = coo_array((np.ones(n), (codes, event_of)), shape=(count, len(distinct))).tocsr()
    parts = []
    step = max(1, _CHUNK // (count + len(distinct) + 8 * classes))
    for start in range(0, size, step):
        drawn = generator.multinomial(count, np.full(count, 1 / count), size=min(step, size - start))
        parts.append(evaluate(events, chosen, np.asarray(drawn @ within, dtype=np.float64)))
    return events, Replicates(*(np.concatenate(column) for column in zip(*parts, strict=True)))
