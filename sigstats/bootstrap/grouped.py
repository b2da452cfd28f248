"""Two classifiers on rows that come in groups: several rows of one patient, one document, one conversation.

Rows of one group are not independent, so that tests which count rows (McNemar's, or a bootstrap of rows) reject too
often. Here whole groups are drawn again.

When not to use: with fewer than some twenty groups in which the two differ, where the bootstrap's intervals are too
short; rows without groups have an exact test, `sigstats.mcnemar_test`.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import coo_array

from .._common.extreme import exchange_floor
from .._common.random_streams import RNG, as_generator
from .._common.validation import (
    ALTERNATIVES,
    Alternative,
    as_choice,
    as_count,
    as_groups,
    as_indicators,
    as_labels,
    as_real,
    refuse,
    require_same_index,
    same_kind_of_labels,
)
from ..intervals import Interval
from ..joint.events import MOST_CLASSES, JointEvents
from ..measures.measure import as_measure
from ..test_result import TestResult
from .replicates import Replicates, evaluate

#: With fewer groups, or fewer in which A and B differ, the result carries a warning.
FEW_GROUPS = 20
_CHUNK = 2**22


@dataclass(frozen=True, kw_only=True)
class GroupedResult(TestResult):
    """The result of `grouped_accuracy_test`.

    Attributes
    ----------
    statistic, estimate : float
        The accuracy of B less that of A.
    pvalue : float
        Never below what `discordant_groups` allow: 2 to the power of their number is how many outcomes an exchange of A
        and B in each of them has.
    interval : Interval
        Of the difference, by percentiles (not, as in other results, of the p-value); unbounded on one side where the
        alternative is one-sided.
    groups : int
        The number of groups.
    discordant_groups : int
        In how many of them one of the two has more rows right.
    """

    interval: Interval
    estimate: float
    groups: int
    discordant_groups: int


def grouped_accuracy_test(
    right_a: Any,
    right_b: Any,
    groups: Any,
    *,
    alternative: Alternative = "two-sided",
    resamples: int = 10_000,
    confidence: float = 0.95,
    rng: RNG = None,
) -> GroupedResult:
    """Whether two classifiers are equally accurate, by a bootstrap of groups of rows.

    Parameters
    ----------
    right_a, right_b : array_like of bool, shape (n,)
        Whether A and B got each row right.
    groups : array_like of int, shape (n,)
        The group of each row, any whole numbers.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: A is better, as in `sigstats.mcnemar_test`. The interval is then unbounded below, and for
        ``"less"`` above.
    resamples : int
        The number of bootstrap replicates.
    confidence : float
        Of the interval, strictly between 0 and 1.
    rng : None, int, SeedSequence, BitGenerator or Generator
        Source of the replicates.

    Returns
    -------
    GroupedResult

    Raises
    ------
    ValueError
        If the three differ in length or are of another kind, there are fewer than two groups, or an option is out of
        range.

    Notes
    -----
    The cluster bootstrap (Field and Welsh, Journal of the Royal Statistical Society B 69 (2007)): groups are drawn with
    replacement, and the difference is that of all rows drawn. Only how often a pair (rows of a group, B's advantage in
    it) occurs matters, so that the replicates are multinomial counts of the distinct pairs.

    All replicates lie on one side where the few groups that differ all favour the same classifier, whatever their
    number. So p is at least what an exact test could find: if A and B are equally good, and exchanging them in any of
    the g groups that differ is as likely, the least p is ``2**-g``, two-sided twice that.

    Examples
    --------
    Thirty patients with four rows each; B is better on every row of a third of the patients:

    >>> import numpy as np
    >>> from sigstats.bootstrap.grouped import grouped_accuracy_test
    >>> groups = np.repeat(np.arange(30), 4)
    >>> a, b = groups % 3 == 0, groups % 3 <= 1
    >>> result = grouped_accuracy_test(a, b, groups, rng=1)
    >>> round(result.estimate, 3), result.pvalue < 0.01, result.groups
    (0.333, True, 30)
    """
    require_same_index(right_a=right_a, right_b=right_b, groups=groups)
    a, b = as_indicators(right_a, "right_a"), as_indicators(right_b, "right_b")
    if len(b) != len(a):
        raise refuse("right_b (length)", len(b), f"{len(a)}, the length of right_a")
    codes, count = as_groups(groups, "groups", len(a))
    way = as_choice(alternative, "alternative", ALTERNATIVES)
    size = as_count(resamples, "resamples", minimum=1, maximum=10**7)
    level = as_real(confidence, "confidence", low=0, high=1, open_ends=True)
    generator = as_generator(rng)
    rows = np.bincount(codes, minlength=count)
    ahead = np.rint(np.bincount(codes, weights=b.astype(np.float64) - a, minlength=count)).astype(np.int64)
    pairs, often = np.unique(np.column_stack([rows, ahead]), axis=0, return_counts=True)
    totals = np.empty((size, 2), dtype=np.int64)
    step = max(1, _CHUNK // len(pairs))
    for start in range(0, size, step):
        drawn = generator.multinomial(count, often / count, size=min(step, size - start))
        totals[start : start + len(drawn)] = drawn @ pairs
    # Where no replicate differs the interval is a point: the data say nothing else.
    differences = totals[:, 1] / totals[:, 0]
    above, below = int((totals[:, 1] >= 0).sum()), int((totals[:, 1] <= 0).sum())
    exceedances = {"greater": above, "less": below, "two-sided": min(above, below)}[way]
    p = (exceedances + 1) / (size + 1) * (2 if way == "two-sided" else 1)
    discordant = int(np.count_nonzero(ahead))
    estimate = float(ahead.sum() / rows.sum())
    tail = (1 - level) / (2 if way == "two-sided" else 1)
    low, high = np.quantile(differences, [tail, 1 - tail])
    return GroupedResult(
        statistic=estimate,
        estimate=estimate,
        pvalue=min(1.0, max(p, exchange_floor(discordant, way))),
        method="bootstrap of groups",
        alternative=way,
        interval=Interval(
            -math.inf if way == "greater" else float(low), math.inf if way == "less" else float(high), level
        ),
        replicates=size,
        exceedances=exceedances,
        groups=count,
        discordant_groups=discordant,
        reason=_warning(count, discordant),
    )


def grouped_replicates(
    label: Any, a: Any, b: Any, groups: Any, *, measure: str = "macro-f1", resamples: int = 10_000, rng: RNG = None
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
    resamples : int
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
    As in `grouped_accuracy_test`, groups are drawn with replacement; a replicate's counts of joint events are those of
    its groups, so that its cost does not depend on the number of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from sigstats.bootstrap.grouped import grouped_replicates
    >>> label, groups = np.arange(60) % 3, np.arange(60) // 4
    >>> _, drawn = grouped_replicates(label, label, np.where(groups < 5, 0, label), groups, resamples=99, rng=1)
    >>> bool((drawn.a == 1).all()), bool((drawn.b < 1).all())
    (True, True)
    """
    require_same_index(label=label, a=a, b=b, groups=groups)
    columns = [as_labels(value, name) for name, value in (("label", label), ("a", a), ("b", b))]
    for name, column in zip(("a", "b"), columns[1:], strict=True):
        same_kind_of_labels(columns[0], column, name)
    n = len(columns[0])
    codes, count = as_groups(groups, "groups", n)
    size = as_count(resamples, "resamples", minimum=1, maximum=10**7)
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


def _warning(groups: int, discordant: int) -> str:
    if groups < FEW_GROUPS:
        return f"only {groups} groups: the bootstrap wants {FEW_GROUPS} or more"
    if discordant < FEW_GROUPS:
        return f"only {discordant} of {groups} groups differ: the bootstrap wants {FEW_GROUPS} or more"
    return ""
