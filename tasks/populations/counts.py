"""Counts of the joint outcomes of two classifiers, and the populations of these rows."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from sigstats._common.validation import did_you_mean, shown
from sigstats.joint.events import JointEvents
from sigstats.measures.measure import Kind

from .population import EventPopulation, Population

Label: TypeAlias = bool | int | str
#: The entry of a row in a column: a label, or in a column of lists the labels of the row, sorted.
Labels: TypeAlias = Label | tuple[Label, ...]
Outcome: TypeAlias = tuple[Labels, Labels, Labels]


@dataclass(frozen=True)
class LabelCounts:
    """The counts of each joint outcome: the true class, the one that A assigned, the one that B assigned."""

    #: Tuples of labels in place of labels, where a row may have any number of them.
    counts: Mapping[Outcome, int]

    @classmethod
    def total(cls, parts: Iterable["LabelCounts"]) -> "LabelCounts":
        """The counts of all parts together."""
        counts: Counter[Outcome] = Counter()
        for part in parts:
            counts.update(part.counts)
        return cls(counts)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return sum(self.counts.values())

    @property
    def listed(self) -> bool:
        """True if a row may have any number of labels."""
        return any(isinstance(side, tuple) for outcome in self.counts for side in outcome)

    @property
    def labels(self) -> list[Label]:
        """All labels that occur, sorted."""
        found = {label for outcome in self.counts for side in outcome for label in each_label(side)}
        return sorted(found, key=lambda label: (isinstance(label, str), label))

    def events(self, name: str) -> EventPopulation:
        """The population of these rows, for measures that are averaged over labels."""
        labels = self.labels
        position = {label: index for index, label in enumerate(labels)}

        def places(side: Labels) -> tuple[int, ...]:
            return tuple(sorted(position[label] for label in each_label(side)))

        events = tuple((places(truth), places(a), places(b)) for truth, a, b in self.counts)
        names = tuple(int(label) if isinstance(label, bool) else label for label in labels)
        kind: Kind = "categories" if self.listed else "classes"
        return EventPopulation(name, JointEvents(names, kind, events, tuple(self.counts.values())))

    def population(self, positive: Label | None = None, *, swapped: bool = False) -> Population:
        """The population of these rows.

        `positive`: the positive class; all others together are the negative one.
        Without it the population is good for accuracy alone, and all rows count as truly positive.
        `swapped`: as for `sigstats.tasks.populations.population.Population`.
        """
        if positive is not None and not any(_has(label, positive) for label in self.labels):
            alike = [label for label in self.labels if str(label) == str(positive)]
            hint = f"; the files have {alike[0]!r}" if alike else did_you_mean(positive, map(str, self.labels))
            raise ValueError(f"positive: {shown(positive)} is not valid; expected a label that occurs{hint}")
        return Population(outcomes=tuple(self.outcomes(positive)), swapped=swapped)

    def outcomes(self, positive: Label | None = None) -> list[int]:
        """How many rows have each of the eight joint outcomes, as for `population`; `positive` need not occur."""
        found = [0] * 8
        for (truth, a, b), count in self.counts.items():
            if positive is None:
                found[(a != truth) + 2 * (b != truth)] += count
            else:
                negative = [not _has(labels, positive) for labels in (truth, a, b)]
                found[4 * negative[0] + negative[1] + 2 * negative[2]] += count
        return found


def each_label(side: Labels) -> tuple[Label, ...]:
    """The labels that a row has of a column."""
    return side if isinstance(side, tuple) else (side,)


def _has(side: Labels, positive: Label) -> bool:
    return any(type(label) is type(positive) and label == positive for label in each_label(side))
