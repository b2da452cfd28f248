"""The sources of populations from which a calibration study draws test sets; a study file names one as ``source``."""

from typing import Annotated, TypeAlias

from pydantic import Field

from ._source import PopulationSpec
from .cross_validated import CrossValidated
from .judged import Judged
from .kinds import Kinds
from .parquet import Parquet
from .scores import Scores
from .simulated import Simulated
from .sturm import Sturm
from .trained import Trained

__all__ = ["PopulationSpec", "Source"]

#: Any source, as a study file describes it.
Source: TypeAlias = Annotated[
    CrossValidated | Judged | Kinds | Parquet | Scores | Simulated | Sturm | Trained, Field(discriminator="source")
]
