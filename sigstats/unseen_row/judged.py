"""The agreement of a judge with people, the law of the values that people would see, and the labels that would decide.

A judge marks the answers of one model or of two in all rows, and people label some of these rows. Rows are split by the
judge's verdict, and the labelled rows of a verdict represent all of them (`JudgedRows`). `JudgeAgreement` counts the
labelled rows by both verdicts.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._common.extreme import monte_carlo_pvalue
from .._common.messages import Note
from .._common.random_streams import as_generator
from .._common.validation import FloatArray, IntArray
from ..intervals import Interval, clopper_pearson
from ..subsampling import hypergeometric_tables
from .law import MOST_ATOMS


class Law(NamedTuple):
    """Random values of the difference with one more labelled row that does A, or B, the most harm."""

    against_a: FloatArray
    against_b: FloatArray

    def low(self, share: float) -> float:
        """Return the lower end: this share of the law is below it, or less."""
        return float(np.quantile(self.against_a, share))

    def high(self, share: float) -> float:
        """Return the upper end."""
        return float(np.quantile(self.against_b, 1 - share))

    def pvalue(self, null: float, way: str) -> float:
        """Return the share of a law on the other side of the null hypothesis."""
        if way == "two-sided":
            return min(1.0, 2 * min(self.pvalue(null, "greater"), self.pvalue(null, "less")))
        values = self.against_a if way == "greater" else self.against_b
        sign = 1 if way == "greater" else -1
        return monte_carlo_pvalue(int(np.count_nonzero(sign * (values - null) <= 0)), len(values))


#: Largest p-value at which the judge's errors are reported to favour a model.
DIFFERENT = 0.05
#: Labels that contradict the judge are refused if the p-value of Fisher's exact test is below this.
_INVERTED = 1e-4
#: Labels of one value are refused if the p-value of Fisher's two-sided test of labelled and other rows is at most this.
_SELECTED = 1e-3
#: Largest number of random weights in memory.
_PIECE = 2**22

#: The verdicts of a judge of two models, in the order of the rows.
PREFERS = ("the judge prefers the baseline", "it prefers neither", "it prefers the candidate")


class _Groups(NamedTuple):
    """Groups of rows: their rows, labelled rows and summed differences by verdict, and how often each group occurs."""

    rows: FloatArray
    labels: FloatArray
    differences: FloatArray
    counts: FloatArray


class JudgedRows(NamedTuple):
    """Rows and human labels by the judge's verdict: B better, neither or A better; for one model: wrong or right.

    Attributes
    ----------
    rows : int64 array of shape (verdicts,)
    stated : float64 array of shape (verdicts,)
        The difference (or the value of one model) that each verdict states, in ascending order.
    values : float64 array of shape (k,)
        The possible differences, in ascending order; those of `stated` are among them.
    table : int64 array of shape (verdicts, k)
        The labelled rows by verdict and difference.
    groups : _Groups or None
        If rows are grouped; arrays of shape (groups, verdicts), and the counts of shape (groups,).
    """

    rows: IntArray
    stated: FloatArray
    values: FloatArray
    table: IntArray
    groups: _Groups | None

    @property
    def labels(self) -> IntArray:
        """The labelled rows by verdict."""
        return np.asarray(self.table.sum(axis=1))

    @property
    def estimate(self) -> float:
        """The post-stratified difference; for a verdict without labels, the judge's value is used."""
        means = np.where(self.labels > 0, self.table @ self.values / np.maximum(self.labels, 1), self.stated)
        return float(self.rows @ means / self.rows.sum())

    def law(self, size: int, generator: np.random.Generator) -> Law:
        """Return the law of the difference that people would see."""
        if self.groups is not None:
            return self._law_of_groups(size, generator, None)
        return self._law_of_rows(self.table, size, generator)

    def _law_of_rows(self, table: FloatArray | IntArray, size: int, generator: np.random.Generator) -> Law:
        of_verdict = generator.standard_gamma(self.rows, (size, len(self.rows)))

        def drawn(number: int) -> tuple[FloatArray, FloatArray]:
            weights = generator.standard_gamma(table, (number, *table.shape))
            return weights @ self.values, weights.sum(axis=2)

        sums, totals = _in_pieces(drawn, size, table.size)
        more = generator.standard_exponential((size, 1))
        return self._worst(of_verdict, sums, totals, more)

    def _law_of_groups(self, size: int, generator: np.random.Generator, more_labels: float | None) -> Law:
        """Return the same law with weights of groups; `more_labels`: as if this many times as many were labelled."""
        assert self.groups is not None
        rows, labels, differences, counts = self.groups

        def drawn(number: int) -> tuple[FloatArray, ...]:
            weights = generator.standard_gamma(counts, (number, len(counts)))
            of_verdict = weights @ rows
            if more_labels is not None:
                weights = generator.standard_gamma(more_labels * counts, weights.shape)
            return of_verdict, weights @ differences, weights @ labels

        of_verdict, sums, totals = _in_pieces(drawn, size, len(rows))
        largest = labels.sum(axis=1).max()
        more = largest * generator.standard_exponential((size, 1))
        return self._worst(of_verdict, sums, totals, more)

    def _worst(self, of_verdict: FloatArray, sums: FloatArray, totals: FloatArray, more: FloatArray) -> Law:
        """Return the law of weighted rows with a row of weight `more` divided among verdicts to do most harm.

        A part x of it in a verdict with the weight w of labels, the share s of rows and the mean m moves the difference
        by ``s |worst - m| x / (w + x)``. So ``w + x`` is in proportion to the square root of ``s |worst - m| w`` in all
        verdicts that get a part.
        """
        shares, sides = of_verdict / of_verdict.sum(axis=1, keepdims=True), []
        for worst in (self.values[0], self.values[-1]):
            means = np.divide(sums, totals, out=np.full_like(sums, worst), where=totals > 0)
            roots = np.sqrt(shares * np.abs(worst - means) * totals)
            added = np.zeros_like(sums)
            for _ in range(3):  # a verdict without a part leaves it to the others
                level = more + (totals * (roots > 0)).sum(axis=1, keepdims=True)
                level /= np.maximum(roots.sum(axis=1, keepdims=True), 1e-300)
                added = np.maximum(roots * level - totals, 0.0)
                roots[added == 0] = 0.0
            means += (worst - means) * np.divide(added, totals + added, out=np.zeros_like(added), where=added > 0)
            sides.append((shares * means).sum(axis=1))
        return Law(*sides)

    def labels_wanted(self, null: float, way: str, share: float) -> IntArray | None:
        """Return the fewest deciding labels by verdict, allocated as by Neyman (1934); for groups, as at present.

        None if labels of all rows would not decide.
        """
        level = 2 * share if way == "two-sided" else share
        rows, labels = self.rows, self.labels
        if self.groups is None:
            spread, shares = self._spread_and_shares()
            low, high = 0.0, float(rows.sum() / spread[spread > 0].min())
        else:
            spread, pooled = labels.astype(np.float64), self._replace(groups=_pooled(self.groups))
            low, high = 1.0, float(rows.sum() / labels.sum())

        def wanted(times: float) -> IntArray:
            return np.ceil(np.clip(times * spread, labels, rows) - 1e-9).astype(np.int64)

        def decides(times: float) -> bool:
            if self.groups is None:
                law = self._law_of_rows(wanted(times)[:, np.newaxis] * shares, 2_000, as_generator(1))
            else:
                law = pooled._law_of_groups(2_000, as_generator(1), times)
            return law.pvalue(null, way) <= level

        if decides(low):
            return labels
        if not decides(high):
            return None
        while wanted(high).sum() - wanted(low).sum() > 1 and high - low > 1e-9 * high:
            middle = (low + high) / 2
            low, high = (low, middle) if decides(middle) else (middle, high)
        return wanted(high)

    def _spread_and_shares(self) -> tuple[FloatArray, FloatArray]:
        """Return the rows of each verdict times the standard deviation of its values, and the shares of the values."""
        rows, table, labels = self.rows, self.table, self.labels
        prior = np.isin(self.values, self.stated) / len(self.stated)
        smoothed = table + prior * (rows > 0)[:, np.newaxis]
        chance = smoothed / np.maximum(smoothed.sum(axis=1, keepdims=True), 1e-300)
        spread = rows * np.sqrt(np.maximum(chance @ self.values**2 - (chance @ self.values) ** 2, 0.0))
        return spread, np.where(labels[:, np.newaxis] > 0, table / np.maximum(labels, 1)[:, np.newaxis], chance)

    def labels_to_get(self, share: float) -> str:
        """Return the number of labels that would show a difference of two models, and the rows to label, in words."""
        wanted = self.labels_wanted(0.0, "two-sided", share)
        if wanted is None:
            return "judge more rows: labels of all present rows would probably not show a difference"
        more = np.maximum(wanted - self.labels, 0).tolist()
        where = ", ".join(f"{count:,} where {who}" for count, who in zip(more, PREFERS, strict=True) if count)
        if not where:
            return "the present labels show a difference"
        return f"label {sum(more):,} more, enough to show the difference if the new labels are like the others: {where}"


def judged_rows(
    verdict: IntArray, labelled: NDArray[np.bool_], seen: FloatArray, stated: FloatArray, units: IntArray | None
) -> JudgedRows:
    """Return rows by verdict, a code from 0, and human labels. `stated`: the difference that each verdict states."""
    values, n_verdicts = np.unique(np.concatenate([seen, stated])), len(stated)
    cells = len(values) * verdict[labelled] + np.searchsorted(values, seen)
    table = np.bincount(cells, minlength=n_verdicts * len(values)).reshape(n_verdicts, -1)
    groups: _Groups | None = None
    if units is not None:
        codes = np.unique(units, return_inverse=True)[1]
        size, cell = n_verdicts * (codes.max() + 1), n_verdicts * codes + verdict
        sums = np.bincount(cell, None, size), np.bincount(cell, labelled, size), np.bincount(cell[labelled], seen, size)
        rows, labels, differences = (array.reshape(-1, n_verdicts).astype(np.float64) for array in sums)
        groups = _Groups(rows, labels, differences, np.ones(len(rows)))
        groups = _pooled(groups) if len(groups.counts) > MOST_ATOMS else groups
    return JudgedRows(np.bincount(verdict, minlength=n_verdicts), stated, values, table, groups)


def _pooled(groups: _Groups) -> _Groups:
    """Return the distinct groups and their counts: equal groups share one gamma weight, and the law is the same."""
    distinct, places = np.unique(np.hstack(groups[:3]), axis=0, return_inverse=True)
    rows, labels, differences = np.hsplit(distinct, 3)
    return _Groups(rows, labels, differences, np.bincount(places.ravel(), groups.counts).astype(np.float64))


def rows_of_two(
    judge: Sequence[FloatArray], people: Sequence[FloatArray], span: float, units: IntArray | None
) -> JudgedRows:
    """Return two models' rows by the judge's preference, and the human differences, NaN without a label."""
    seen = people[0] - people[1]
    labelled, verdict = ~np.isnan(seen), np.sign(judge[0] - judge[1]).astype(np.int64) + 1
    return judged_rows(verdict, labelled, seen[labelled], np.array([-span, 0.0, span]), units)


def rows_of_one(
    judge: FloatArray, people: FloatArray, limits: tuple[float, float], units: IntArray | None
) -> JudgedRows:
    """Return the rows of one model that the judge calls wrong and right, or marks below and above its mean mark."""
    labelled = ~np.isnan(people)
    middle = 0.5 if np.isin(judge, (0.0, 1.0)).all() else judge.mean()
    return judged_rows((judge > middle).astype(np.int64), labelled, people[labelled], np.array(limits), units)


def same_labels(judge: Sequence[Any], people: Sequence[FloatArray], models: str) -> list[Note]:
    """Return a note if people's labels of both `models` are equal, but several verdicts of the judge differ."""
    labelled = ~np.isnan(people[0] - people[1])
    unlike = int(np.count_nonzero((judge[0] != judge[1])[labelled]))
    # People who see half of the judge's differences rarely miss six.
    if unlike <= 5 or not np.array_equal(people[0][labelled], people[1][labelled]):
        return []
    text = f"people's labels of {models} are equal in all {np.count_nonzero(labelled):,} rows, but the judge's verdicts"
    return [Note("same-labels", f"{text} differ in {unlike:,} of them; label the answers of each model")]


def notes_on_one_value(
    right: Sequence[NDArray[np.bool_]],
    people: Sequence[FloatArray],
    limits: tuple[float, float],
    units: IntArray | None,
    names: Sequence[str],
) -> list[Note]:
    """Return notes on labels that are all 1, or all 0: people may have ticked these rows, and left the others empty.

    Raise ValueError if the judge, too, calls another share of the labelled rows `right` than of the others; only the
    first row of each group counts. Labels of the same rows in both models, with both values, are not ticks.
    """
    labelled, notes = ~np.isnan(people), []
    seen = [values[has] for values, has in zip(people, labelled, strict=True)]
    if np.array_equal(*labelled) and len(np.unique(seen)) > 1:
        return []
    rows = np.arange(len(right[0])) if units is None else np.unique(units, return_index=True)[1]
    for verdicts, has, values, name in zip(right, labelled, seen, names, strict=True):
        if has.all() or len(values) < 2 or len(np.unique(values)) > 1 or values[0] not in limits:
            continue
        text, other = f"{name}: all {len(values):,} labels are {values[0]:g}", sum(limits) - values[0]
        verdict, chosen = verdicts[rows], has[rows]
        smallest, (law,) = hypergeometric_tables(len(rows), int(verdict.sum()), [chosen.sum()])
        place = int((verdict & chosen).sum() - smallest[0])  # the law lacks values of negligible probability
        observed = law[place] if 0 <= place < len(law) else 0.0
        if law[law <= observed * (1 + 1e-7)].sum() <= _SELECTED:
            shares = f"{100 * verdict[chosen].mean():.1f}% of these rows right and {100 * verdict[~chosen].mean():.1f}%"
            question = f"does an empty field mean {other:g} or not labelled? Write {other:g} where it means {other:g}"
            problem = f"{text}, and the judge calls {shares} of the others"
            raise ValueError(f"{problem}; {question}; otherwise label a random sample of rows")
        notes.append(Note("labels-of-one-value", f"{text}; if an empty field means {other:g}, write {other:g} there"))
    return notes


def _in_pieces(drawn: Callable[[int], tuple[FloatArray, ...]], size: int, width: int) -> list[FloatArray]:
    """Return random arrays of this many rows, drawn within a limit of memory."""
    step = max(1, _PIECE // max(1, width))
    pieces = [drawn(min(step, size - start)) for start in range(0, size, step)]
    return [np.concatenate(value) for value in zip(*pieces, strict=True)]


class JudgeAgreement(NamedTuple):
    """The agreement of the judge with people, about one model.

    Attributes
    ----------
    both_right, judge_alone_right, people_alone_right, both_wrong : int
        The number of labelled rows by the verdicts of both on the model's answer. Marks above the middle of the
        limits count as right.
    """

    both_right: int
    judge_alone_right: int
    people_alone_right: int
    both_wrong: int

    def in_words(self) -> str:
        """Return the shares of rows on which both agree, and of right and of wrong answers that the judge passes."""
        right, judge_alone, people_alone, wrong = self
        specificity = self.specificity()
        shares = (
            ("agreement", self.agreement(), right + wrong, sum(self)),
            ("right answers passed by the judge", self.sensitivity(), right, right + people_alone),
            ("wrong answers passed", (1 - specificity.high, 1 - specificity.low), judge_alone, judge_alone + wrong),
        )
        words = []
        for name, (low, high), count, n in shares:
            if n:
                words.append(f"{name} {100 * count / n:.1f}% ({100 * low:.1f}% to {100 * high:.1f}%; {count} of {n})")
            else:
                words.append(f"{name}: none labelled")
        return ", ".join(words)

    def agreement(self, confidence_level: float = 0.95) -> Interval:
        """Return Clopper and Pearson's interval of the share of rows on which judge and people agree."""
        return clopper_pearson(self.both_right + self.both_wrong, sum(self), confidence_level=confidence_level)

    def sensitivity(self, confidence_level: float = 0.95) -> Interval:
        """Return the share that the judge calls right, of the answers that people call right."""
        n = self.both_right + self.people_alone_right
        return clopper_pearson(self.both_right, n, confidence_level=confidence_level)

    def specificity(self, confidence_level: float = 0.95) -> Interval:
        """Return the share that the judge calls wrong, of the answers that people call wrong."""
        n = self.both_wrong + self.judge_alone_right
        return clopper_pearson(self.both_wrong, n, confidence_level=confidence_level)


def agreement_of(judge: NDArray[np.bool_], people: NDArray[np.bool_], *, labels: str = "people") -> JudgeAgreement:
    """Return the agreement on labelled rows.

    Raise ValueError if the judge passes a smaller share of right than of wrong answers, with p below `_INVERTED` in
    Fisher's exact test.
    """
    wrong, judge_alone, people_alone, right = np.bincount(2 * people.astype(np.int64) + judge, minlength=4).tolist()
    agreement = JudgeAgreement(right, judge_alone, people_alone, wrong)
    smallest, table = hypergeometric_tables(len(judge), right + people_alone, [right + judge_alone])
    smaller = max(0, right + 1 - int(smallest[0]))  # the table lacks values of negligible probability
    if table[0, :smaller].sum() < _INVERTED:
        problem = f"{labels} contradicts the judge ({agreement.in_words()})"
        raise ValueError(f"{problem}; expected 1 for right answers, or high marks for good ones, in both")
    return agreement
