"""The sources of populations from which a calibration study draws test sets; a study file names one as ``source``."""

from typing import Annotated, TypeAlias

from pydantic import Field

from ._source import PopulationSpec
from .described import CrossValidated, Judged, Kinds, Simulated, Sturm, Tasks, TimeSeries, Votes
from .parquet import Parquet, Scores
from .trained import Trained

__all__ = ["PopulationSpec", "Source"]

#: Any source, as a study file describes it.
Source: TypeAlias = Annotated[
    CrossValidated | Judged | Kinds | Parquet | Scores | Simulated | Sturm | Tasks | TimeSeries | Trained | Votes,
    Field(discriminator="source"),
]
