"""The plan: cells, and blocks of their replicates.

A *cell* is one computation that is repeated many times, such as retraining a classifier on permutations of one data
set. Its replicates are grouped in *lanes* that share a random stream (`sigstats._common.random_streams`). A *block* is
a range of whole lanes: the work of one task. How lanes are cut into blocks never changes a replicate.
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

#: The stopping rules by the name that a cell's `stopping` gives.
RULES: dict[str, type[FixedRule]] = {
    rule.method: rule for rule in (FixedRule, BesagCliffordRule, PrecisionRule, PrecisePRule, GandyRule, JointRule)
}


class OtherRule(ValueError):
    """The stopping rule of a stored plan is unknown to this version."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One computation, and the number of its replicates."""

    #: The name of its fan-out (`sigstats.tasks.fan_out`), which computes its replicates.
    fanout: str
    #: The fan-out's version: raised when it would give other replicates for the same values.
    version: int
    #: The cell's description for a reader: data set, classifier, null hypothesis ...
    subject: Mapping[str, str]
    #: Everything that the replicates depend on, except the seed.
    work: Work
    #: The key of the random stream: cells of equal `stream` draw equal numbers, so that methods are compared on the
    #: same data.
    stream: Mapping[str, Any]
    #: The study's seed.
    seed: int
    #: The number of replicates, at least 1.
    replicates: int
    #: The number of replicates that share one stream.
    lane_size: int
    #: The rule that may stop the cell before all of its replicates: its ``rule`` (one of `RULES`) and settings. It is
    #: not part of the fingerprint, since it changes no replicate.
    stopping: Mapping[str, Any] | None = None
    #: Limits and needs of code of other packages: ``time_limit``, the seconds of a fit, ``memory``, the bytes
    #: of its process, ``threads`` and ``gpu``. Not part of the fingerprint.
    limits: Mapping[str, float] | None = None

    def __hash__(self) -> int:
        return hash(self.name)

    @cached_property
    def fingerprint(self) -> str:
        """The identity of the cell; neither the number of replicates nor the stopping rule is part of it.

        Code of other packages is identified by its source, not by the module that contains it.
        """
        return self._digest(self.version, without_place(self.work))

    @cached_property
    def definition(self) -> str:
        """The identity of the cell and its subject, without the version of its fan-out and other packages' code."""
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
        """The subject by the names of the columns that show it."""
        return {RENAMED.get(key, key): value for key, value in self.subject.items()}

    @cached_property
    def name(self) -> str:
        """A readable, unique name: the folder of its files."""
        return f"{slug(self.fanout, *self.subject.values())}.{self.fingerprint[:10]}"

    def work_of(self, kind: type[W]) -> W:
        """Return its work, which must be of this kind."""
        assert isinstance(self.work, kind)
        return self.work

    @property
    def lanes(self) -> int:
        """The number of lanes; the last one may be shorter than the others."""
        return -(-self.replicates // self.lane_size)

    @cached_property
    def rule(self) -> FixedRule:
        """The stopping rule; without one, all replicates are used.

        Raises OtherRule if the cell was planned by another version, in which the rule has other settings.
        """
        settings = dict(self.stopping or {"rule": FixedRule.method})
        try:
            return RULES[settings.pop("rule")](maximum=self.replicates, **settings)
        except (KeyError, TypeError):
            raise OtherRule(
                f"{self.name} was stopped by a rule of another version; to read it, run the study again with this "
                "output, which keeps the replicates"
            ) from None

    def whole_lanes(self, replicates: int) -> int:
        """The number of replicates in the whole lanes that contain the first `replicates`."""
        return min(-(-replicates // self.lane_size) * self.lane_size, self.replicates)

    def block(self, first_lane: int, last_lane: int) -> "Block":
        """The block of the lanes ``first_lane <= lane < last_lane``."""
        return Block(cell=self, first_lane=first_lane, last_lane=last_lane)


@dataclass(frozen=True, kw_only=True)
class Block:
    """A range of whole lanes of one cell."""

    cell: Cell
    first_lane: int
    last_lane: int

    def __post_init__(self) -> None:
        if not 0 <= self.first_lane < self.last_lane <= self.cell.lanes:
            raise ValueError(
                f"block: lanes {self.first_lane} to {self.last_lane} are not valid; expected a range within 0 to "
                f"{self.cell.lanes}, the lanes of {self.cell.name}"
            )

    @property
    def first(self) -> int:
        """Its first replicate, numbered from 0."""
        return self.first_lane * self.cell.lane_size

    @property
    def last(self) -> int:
        """The replicate after its last one."""
        return min(self.last_lane * self.cell.lane_size, self.cell.replicates)

    @property
    def key(self) -> str:
        """A name that is unique in a study."""
        return f"{self.cell.name}/{self.first}-{self.last}"

    def lanes(self) -> Iterator[tuple[np.random.Generator, int]]:
        """The generator and the number of replicates of each lane, in order."""
        key = bytes.fromhex(digest("stream", **self.cell.stream))
        for lane in range(self.first_lane, self.last_lane):
            first = lane * self.cell.lane_size
            yield lane_generator(self.cell.seed, key, lane), min(self.cell.lane_size, self.cell.replicates - first)


def missing_lanes(cell: Cell, done: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The ranges of lanes that no stored range of replicates covers.

    `done`: ranges of replicates that are stored, ``first <= replicate < last``, each of whole lanes.
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
    """All cells of a study, and how they are summarised."""

    #: The study's name.
    study: str
    #: The kind of study.
    kind: str
    cells: tuple[Cell, ...]
    #: The names of the analyses that turn replicates into hypotheses of the kind of study, in order.
    analyses: tuple[str, ...]
    #: The level at which a decision is made.
    alpha: float
    #: The adjustment for multiplicity that the decision uses (`sigstats.multiplicity`).
    adjust: Adjustment
    #: The measures that are estimated and compared, where the study names any (`sigstats.measures.table`).
    measures: tuple[str, ...] = ()
    #: The identity of the code of a user's measures, by import path.
    measure_code: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    #: The features whose values divide the rows, where the study names any.
    slices: tuple[str, ...] = ()
    #: The positive class of each data set for which the study names one; of others it is the second.
    positive: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        seen: dict[str, Cell] = {}
        for cell in self.cells:
            if cell.name in seen:
                raise ValueError(f"plan: {dict(cell.subject)} occurs twice")
            seen[cell.name] = cell

    @property
    def given(self) -> dict[str, Any]:
        """The optional settings that the study gives."""
        names = ("measures", "measure_code", "slices", "positive")
        return {name: value for name in names if (value := getattr(self, name))}

    @property
    def replicates(self) -> int:
        """The number of replicates of all cells."""
        return sum(cell.replicates for cell in self.cells)


def group_by(items: Iterable[Item], key: Callable[[Item], Key]) -> dict[Key, list[Item]]:
    """The items by `key`, in the order of its first appearance."""
    groups: dict[Key, list[Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


@dataclass(frozen=True)
class Needs:
    """The resources that a classifier or test of another package needs."""

    #: Memory of its process in bytes; 0 if none is asked for.
    memory: int = 0
    #: The number of threads of its numerical libraries.
    threads: int = 1
    #: GPUs.
    gpu: int = 0
    #: The classifiers or tests that need it, for messages; comparisons of needs ignore it.
    who: str = field(default="", compare=False)

    @classmethod
    def of(cls, cell: Cell) -> "Needs":
        """The needs of a cell's blocks."""
        limits = cell.limits or {}
        return cls(
            memory=int(limits.get("memory", 0)),
            threads=int(limits.get("threads", 1)),
            gpu=int(limits.get("gpu", 0)),
            who=who_of(cell) or cell.name,
        )

    @property
    def amounts(self) -> dict[str, int]:
        """The required amounts of a worker's resources, by Dask's names; empty if any worker suffices."""
        asked = {"memory": self.memory, "threads": self.threads if self.threads > 1 else 0, "gpu": self.gpu}
        return {name: amount for name, amount in asked.items() if amount}

    def __str__(self) -> str:
        """The needs as a study file states them."""
        values = {"memory": f"{self.memory / 2**30:.3g} GiB", "threads": self.threads, "gpu": self.gpu}
        return ", ".join(f"{name} = {values[name]}" for name in self.amounts)


def who_of(cell: Cell) -> str:
    """The classifier or the test of a cell, for messages; empty if it has none."""
    return next((f"{kind} {cell.subject[kind]}" for kind in ("classifier", "test") if kind in cell.subject), "")


def needs_of(cells: Iterable[Cell]) -> tuple[Needs, ...]:
    """The distinct needs of cells, without those that every worker meets."""
    return tuple(dict.fromkeys(needs for cell in cells if (needs := Needs.of(cell)).amounts))
