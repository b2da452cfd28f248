"""The agreement of a judge with people, and notes on human labels that may not mean what they seem to.

`agreement_of` counts the labelled rows of one model by the verdicts of both (`JudgeAgreement`). `same_labels` notes
labels that two models share, and `notes_on_one_value` empty fields that may be labels, too.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._common.messages import Note
from .._common.validation import FloatArray, IntArray
from ..intervals import Interval, clopper_pearson
from ..subsampling import hypergeometric_tables

#: Largest p-value at which the judge's errors are reported to favour a model.
DIFFERENT = 0.05
#: Labels that contradict the judge are refused if the p-value of Fisher's exact test is below this.
_INVERTED = 1e-4
#: Labels of one value are refused if the p-value of Fisher's two-sided test of labelled and other rows is at most this.
_SELECTED = 1e-3


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

    `right`: the judge's verdicts; `people` may have labels of further models. Raise ValueError if the judge also calls
    a different share of these rows right than of the others; only the first row of each group counts. Labels of the
    same rows in all models, with both values, are not ticks.
    """
    labelled, notes = ~np.isnan(people), []
    seen = [values[has] for values, has in zip(people, labelled, strict=True)]
    if (labelled == labelled[0]).all() and len(np.unique(seen)) > 1:
        return []
    rows = np.arange(len(right[0])) if units is None else np.unique(units, return_index=True)[1]
    for verdicts, has, values, name in zip(right, labelled, seen, names, strict=False):
        if has.all() or len(values) < 2 or len(np.unique(values)) > 1 or values[0] not in limits:
            continue
        text, other = f"{name}: all {len(values):,} labels are {values[0]:g}", sum(limits) - values[0]
        verdict, chosen = verdicts[rows], has[rows]
        if _fisher_pvalue(verdict, chosen) <= _SELECTED:
            shares = f"{100 * verdict[chosen].mean():.1f}% of these rows right and {100 * verdict[~chosen].mean():.1f}%"
            question = f"does an empty field mean {other:g} or not labelled? Write {other:g} where it means {other:g}"
            problem = f"{text}, and the judge calls {shares} of the others"
            raise ValueError(f"{problem}; {question}; otherwise label a random sample of rows")
        notes.append(Note("labels-of-one-value", f"{text}; if an empty field means {other:g}, write {other:g} there"))
    return notes


def _fisher_pvalue(right: NDArray[np.bool_], labelled: NDArray[np.bool_]) -> float:
    """Return the p-value of Fisher's two-sided test of labelled and other rows."""
    smallest, (law,) = hypergeometric_tables(len(right), int(right.sum()), [labelled.sum()])
    place = int((right & labelled).sum() - smallest[0])  # the law lacks values of negligible probability
    observed = law[place] if 0 <= place < len(law) else 0.0
    return float(law[law <= observed * (1 + 1e-7)].sum())
