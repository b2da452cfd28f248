"""Classifiers that a calibration study trained: the parameters that were chosen, and F1 on the test set and beyond."""

from collections import Counter
from collections.abc import Sequence

from sigstats.tasks.schema import Hypothesis

from ...pages.wording import count_of, join_words
from .. import usual_columns as usual
from ..evidence import Evidence, group_by
from ..section import Column, Section, Verdict
from ..usual_columns import share, where


def verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:  # noqa: ARG001
    """Who is better how often, and which parameters were chosen how often."""
    found = [row for row in rows if row.estimate is not None]
    if not found:
        return Verdict("There is no result: no classifier was trained.")
    headline, *others = [
        _better(measure or "?", group) for measure, group in group_by(found, lambda row: row.measure).items()
    ]
    return Verdict(headline, (*others, *_chosen(found)))


def _better(measure: str, rows: Sequence[Hypothesis]) -> str:
    """On how many populations the one that is better on the test set is better in truth."""
    pairs = list(group_by(rows, where).values())
    agreeing = sum((a.statistic > b.statistic) == (a.estimate > b.estimate) for a, b in pairs)  # type: ignore[operator]
    wins = Counter(max(pair, key=lambda row: row.estimate or 0.0).classifier or "?" for pair in pairs)
    named = join_words([f"{name} on {count}" for name, count in wins.most_common()])
    return (
        f"By {measure} on the population, the better of the two is {named} of {count_of(len(pairs), 'population')}; "
        f"the test set says the same of {agreeing}."
    )


def _chosen(rows: Sequence[Hypothesis]) -> list[str]:
    first = [row for row in rows if row.measure == rows[0].measure and row.method != "as given"]
    sentences = []
    for name, group in group_by(first, lambda row: row.classifier).items():
        counts = Counter(row.method for row in group)
        times = join_words(
            [f"{params} for {count} of {count_of(len(group), 'set')}" for params, count in counts.most_common()]
        )
        sentences.append(f"Of {name} cross-validation of the training rows chose {times}.")
    return sentences


def columns(rows: Sequence[Hypothesis]) -> list[Column]:
    """The population, the classifier, what was chosen, and its measure on the test set and on the population."""
    tuned = any(row.method != "as given" for row in rows)
    return [
        Column("Population", where),
        usual.CLASSIFIER,
        *(
            [Column("Parameters", usual.METHOD.text, meaning="chosen by cross-validation of the training rows")]
            if tuned
            else []
        ),
        usual.MEASURE,
        Column("Rows", usual.ROWS.text, usual.ROWS.sort, "rows of the test set"),
        Column("Test set", lambda row: share(row.statistic), lambda row: row.statistic, "the measure on the test set"),
        Column(
            "Population's",
            lambda row: share(row.estimate),
            lambda row: row.estimate,
            "the same on all rows that are left",
        ),
    ]


_SECTION = Section(
    order=96,
    test="trained",
    name="Classifiers",
    question="How good are the classifiers that were trained, and which parameters were chosen?",
    verdict=verdict,
    columns=columns,
    method=(
        "Both classifiers are trained on the training rows alone. Where a study gives a grid of parameters, each "
        "combination is cross-validated on the training rows, and the first of the greatest F1 is taken, the same for "
        "all classifiers of a set. The measure on the test set stands beside that on all rows that are left, which "
        "stand for the truth."
    ),
    source=(
        "Keller, Mariethoz and Bengio, Significance tests for 'bizarre' measures in 2-class classification tasks, "
        "section 5"
    ),
)

SECTIONS = (_SECTION,)
