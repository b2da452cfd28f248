"""Plans: cells, and blocks of their replicates.

A *cell* is a computation that is repeated many times, such as retraining a classifier on permutations of a data set.
The replicates are grouped in *lanes*, in which they share a random stream (`sigstats._common.random_streams`). A
*block* is a range of whole lanes, the work of one task. The division into blocks never changes a replicate.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from sigstats._common.random_streams import lane_generator
from sigstats.multiplicity import Adjustment as Adjustment
from sigstats.sequential.gandy_rule import GandyRule
from sigstats.sequential.joint_rule import JointRule
from sigstats.sequential.precision_rules import PrecisePRule, PrecisionRule
from sigstats.sequential.rules import BesagCliffordRule, FixedRule

from .record import Work, digest, slug, without_place
from .schema import RENAMED

W = TypeVar("W", bound=Work)
Item = TypeVar("Item")
Key = TypeVar("Key")

#: The stopping rules by their name in a cell's `stopping`.
RULES: dict[str, type[FixedRule]] = {
    rule.method: rule for rule in (FixedRule, BesagCliffordRule, PrecisionRule, PrecisePRule, GandyRule, JointRule)
}


class OtherRule(ValueError):
    """The stopping rule of a stored plan is unknown to this version."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A computation and its number of replicates."""

    #: The name of the fan-out that computes the replicates (`sigstats.tasks.fan_out`).
    fanout: str
    #: The version of the fan-out, which is increased when the same values would give other replicates.
    version: int
    #: The cell's description for readers: data set, classifier, null hypothesis ...
    subject: Mapping[str, str]
    #: Everything that the replicates depend on, except the seed.
    work: Work
    #: The key of the random stream. Cells with equal keys draw equal numbers, so that methods are compared on the same
    #: data.
    stream: Mapping[str, Any]
    #: The study's seed.
    seed: int
    #: The number of replicates, at least 1.
    replicates: int
    #: The number of replicates that share one stream.
    lane_size: int
    #: The rule that may stop the cell early: ``rule`` (a key of `RULES`) and its settings. It is not part of the
    #: fingerprint, since it does not change any replicate.
    stopping: Mapping[str, Any] | None = None
    #: Limits and needs of code from other packages: ``time_limit`` (seconds of a fit), ``memory`` (bytes of the
    #: process), ``threads`` and ``gpu``. They are not part of the fingerprint.
    limits: Mapping[str, float] | None = None

    def __hash__(self) -> int:
        return hash(self.name)

    @cached_property
    def fingerprint(self) -> str:
        """The identity of the cell, without the number of replicates and the stopping rule.

        Code from other packages is identified by its source, not by the module that contains it.
        """
        return self._digest(self.version, without_place(self.work))

    @cached_property
    def definition(self) -> str:
        """The identity of the cell and its subject, without the versions of the fan-out and of other packages' code."""
        return digest("definition", cell=self._digest(0, without_place(self.work, code=False)), subject=self.subject)

    def _digest(self, version: int, work: Work) -> str:
        return digest(
            "cell",
            fanout=self.fanout,
            version=version,
            work=work,
            stream=self.stream,
            seed=self.seed,
            lane_size=self.lane_size,
        )

    @property
    def columns(self) -> dict[str, str]:
        """The subject, by the names of the columns that contain it."""
        return {RENAMED.get(key, key): value for key, value in self.subject.items()}

    @cached_property
    def name(self) -> str:
        """A readable, unique name, which is also the folder of the cell's files."""
        return f"{slug(self.fanout, *self.subject.values())}.{self.fingerprint[:10]}"

    def work_of(self, kind: type[W]) -> W:
        """Return the cell's work, which must be of this kind."""
        assert isinstance(self.work, kind)
        return self.work

    @property
    def lanes(self) -> int:
        """The number of lanes. The last lane may be shorter than the others."""
        return -(-self.replicates // self.lane_size)

    @cached_property
    def rule(self) -> FixedRule:
        """The stopping rule. If the cell has none, it is the rule that uses all replicates.

        Raises OtherRule if the cell was planned by another version, in which the rule has different settings.
        """
        settings = dict(self.stopping or {"rule": FixedRule.method})
        try:
            return RULES[settings.pop("rule")](maximum=self.replicates, **settings)
        except (KeyError, TypeError):
            raise OtherRule(
                f"{self.name} has a stopping rule from another version; to read it, run the study again with this "
                "output, which keeps the replicates"
            ) from None

    def whole_lanes(self, replicates: int) -> int:
        """Return the number of replicates in the whole lanes that contain the first `replicates`."""
        return min(-(-replicates // self.lane_size) * self.lane_size, self.replicates)

    def block(self, first_lane: int, last_lane: int) -> "Block":
        """Return the block of the lanes ``first_lane <= lane < last_lane``."""
        return Block(cell=self, first_lane=first_lane, last_lane=last_lane)


@dataclass(frozen=True, kw_only=True)
class Block:
    """A range of whole lanes of a cell."""

    cell: Cell
    first_lane: int
    last_lane: int

    def __post_init__(self) -> None:
        if not 0 <= self.first_lane < self.last_lane <= self.cell.lanes:
            raise ValueError(
                f"block: lanes {self.first_lane} to {self.last_lane} are not valid; expected a range from 0 to "
                f"{self.cell.lanes}, the lanes of {self.cell.name}"
            )

    @property
    def first(self) -> int:
        """The first replicate of the block, numbered from 0."""
        return self.first_lane * self.cell.lane_size

    @property
    def last(self) -> int:
        """The last replicate of the block, plus one."""
        return min(self.last_lane * self.cell.lane_size, self.cell.replicates)

    @property
    def key(self) -> str:
        """A name that is unique in a study."""
        return f"{self.cell.name}/{self.first}-{self.last}"

    def lanes(self) -> Iterator[tuple[np.random.Generator, int]]:
        """Yield the generator and the number of replicates of each lane, in order."""
        key = bytes.fromhex(digest("stream", **self.cell.stream))
        for lane in range(self.first_lane, self.last_lane):
            first = lane * self.cell.lane_size
            yield lane_generator(self.cell.seed, key, lane), min(self.cell.lane_size, self.cell.replicates - first)


def missing_lanes(cell: Cell, done: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the ranges of lanes that no stored range of replicates covers.

    `done`: the stored ranges of replicates, ``first <= replicate < last``, each of whole lanes.
    """
    size = cell.lane_size
    gaps, next_lane = [], 0
    for first, last in sorted(done):
        if first // size > next_lane:
            gaps.append((next_lane, first // size))
        next_lane = max(next_lane, -(-last // size))
    if next_lane < cell.lanes:
        gaps.append((next_lane, cell.lanes))
    return gaps


@dataclass(frozen=True, kw_only=True)
class Plan:
    """All cells of a study, and the settings of its summary."""

    #: The name of the study.
    study: str
    #: The kind of study.
    kind: str
    cells: tuple[Cell, ...]
    #: The names of the analyses that turn replicates into hypotheses, in order.
    analyses: tuple[str, ...]
    #: The level of decisions.
    alpha: float
    #: The adjustment for multiplicity that the decision uses (`sigstats.multiplicity`).
    adjust: Adjustment
    #: The measures that are estimated and compared, if the study names any (`sigstats.measures.table`).
    measures: tuple[str, ...] = ()
    #: The identity of the code of a user's measures, by import path.
    measure_code: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    #: The features whose values divide the rows into slices, if the study names any.
    slices: tuple[str, ...] = ()
    #: The positive classes that the study names, by data set. By default it is the second class.
    positive: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        seen: dict[str, Cell] = {}
        for cell in self.cells:
            if cell.name in seen:
                raise ValueError(f"plan: {dict(cell.subject)} appears twice; remove one of them")
            seen[cell.name] = cell

    @property
    def given(self) -> dict[str, Any]:
        """The optional settings that have a value."""
        names = ("measures", "measure_code", "slices", "positive")
        return {name: value for name in names if (value := getattr(self, name))}

    @property
    def replicates(self) -> int:
        """The number of replicates of all cells."""
        return sum(cell.replicates for cell in self.cells)


def group_by(items: Iterable[Item], key: Callable[[Item], Key]) -> dict[Key, list[Item]]:
    """Group items by `key`, in the order in which the keys first appear."""
    groups: dict[Key, list[Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


@dataclass(frozen=True)
class Needs:
    """The resources that a classifier or test from another package needs."""

    #: Memory of the process in bytes, or 0 if not requested.
    memory: int = 0
    #: The number of threads of numerical libraries.
    threads: int = 1
    #: The number of GPUs.
    gpu: int = 0
    #: The classifier or test that has these needs, for messages. Comparisons of needs ignore it.
    who: str = field(default="", compare=False)

    @classmethod
    def of(cls, cell: Cell) -> "Needs":
        """Return the needs of a cell's blocks."""
        limits = cell.limits or {}
        return cls(
            memory=int(limits.get("memory", 0)),
            threads=int(limits.get("threads", 1)),
            gpu=int(limits.get("gpu", 0)),
            who=who_of(cell) or cell.name,
        )

    @property
    def amounts(self) -> dict[str, int]:
        """The required amounts of a worker's resources, by name in Dask. It is empty if any worker suffices."""
        asked = {"memory": self.memory, "threads": self.threads if self.threads > 1 else 0, "gpu": self.gpu}
        return {name: amount for name, amount in asked.items() if amount}

    def __str__(self) -> str:
        """Return the needs in the form of a study file."""
        values = {"memory": f"{self.memory / 2**30:.3g} GiB", "threads": self.threads, "gpu": self.gpu}
        return ", ".join(f"{name} = {values[name]}" for name in self.amounts)


def who_of(cell: Cell) -> str:
    """Return the classifier or the test of a cell for messages, or "" if it has neither."""
    return next((f"{kind} {cell.subject[kind]}" for kind in ("classifier", "test") if kind in cell.subject), "")


def needs_of(cells: Iterable[Cell]) -> tuple[Needs, ...]:
    """Return the distinct needs of cells, except needs that every worker meets."""
    return tuple(dict.fromkeys(needs for cell in cells if (needs := Needs.of(cell)).amounts))
