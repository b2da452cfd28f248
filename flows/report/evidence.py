"""The data of a report (`Evidence`: the summary and its replicates), and the parts of its page (`KindPage`)."""

import importlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from sigstats._common.numerals import number, signed, significant
from sigstats.many_datasets.comparison import DatasetsComparison
from sigstats.tasks.fan_out import prerequisites
from sigstats.tasks.plan import Cell
from sigstats.tasks.results import Results
from sigstats.tasks.schema import Hypothesis

from ..kinds import kind_named
from .rows import WITHHELD, Decisions, distinct, group_by, short_names, withhold

if TYPE_CHECKING:
    import pandas as pd

#: The text of a cell without a value.
ABSENT = "–"

#: True if the prediction is right; array of shape (rows, classifiers).
Rights: TypeAlias = NDArray[np.bool_]

#: The number of replicates of the Bayesian test over data sets, and its seed.
RESAMPLES, SEED = 10_000, 0


@dataclass(frozen=True)
class Score:
    """The scored quantity, and the format of its values."""

    name: str
    #: The noun for a compared model: ``"classifier"``.
    model: str
    in_percent: bool
    #: Differences up to this count as equal.
    rope: float
    greater_is_better: bool = True

    def text(self, value: float) -> str:
        """Format a mean score."""
        return f"{100 * value:.2f}%" if self.in_percent else number(value, 4)

    def difference(self, value: float) -> str:
        """Format a difference of scores, with its sign."""
        return signed(100 * value, 2) if self.in_percent else signed(value, 4)

    @property
    def equal(self) -> str:
        """The largest difference that counts as equal, as text."""
        return f"{significant(100 * self.rope)} point" if self.in_percent else significant(self.rope)


@dataclass(frozen=True)
class TheseDataSets:
    """Two models compared on the rows of these data sets, as opposed to data sets like these."""

    #: Mean difference of scores, A - B.
    difference: float
    #: Two-sided p-value of the exact stratified test, adjusted over the pairs by Holm's method.
    pvalue: float
    adjusted_pvalue: float


@dataclass(frozen=True)
class OverDataSets:
    """All models over the data sets that all of them finished."""

    #: Models from the best mean rank to the worst.
    comparison: DatasetsComparison
    score: Score
    #: The mean score of each model.
    means: dict[str, float]
    #: The method of the comparison.
    method: str
    #: The pairs compared on the rows of these data sets; empty if the rows are unknown.
    these: Sequence[TheseDataSets] = ()


@dataclass(frozen=True)
class Evidence:
    """The hypotheses of one study, their replicates, and the page of its kind."""

    results: Results

    @cached_property
    def rows(self) -> tuple[Hypothesis, ...]:
        """The concluded rows; methods by their short names."""
        return tuple(row.with_(method=self.method_names.get(row.method, row.method)) for row in self.concluded)

    @cached_property
    def concluded(self) -> tuple[Hypothesis, ...]:
        """Every row of the summary, in its order; decisions that rest on withheld data sets are `WITHHELD`."""
        cells = {cell.name for cell in self.results.plan.cells if cell.subject.get("dataset") in self.withheld}
        return tuple(withhold(Hypothesis(**row), cells) for row in self.results.summary.to_pylist())

    @cached_property
    def summary(self) -> "pd.DataFrame":
        """The summary without empty columns; a note gives the reason for withheld decisions."""
        frame = self.results.summary.to_pandas()
        reasons = [f"on {name} nothing is concluded: {reason}" for name, reason in self.withheld.items()]
        for position, row in enumerate(self.concluded):
            if row.decision == WITHHELD:
                frame.loc[position, ["decision", "note"]] = WITHHELD, "; ".join(filter(None, (*reasons, row.note)))
        return frame.dropna(axis="columns", how="all")

    def decisions(self, rows: Iterable[Hypothesis]) -> Decisions:
        """Return the decisions of these rows; rows of equal tables are one hypothesis."""
        groups = group_by(rows, self.table_of).values() if self.of_tables else ([row] for row in rows)
        return Decisions.of(list(groups), list(self.withheld))

    @cached_property
    def method_names(self) -> dict[str, str]:
        """The short name of each method that a calibration study applies to test sets."""
        return short_names(cell.subject["test"] for cell in self.results.plan.cells if "test" in cell.subject)

    @cached_property
    def page(self) -> "KindPage":
        """The parts of the page that depend on the kind of study."""
        module = kind_named(self.results.plan.kind).page
        return importlib.import_module(module).PAGE if module else KindPage()

    @cached_property
    def withheld(self) -> Mapping[str, str]:
        """The data sets that are left out of all verdicts, with the reasons."""
        return self.page.withheld(self.results)

    @cached_property
    def over_data_sets(self) -> OverDataSets | None:
        """The models over all data sets; None if there are too few."""
        analyse = self.page.over_data_sets
        return analyse(self) if self.rows and analyse is not None else None

    @cached_property
    def figures(self) -> list["Figure"]:
        """All figures with content."""
        return [figure for draw in self.page.figures for figure in draw(self)]

    @property
    def of_tables(self) -> bool:
        """True if the study is about tables of counts, not about data sets."""
        return self.page.table is not None

    @property
    def alpha(self) -> float:
        """The level of the decisions."""
        return self.results.plan.alpha

    @property
    def adjust(self) -> str:
        """The adjustment for multiplicity that the decisions use."""
        return self.results.plan.adjust

    @cached_property
    def tests(self) -> tuple[str, ...]:
        """The names of the tests, in the order of the summary."""
        return distinct(row.test for row in self.rows)

    def rows_of(self, test: str) -> tuple[Hypothesis, ...]:
        """Return the hypotheses of one test."""
        return tuple(row for row in self.rows if row.test == test)

    @cached_property
    def cells(self) -> dict[str, Cell]:
        """The cells of the plan by name."""
        return {cell.name: cell for cell in self.results.plan.cells}

    def cells_of(self, row: Hypothesis) -> list[Cell]:
        """Return the cells behind a hypothesis."""
        return [self.cells[name] for name in row.cell.split() if name in self.cells]

    def table_of(self, row: Hypothesis) -> str:
        """Return the identity of a row's table of counts; equal counts are one table."""
        cells, table = self.cells_of(row), self.page.table
        if cells and table is not None:
            return json.dumps([row.test, row.a, row.b, table(cells[0])], sort_keys=True)
        return json.dumps([row.test, row.dataset, row.classifier, row.a, row.b])

    @cached_property
    def incomplete(self) -> tuple[Cell, ...]:
        """The incomplete cells that hypotheses need, in the order of the plan."""
        missing = [row for row in self.rows if row.decision == "missing"]
        needed = {cell.name for row in missing for cell in self.cells_of(row)}
        needed |= {before.name for name in needed for before in prerequisites(self.cells[name])}
        # A permutation test also needs the observed run, and its row does not name the cell of that run.
        runs = {(row.dataset, model) for row in missing for model in (row.classifier, row.a, row.b)}
        cells = [
            cell
            for cell in self.results.plan.cells
            if cell.name in needed or (cell.subject.get("dataset"), cell.subject.get("classifier")) in runs
        ]
        return tuple(cell for cell in cells if self.results.table(cell) is None)


@dataclass(frozen=True)
class Verdict:
    """The verdict of a test on the study."""

    #: One sentence.
    headline: str
    #: A sentence for each data set that needs one.
    details: tuple[str, ...] = ()
    #: Text that is always shown with the headline; empty if it needs none.
    caveat: str = ""
    #: Sentences below the headline on the first screen, each after a word such as "Beware:".
    also: tuple[tuple[str, str], ...] = ()
    #: Up to three numbers of the first screen: a label, the number, and the value to compare it with.
    numbers: tuple[tuple[str, str, str], ...] = ()
    #: Advice; empty if the test has none.
    to_do: str = ""


@dataclass(frozen=True)
class Column:
    """A column of a test's table."""

    header: str
    #: Text of a cell.
    text: Callable[[Hypothesis], str]
    #: The key by which the column is sorted; None to sort by the text.
    sort: Callable[[Hypothesis], float | None] | None = None
    #: Explanation of the header.
    meaning: str = ""
    #: True if the text is a sentence: it is printed below the table, and the cell contains its number.
    note: bool = False
    #: True if a table of these rows needs the column; a column without values is always left out.
    needed: Callable[[Sequence[Hypothesis]], bool] = lambda _: True

    def is_shown(self, rows: Sequence[Hypothesis]) -> bool:
        """Return True if the table of these rows has the column."""
        return self.needed(rows) and any(self.text(row) not in ("", ABSENT) for row in rows)

    def named(self, header: str, meaning: str = "") -> "Column":
        """Return the same column under another name."""
        return replace(self, header=header, meaning=meaning)


@dataclass(frozen=True)
class Figure:
    """A figure with its description."""

    title: str
    caption: str
    #: HTML in which text from data is escaped.
    body: Markup


@dataclass(frozen=True, kw_only=True)
class Section:
    """A test in the report."""

    order: int
    #: The test of the summary's rows.
    test: str
    #: Usual name of the test.
    name: str
    question: str
    #: Makes the verdict of the rows of the test.
    verdict: Callable[[Sequence[Hypothesis], Evidence], Verdict]
    #: The columns of its table.
    columns: Sequence[Column]
    #: The method, its assumptions and the meaning of its p-value; or a function of its rows that returns them.
    method: str | Callable[[Sequence[Hypothesis]], str]
    source: str = ""
    #: Explanation of the names in its verdict.
    terms: str = ""
    #: The unit of observation: more of them may show a difference.
    unit: str = "row"

    def method_of(self, rows: Sequence[Hypothesis]) -> str:
        """Return the method that computed the rows."""
        return self.method if isinstance(self.method, str) else self.method(rows)


@dataclass(frozen=True, kw_only=True)
class Particulars:
    """Parts of the page of one study, apart from the sections of its tests."""

    #: Questions, verdicts and what their terms mean, before those of the tests and after them.
    first: Sequence[tuple[str, Verdict | None, str]] = ()
    last: Sequence[tuple[str, Verdict | None, str]] = ()
    #: The figure of the first screen; by default a small one of the others.
    figure: Figure | None = None
    #: The design of the study, as a paper states it.
    design: Sequence[tuple[str, str]] = ()
    #: The transforms of the data.
    transforms: str = ""


@dataclass(frozen=True, kw_only=True)
class KindPage:
    """Common parts of the pages of one kind of study."""

    #: The modules with the `SECTIONS` of tests that need more than the words of their record.
    sections: tuple[str, ...] = ()
    #: The functions that draw the figures, in their order.
    figures: Sequence[Callable[[Evidence], Iterable[Figure]]] = ()
    particulars: Callable[[Evidence], Particulars] = lambda _: Particulars()
    #: Compares the models over the data sets; None if there are too few.
    over_data_sets: Callable[[Evidence], OverDataSets | None] | None = None
    #: The data sets on which no verdict rests, with the reason.
    withheld: Callable[[Results], Mapping[str, str]] = lambda _: {}
    #: The counts of a cell, if the study is about tables of counts.
    table: Callable[[Cell], Any] | None = None
    #: Names of the counted things, for tests whose rejections the first screen counts.
    counted: Mapping[str, str] = field(default_factory=dict)
