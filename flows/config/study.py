"""The fields that the files of all kinds of study share.

A study file states *what* is computed, and its hash is part of the study's identity. A cluster file states *where* it
runs.
"""

from typing import Annotated, ClassVar

from pydantic import Field

from sigstats.tasks.plan import Adjustment

from .model import Strict


class Study(Strict):
    """The fields that all kinds of study share."""

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
    """The fields that all kinds of study that read data share."""

    folder: Annotated[
        str,
        Field(
            exclude=True,  # the place of the data is no part of the identity
            description="Where relative paths of data start, itself relative to the study file",
        ),
    ] = ""
