"""Possibilistic indices: how strongly the data support one hypothesis rather than another.

A hypothesis with p-value p becomes a fuzzy set on {true, false} (Hryniewicz, eq. (20)), and two hypotheses are
compared by the indices of Dubois and Prade (1983): the possibility of dominance PD, the possibility of strict
dominance PSD and the necessity of strict dominance NSD, from the most lenient to the strictest.

When not to use: as the probability that a hypothesis is true, or instead of a p-value if a rate of errors must be kept.
Against the complement of a hypothesis (no second p-value) the indices only restate its p-value.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ._common.data_frames import require_same_index
from ._common.drawing import Drawn, forest
from ._common.numerals import index_number
from ._common.tabular import Table, columns_of
from ._common.validation import FloatArray, as_real, as_reals, refuse, refuse_where

#: The unit of the figures.
_DEGREES = "PSD, from NSD to PD"


class Membership(NamedTuple):
    """The fuzzy set of a hypothesis, eq. (20): how possible it is that the hypothesis is true, and that it is not.

    The paper writes x = 0 for "true" and x = 1 for "not true".
    """

    true: float
    false: float


class DominanceIndices(NamedTuple):
    """The three indices of one fuzzy set over another, each between 0 and 1."""

    pd: float
    psd: float
    nsd: float


@dataclass(frozen=True, kw_only=True)
class Possibility(Drawn):
    """The result of `possibility`.

    Attributes
    ----------
    pd : float
        How possible it is that choosing the null hypothesis is no worse than choosing the alternative.
    psd : float
        How possible it is that the data support the null hypothesis rather than the alternative.
    nsd : float
        How necessary that is; ``pd >= psd >= nsd``.
    pvalue, alternative_pvalue : float
        The p-values from which the indices were computed.
    """

    pd: float
    psd: float
    nsd: float
    pvalue: float
    alternative_pvalue: float

    def _table(self) -> Table:
        columns = {name: [index_number(value) for value in cells] for name, cells in self._columns().items()}
        meaning = (
            f"To choose the null hypothesis is no worse than to choose the alternative: possible to the degree "
            f"{columns['pd'][0]}. The data support it rather than the alternative: possible to the degree "
            f"{columns['psd'][0]}, necessary to the degree {columns['nsd'][0]}."
        )
        return Table("Possibility of the null hypothesis", columns, notes=[meaning], words=0)

    def _draw(self, ax: Any) -> Any:
        return forest(ax, [("null hypothesis", self.psd, self.nsd, self.pd)], unit=_DEGREES, marks=())


@dataclass(frozen=True, kw_only=True)
class RankedHypothesis:
    """One of several hypotheses, with its indices against the most plausible of the others.

    Attributes
    ----------
    name : str
        As given.
    pvalue : float
        As given.
    rival : str
        The other hypothesis with the largest p-value.
    pd, psd, nsd : float
        The indices of this hypothesis against its rival: the smallest it has against any of the others.
    """

    name: str
    pvalue: float
    rival: str
    pd: float
    psd: float
    nsd: float


class RankedHypotheses(tuple[RankedHypothesis, ...], Drawn):
    """The result of `weigh_hypotheses`: a tuple of RankedHypothesis, the most similar first, that is a table too."""

    def _columns(self) -> dict[str, list[Any]]:
        return columns_of(self, RankedHypothesis)

    def _table(self) -> Table:
        columns = {
            name: [cell if isinstance(cell, str) else index_number(cell) for cell in cells]
            for name, cells in self._columns().items()
        }
        best = self[0]
        degree = "necessarily" if best.nsd > 0 else "possibly" if best.psd > 0 else "not even possibly"
        return Table(f"Hypotheses: the data support {best.name} most, {degree} rather than {best.rival}", columns)

    def _draw(self, ax: Any) -> Any:
        return forest(ax, [(one.name, one.psd, one.nsd, one.pd) for one in self], unit=_DEGREES, marks=())


def membership(pvalue: float) -> Membership:
    """Make the fuzzy set of a hypothesis from the p-value of its test, eq. (20) and (21).

    Parameters
    ----------
    pvalue : float
        Between 0 and 1.

    Returns
    -------
    Membership
        At least one of its two members is 1.

    Raises
    ------
    ValueError
        If `pvalue` is not a number between 0 and 1.

    Examples
    --------
    >>> import sigstats
    >>> sigstats.possibilistic.membership(0.125)
    Membership(true=0.25, false=1.0)
    """
    p = as_real(pvalue, "pvalue", low=0, high=1)
    return Membership(min(1.0, 2 * p), min(1.0, 2 * (1 - p)))  # eq. (20)


def dominance(first: Any, second: Any) -> DominanceIndices:
    """Compute PD, PSD and NSD of one fuzzy set over another, by definition.

    Parameters
    ----------
    first, second : array_like, shape (n,)
        The membership functions of both sets at the same n points, **in ascending order** of the points (the set that
        has its mass further to the right dominates), each between 0 and 1. For two hypotheses that is
        ``(false, true)``: a true one dominates.

    Returns
    -------
    DominanceIndices
        ``pd >= psd >= nsd`` if both sets are normal (reach 1 somewhere), but not always otherwise: if `second` is (0,
        0) and `first` is (0, 1), then PD = 0 < PSD = 1; if both are (0, 0), then PSD = 0 < NSD = 1.

    Raises
    ------
    ValueError
        If the two have different lengths, none at all, or a value outside [0, 1].

    Notes
    -----
    Hryniewicz, eq. (22)-(24), after Dubois and Prade (1983); the suprema are over finitely many points, in linear time.

    Examples
    --------
    >>> import sigstats
    >>> sigstats.possibilistic.dominance([0.2, 0.6, 1.0], [1.0, 0.5, 0.1])
    DominanceIndices(pd=1.0, psd=0.9, nsd=0.5)
    """
    require_same_index(first=first, second=second)
    a, b = _as_memberships(first, "first"), _as_memberships(second, "second")
    if a.size != b.size:
        raise refuse("second", b.size, f"{a.size}, the length of first", quantity="length")
    b_upward = np.maximum.accumulate(b[::-1])[::-1]  # the largest second(y) over y >= x
    pd = np.max(np.minimum(a, np.maximum.accumulate(b)))  # eq. (22)
    psd = np.max(np.minimum(a, 1 - b_upward))  # eq. (23)
    nsd = 1 - np.max(np.minimum(a, b_upward))  # eq. (24)
    return DominanceIndices(float(pd), float(psd), float(nsd))


def possibility(pvalue: float, alternative_pvalue: float | None = None) -> Possibility:
    """Compute the degrees to which the data support a null hypothesis rather than its alternative.

    Parameters
    ----------
    pvalue : float
        The p-value of the null hypothesis, between 0 and 1.
    alternative_pvalue : float, optional
        The p-value of the alternative, tested as a hypothesis of its own (for instance: the new classifier behaves as
        a second known one does). None: the alternative is the complement, whose p-value is ``1 - pvalue``.

    Returns
    -------
    Possibility
        With ``pd >= psd >= nsd`` always.

    Raises
    ------
    ValueError
        If a p-value is not a number between 0 and 1.

    Notes
    -----
    The closed forms, Hryniewicz eq. (25)-(27), which for the complement become (29)-(30). For all pairs of p-values
    they equal the definitions in `dominance`, with "true" above "not true" (the paper's x = 0 above x = 1).

    Examples
    --------
    A new algorithm fits the results of a known one with p = 0.018 and those of another with p = 0.002:

    >>> import sigstats
    >>> index = sigstats.possibilistic.possibility(0.018, 0.002)
    >>> index.pd, index.psd, index.nsd
    (1.0, 0.036, 0.0)
    """
    p_h = as_real(pvalue, "pvalue", low=0, high=1)
    h = membership(p_h)
    if alternative_pvalue is None:
        p_k, k = 1 - p_h, Membership(h.false, h.true)  # the set of 1 - p_h, without rounding a small p_h away
    else:
        p_k = as_real(alternative_pvalue, "alternative_pvalue", low=0, high=1)
        k = membership(p_k)
    return Possibility(
        pd=max(h.true, k.false),  # eq. (25)
        psd=min(h.true, 1 - k.true),  # eq. (26)
        nsd=1 - max(h.false, k.true),  # eq. (27)
        pvalue=p_h,
        alternative_pvalue=p_k,
    )


def weigh_hypotheses(pvalues: Mapping[str, float]) -> RankedHypotheses:
    """Order several known algorithms by the degree to which the data suggest that a new one behaves like them.

    Parameters
    ----------
    pvalues : mapping of str to float
        For each of two or more known algorithms, the p-value of the hypothesis that the new one behaves in the same
        way.

    Returns
    -------
    RankedHypotheses
        A tuple of RankedHypothesis, and a table, the most similar algorithm first: by NSD, then PSD, PD and the
        p-value. The first one stands out necessarily if its NSD > 0, and only possibly if its PSD > 0.

    Raises
    ------
    ValueError
        If `pvalues` is not a mapping, has fewer than two entries, a name is not a string, or a value is not in [0, 1].

    Notes
    -----
    All indices grow with the first p-value and fall with the second. So the indices of a hypothesis are smallest
    against its rival, the other hypothesis with the largest p-value.

    Examples
    --------
    >>> import sigstats
    >>> for h in sigstats.possibilistic.weigh_hypotheses({"QDA": 0.002, "CRT": 0.018}):
    ...     print(h.name, h.rival, h.pd, h.psd, h.nsd)
    CRT QDA 1.0 0.036 0.0
    QDA CRT 1.0 0.004 0.0
    """
    if not isinstance(pvalues, Mapping) or len(pvalues) < 2:
        raise refuse("pvalues", pvalues, "a mapping of two or more names to p-values")
    known: dict[str, float] = {}
    for name, value in pvalues.items():
        if not isinstance(name, str):
            raise refuse("pvalues (name)", name, "a string")
        known[str(name)] = as_real(value, f"pvalues[{name!r}]", low=0, high=1)
    ranked = []
    for name, p in known.items():
        rival = max((other for other in known if other != name), key=known.__getitem__)
        index = possibility(p, known[rival])
        ranked.append(RankedHypothesis(name=name, pvalue=p, rival=rival, pd=index.pd, psd=index.psd, nsd=index.nsd))
    return RankedHypotheses(sorted(ranked, key=lambda h: (-h.nsd, -h.psd, -h.pd, -h.pvalue)))


def _as_memberships(value: Any, name: str) -> FloatArray:
    array = as_reals(value, name, ndim=1)
    refuse_where((array < 0) | (array > 1), array, name, "degrees of membership between 0 and 1")
    return array
