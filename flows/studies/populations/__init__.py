"""What a calibration study draws its test sets from: a file for each source that a study file may name."""

from typing import Annotated, TypeAlias

from pydantic import Field

from .drawn import Drawn as Drawn
from .parquet import Parquet
from .scores import Scores
from .sturm import Sturm
from .trained import Trained

Source: TypeAlias = Annotated[Sturm | Parquet | Scores | Trained, Field(discriminator="source")]
