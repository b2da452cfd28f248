"""The accuracy of each classifier on each data set, as numbers and as a table for papers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup, escape

from sigstats._common.numerals import adjusted_p, significant
from sigstats._common.tabular import Table, Tabular
from sigstats.intervals import Interval
from sigstats.ranking.means import share_interval
from sigstats.tasks.benchmark.runs import observed_run
from sigstats.tasks.schema import Hypothesis

from ...pages.page import data_table
from ...report.evidence import Evidence, Figure
from ...report.rows import distinct

#: Tests of two classifiers on a data set, by accuracy; the table uses the first that the study has.
_PAIR_TESTS = {"mcnemar": "McNemar's test", "corrected-resampled": "the corrected resampled test"}
_ABSENT, _WORSE = "–", "†"


@dataclass(frozen=True)
class Performance:
    """The cross-validated accuracy of a classifier on a data set."""

    dataset: str
    classifier: str
    n: int
    accuracy: float
    #: The 95% interval of the accuracy.
    interval: Interval
    #: The mean accuracy of random predictions that name each class as often as the classifier does.
    chance: float
    #: The share of the largest class.
    largest: float


def performances(evidence: Evidence) -> list[Performance]:
    """Return every classifier on every data set with a completed observed run, in the order of the plan."""
    items = []
    for cell in evidence.results.cells("crossval"):
        dataset, classifier = cell.subject["dataset"], cell.subject["classifier"]
        run = observed_run(evidence.results, cell)
        if run is None:
            continue
        accuracy, interval = (run.n - run.wrong) / run.n, share_interval(run.right, run.groups, 0.95)
        true, named = (run.table().sum(axis=axis) / run.n for axis in (1, 0))
        chance, largest = float(true @ named), float(true.max())
        items.append(Performance(dataset, classifier, run.n, accuracy, interval, chance, largest))
    return items


def of_pairs(evidence: Evidence) -> tuple[Hypothesis, ...]:
    """Return the tests of two classifiers on a data set, by accuracy; empty if the study has none."""
    return next(filter(None, map(evidence.rows_of, _PAIR_TESTS)), ())


def missing(value: Sequence[Performance], evidence: Evidence) -> list[tuple[str, str]]:
    """Return the planned classifiers and data sets without a completed observed run."""
    planned = [(cell.subject["classifier"], cell.subject["dataset"]) for cell in evidence.results.cells("crossval")]
    present = {(one.classifier, one.dataset) for one in value}
    return [item for item in planned if item not in present]


@dataclass(frozen=True)
class Accuracies(Tabular):
    """Data sets by classifiers: cross-validated accuracies and mean ranks, with marks of significance.

    A dagger marks an accuracy that is shown to be below the best of its data set, and a mean rank that is shown to be
    worse than the best one. `to_latex`, `to_markdown` and `to_pandas` export the table.
    """

    classifiers: tuple[str, ...]
    #: The accuracy on each data set by classifier, without classifiers that have no result.
    accuracies: dict[str, dict[str, float]]
    #: The mean ranks by classifier; empty with fewer than three data sets.
    ranks: dict[str, float]
    #: The pairs that differ, by data set; the empty name stands for all data sets together.
    differing: frozenset[tuple[str, frozenset[str]]] = field(repr=False)
    #: The test of the pairs.
    tested: str = field(repr=False)

    def _lines(self) -> Iterator[tuple[str, dict[str, float], str, bool]]:
        """Yield for each line: name, values, key in the pairs that differ, and whether the smallest value is best."""
        for dataset, values in self.accuracies.items():
            yield dataset, {name: 100 * value for name, value in values.items()}, dataset, False
        if len(self.accuracies) > 1 and all(
            len(values) == len(self.classifiers) for values in self.accuracies.values()
        ):
            columns = {name: [values[name] for values in self.accuracies.values()] for name in self.classifiers}
            means = {name: 100 * sum(column) / len(column) for name, column in columns.items()}
            yield "mean", means, "mean", False
        if self.ranks:
            yield "mean rank", self.ranks, "", True

    def _columns(self) -> dict[str, list[Any]]:
        lines = list(self._lines())
        columns = {name: [values.get(name) for _, values, _, _ in lines] for name in self.classifiers}
        return {"dataset": [name for name, _, _, _ in lines], **columns}

    def _table(self) -> Table:
        cells: list[list[str]] = []
        strong = set()
        for row, (name, values, where, least) in enumerate(self._lines()):
            best = (min if least else max)(values.values(), default=0.0)
            leaders = [classifier for classifier, value in values.items() if value == best]
            pairs = [pair for on, pair in self.differing if on == where and pair & set(leaders[:1])]
            worse = set().union(*pairs) - set(leaders)
            strong |= {(row, 1 + self.classifiers.index(leader)) for leader in leaders}
            texts = [_in_digits(values.get(other), least) + _WORSE * (other in worse) for other in self.classifiers]
            cells.append([name, *texts])
        columns = dict(zip(("data set", *self.classifiers), zip(*cells, strict=True), strict=True))
        marks = f"; {_WORSE} shown to be worse than the best of its row ({self.tested})" if self.tested else ""
        return Table(f"Cross-validated accuracy in percent{marks}", columns, strong=frozenset(strong))


def _in_digits(value: float | None, rank: bool) -> str:
    return _ABSENT if value is None else f"{value:.{2 if rank else 1}f}"


def accuracies(evidence: Evidence) -> Accuracies:
    """Return the table of a benchmark study."""
    values: dict[str, dict[str, float]] = {}
    for cell in evidence.results.cells("crossval"):
        values.setdefault(cell.subject["dataset"], {})
    for one in performances(evidence):
        values[one.dataset][one.classifier] = one.accuracy
    pairs, ranked = of_pairs(evidence), evidence.rows_of("signed-rank")
    level = f"{adjusted_p(evidence.adjust)} ≤ {significant(evidence.alpha)}"
    tests = [_PAIR_TESTS[row.test] for row in pairs[:1]] + ["mean ranks: the signed-rank test" for _ in ranked[:1]]
    return Accuracies(
        classifiers=distinct(cell.subject["classifier"] for cell in evidence.results.cells("crossval")),
        accuracies=values,
        ranks={row.classifier or "": row.estimate for row in evidence.rows_of("mean-rank") if row.estimate is not None},
        differing=frozenset(
            (row.dataset or "", frozenset((row.a or "", row.b or "")))
            for row in (*pairs, *ranked)
            if row.decision == "reject"
        ),
        tested=", ".join([*tests, level]) if tests else "",
    )


def draw(evidence: Evidence) -> Iterator[Figure]:
    """Return the table for the page; None for a single data set, whose accuracies are on the first screen."""
    table = accuracies(evidence)
    if evidence.rows and len(table.accuracies) > 1:
        words = table._table()
        rows = words.marked(escape, Markup("<b>{}</b>"))
        kinds = {name: "number" if place else "row" for place, name in enumerate(words.columns)}
        caption = f"{words.title}. Bold: the best. From Python: accuracies.to_latex()."
        yield Figure(title="Accuracies and mean ranks", caption=caption, body=data_table("Accuracies", kinds, rows))
