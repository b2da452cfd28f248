"""Populations from which test sets are drawn: the outputs of two classifiers for all rows.

A `Population` has eight joint outcomes in the order of `sigstats.joint.outcomes.JointOutcomes`. It contains counts of
rows, from which test sets are drawn without replacement, or probabilities, from which any number of rows can be drawn.
If only accuracy matters, all rows count as truly positive. An `EventPopulation` has all distinct joint events of
several classes, or of any number of categories per row, for measures that are averaged over classes or categories.

Test sets are an array of counts, with one row per test set and one column per outcome or event.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sigstats.bootstrap.replicates import evaluate
from sigstats.joint.events import JointEvents
from sigstats.joint.outcomes import JointOutcomes
from sigstats.measures.measure import Measure, as_measure
from sigstats.subsampling import draw_samples, draw_subsamples

from ..record import Record, digest
from ..schema import column, renamed

#: The label and the answers of A and of B for each of the eight joint outcomes, one row per outcome; 1 is positive.
EIGHT = np.array([[e < 4, e % 2 == 0, e % 4 < 2] for e in range(8)], dtype=np.int64)
#: The key of the schema's metadata under which `EventPopulation.to_table` stores everything except the counts.
_ABOUT = b"events"


class _Drawn:
    """A population of rows with the outputs of two classifiers. Test sets count its joint outcomes or events."""

    #: True if outputs are exchanged in each row with probability 1/2, so that neither classifier is better.
    swapped: bool
    #: True if rows are drawn independently, with the probabilities of the outcomes; otherwise without replacement.
    endless: bool

    @property
    def shape(self) -> JointOutcomes | JointEvents:
        """A record with the outcomes or events that the columns of test sets count."""
        raise NotImplementedError

    @property
    def counts(self) -> NDArray[Any]:
        """All rows as one test set, shape (1, columns)."""
        raise NotImplementedError

    @property
    def exchanged(self) -> Sequence[tuple[Any, Any]]:
        """Pairs of columns, or of arrays of columns, that trade places if the outputs are exchanged."""
        raise NotImplementedError

    @property
    def rows(self) -> int | None:
        """The number of rows, or None if the population is infinite."""
        return None if self.endless else int(self.counts.sum())

    @property
    def width(self) -> int:
        """The number of columns of test sets."""
        return len(self.counts[0])

    def draw(self, n: int, rng: np.random.Generator, size: int) -> NDArray[np.int64]:
        """Draw the counts of outcomes in `size` test sets of n rows."""
        (counts,) = self.counts
        if self.endless:
            drawn = draw_samples(counts if counts.dtype.kind == "f" else counts / counts.sum(), n, rng=rng, size=size)
        else:
            drawn = draw_subsamples(counts, n, rng=rng, size=size)
        for first, second in self.exchanged if self.swapped else ():
            both = drawn[:, first] + drawn[:, second]
            drawn[:, first] = rng.binomial(both, 0.5)
            drawn[:, second] = both - drawn[:, first]
        return drawn

    def difference(self, measure: str | Measure) -> float:
        """Return the true difference B - A of a measure."""
        return 0.0 if self.swapped else float(self.differences(measure, self.counts)[0])

    def differences(self, measure: str | Measure, drawn: NDArray[Any]) -> NDArray[np.float64]:
        """Return the difference B - A of a measure on each test set, given as counts or probabilities."""
        return 0.0 - evaluate(self.shape, as_measure(measure), drawn.astype(np.float64)).differences


class Population(_Drawn, Record):
    """A population given by the eight joint outcomes of two classifiers."""

    #: The number of rows with each of the eight joint outcomes; if `endless`, the probability of each.
    outcomes: tuple[float, ...]
    # Factories: a plan omits fields that have their default value, but must contain these two.
    endless: bool = field(default_factory=bool)
    swapped: bool = field(default_factory=bool)
    shape: ClassVar[JointOutcomes] = JointOutcomes(e1=1)
    exchanged: ClassVar[Sequence[tuple[int, int]]] = ((1, 2), (5, 6))

    def endlessly(self) -> "Population":
        """Return the infinite population with the probability of each outcome equal to its frequency here."""
        total = sum(self.outcomes)
        return replace(self, outcomes=tuple(outcome / total for outcome in self.outcomes), endless=True)

    @property
    def counts(self) -> NDArray[Any]:
        """All rows as one test set, shape (1, 8)."""
        return np.array([self.outcomes])

    @property
    def expected(self) -> NDArray[np.float64]:
        """The outcomes or, if outputs are exchanged, their expected values."""
        values = np.array(self.outcomes, dtype=np.float64)
        for pair in self.exchanged if self.swapped else ():
            values[list(pair)] = values[list(pair)].mean()
        return values

    @property
    def discordant(self) -> tuple[float, float]:
        """The numbers (or probabilities) of rows that only A gets right and that only B gets right."""
        _, e2, e3, _, _, e6, e7, _ = self.outcomes
        return e3 + e6, e2 + e7

    def record(self, counts: Sequence[int]) -> JointOutcomes:
        """Return one test set in the form that tests of a measure take."""
        return JointOutcomes(*counts)

    def outcomes_of(self, drawn: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the eight outcomes of each test set."""
        return drawn

    def lacking(self, drawn: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return a mask of the test sets without a positive row."""
        return np.asarray(drawn[:, :4].sum(axis=1) == 0)

    @property
    def binary(self) -> bool:
        """True if some rows are truly negative, so that measures of two classes are defined."""
        return any(self.outcomes[4:])


def is_large_part(n: int, rows: float) -> bool:
    """Return True if n is more than a tenth of all rows, so that samples without replacement vary clearly less."""
    return 10 * n > rows


def random_classifiers(classes: int, right: float) -> Population:
    """Return Sturm's two systems: I assigns a random class; II is right for the share `right`, and random otherwise."""
    a = 1 / classes
    b = right + (1 - right) / classes
    outcomes = (a * b, (1 - a) * b, a * (1 - b), (1 - a) * (1 - b), 0.0, 0.0, 0.0, 0.0)
    return Population(outcomes=outcomes, endless=True)


@dataclass(frozen=True, eq=False)
class EventPopulation(_Drawn):
    """A population given by the distinct joint events of classes or categories."""

    #: The name of the population in the study.
    name: str
    #: The count of each event.
    joint: JointEvents
    swapped: bool = False
    endless: bool = False
    binary: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not self.joint.n:
            raise ValueError(f"population {self.name}: has no rows; expected one or more")

    def endlessly(self) -> "EventPopulation":
        """Return the infinite population with probabilities equal to the frequencies of events."""
        return replace(self, endless=True)

    @cached_property
    def shape(self) -> JointEvents:
        """The distinct events that a test set may have, including those that arise if outputs are exchanged."""
        events = set(self.joint.events)
        if self.swapped:
            events |= {(true, b, a) for true, a, b in events}
        return JointEvents(self.joint.categories, self.joint.kind, tuple(events), (1,) * len(events))

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """All rows as one test set, shape (1, events)."""
        known = dict(zip(self.joint.events, self.joint.counts, strict=True))
        return np.array([[known.get(event, 0) for event in self.shape.events]], dtype=np.int64)

    @cached_property
    def exchanged(self) -> Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """The pairs of events that trade places if the outputs are exchanged."""
        position = {event: index for index, event in enumerate(self.shape.events)}
        pairs = [(i, position[true, b, a]) for (true, a, b), i in position.items() if a < b]
        first, second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        return [(first, second)]

    @cached_property
    def _outcome(self) -> NDArray[np.int64]:
        """The outcome of each event, 0 to 3 for e1 to e4, if only right and wrong answers matter."""
        return np.array([(a != true) + 2 * (b != true) for true, a, b in self.shape.events])

    @property
    def discordant(self) -> tuple[float, float]:
        """The numbers (or probabilities) of rows that only A and that only B gets completely right."""
        eight = self.outcomes_of(self.counts)[0]
        only_a, only_b = int(eight[2]), int(eight[1])
        return (only_a / self.joint.n, only_b / self.joint.n) if self.endless else (only_a, only_b)

    def record(self, counts: Sequence[int]) -> JointEvents:
        """Return one test set in the form that tests of a measure take."""
        present = [(event, count) for event, count in zip(self.shape.events, counts, strict=True) if count]
        events, times = zip(*present, strict=True)
        return JointEvents(self.joint.categories, self.joint.kind, events, times)

    def outcomes_of(self, drawn: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the eight outcomes of each test set. A completely right answer counts as a true positive."""
        eight = np.zeros((len(drawn), 8), dtype=np.int64)
        for outcome in range(4):
            eight[:, outcome] = drawn[:, self._outcome == outcome].sum(axis=1)
        return eight

    def lacking(self, drawn: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return a mask of the test sets that lack a class or category."""
        a, _ = self.shape.confusions(drawn.astype(np.float64))
        return np.asarray(((a.tp + a.fn) == 0).any(axis=1), dtype=np.bool_)

    @property
    def nbytes(self) -> int:
        """The size of the counts in memory, in bytes."""
        return self.counts.nbytes

    def digest(self) -> str:
        """Return the SHA-256 of the counts in hexadecimal. The name and `swapped` are not hashed."""
        joint = self.joint
        return digest("events", categories=joint.categories, of=joint.kind, events=joint.events, counts=joint.counts)

    def to_table(self) -> pa.Table:
        """Return the counts as a table that `from_table` reads."""
        about = {"name": self.name, "categories": self.joint.categories, "kind": self.joint.kind}
        positions = pa.list_(pa.field("element", pa.int32()))
        schema = pa.schema(
            [
                column("true_categories", positions, "positions", "the true classes or categories"),
                column("a", positions, "positions", "those that A assigned"),
                column("b", positions, "positions", "those that B assigned"),
                column("count", pa.int64(), "rows", "how many rows have this joint event"),
            ],
            metadata={_ABOUT: json.dumps(about).encode()},
        )
        true, a, b = zip(*self.joint.events, strict=True)
        sides = {"true_categories": true, "a": a, "b": b}
        columns = {name: [list(value) for value in side] for name, side in sides.items()}
        return pa.table({**columns, "count": list(self.joint.counts)}, schema=schema)

    @classmethod
    def from_table(cls, table: pa.Table) -> "EventPopulation":
        """Return the population that `to_table` wrote."""
        about = json.loads((table.schema.metadata or {})[_ABOUT])
        return cls(about["name"], read_joint_events(table, about["categories"], about["kind"]))


def read_joint_events(table: pa.Table, categories: Sequence[Any], kind: Any) -> JointEvents:
    """Read the joint events from the columns ``true_categories``, ``a``, ``b`` and ``count`` of a table."""
    columns: Any = (renamed(table).column(name).to_pylist() for name in ("true_categories", "a", "b", "count"))
    *sides, counts = columns
    events = tuple((tuple(true), tuple(a), tuple(b)) for true, a, b in zip(*sides, strict=True))
    return JointEvents(tuple(categories), kind, events, tuple(counts))
