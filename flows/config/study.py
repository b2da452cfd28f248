"""What every kind of study has in its study file.

A study file says *what* is computed and is hashed into the study's identity. A cluster file says *where* it runs.
"""

from typing import Annotated, ClassVar

from pydantic import Field

from sigstats.tasks.plan import Adjustment

from .model import Strict


class Study(Strict):
    """What every kind of study has."""

    #: The question that a study of this kind answers; a run shows it.
    question: ClassVar[str]

    kind: str
    name: Annotated[
        str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._ -]{0,60}$", description="The study's name; the file's by default")
    ]
    seed: Annotated[int, Field(ge=0, lt=2**63, description="The seed of all randomness")] = 0
    alpha: Annotated[float, Field(gt=0, lt=1, description="The level of the decisions")] = 0.05
    adjust: Annotated[
        Adjustment,
        Field(description="The adjustment for multiplicity that decisions use"),
    ] = "holm"


class DataStudy(Study):
    """What every kind of study has that reads data."""

    folder: Annotated[
        str,
        Field(
            exclude=True,  # where data lies is no part of what is computed
            description="Where relative paths of data start, itself relative to the study file",
        ),
    ] = ""
