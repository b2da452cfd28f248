"""Scores of two classifiers on disk."""

from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from sigstats.tasks.populations.scored import read_scores
from sigstats.tasks.record import Named
from sigstats.tasks.work import ScoredRows

from ...running.options import Progress
from ._source import LoadedSource, PopulationSource, PopulationSpec, Tests


class Scores(PopulationSource):
    """Scored rows on disk, for areas under the ROC curve and losses: as they are, and with scores exchanged."""

    source: Literal["scores"]
    path: Annotated[str, Field(min_length=1, description="A file, a folder, a pattern or an fsspec URL")]
    label: Annotated[str, Field(description="The column of the true classes")] = "label"
    a: Annotated[
        str, Field(description="The column of A's scores: for a loss, probabilities of the positive class")
    ] = "score_a"
    b: Annotated[str, Field(description="The column of B's scores")] = "score_b"
    group: Annotated[str | None, Field(description="The column of groups, where rows of one are not independent")] = (
        None
    )
    positive: Annotated[bool | int | str, Field(description="The positive class")]

    def load(self, base: Path, seed: int, *, tests: Tests, progress: Progress) -> LoadedSource:  # noqa: ARG002
        """The rows as they are, then swapped."""
        columns = {"label": self.label, "a": self.a, "b": self.b}
        columns |= {} if self.group is None else {"group": self.group}
        measures = sorted({test.compared for test in tests if test.test == "scores"})
        found = read_scores(
            self.name,
            self.path,
            base,
            columns=columns,
            positive=self.positive,
            measures=measures,
            progress=partial(progress, self.name),
        )
        kept = Named(name=self.name, digest=found.digest())
        populations = [
            PopulationSpec(
                slice=part,
                values=ScoredRows(scores=kept, swapped=swapped),
                rows=found.rows,
                scored=True,
                grouped=self.group is not None,
            )
            for part, swapped in (("as they are", False), ("scores swapped", True))
        ]
        better = ", ".join(f"{measure} {found.truth[measure]:+.4g}" for measure in measures)
        return LoadedSource(
            populations=populations,
            data=[found],
            note=f"{self.name}: {found.rows:,} rows; by so much B is better: {better}",
        )
