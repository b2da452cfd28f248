"""The fields that the files of all kinds of cluster share."""

from typing import Annotated

from pydantic import Field

from ..config.model import Strict

#: The name of a package that can be imported.
Package = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]


Gpus = Annotated[
    int, Field(ge=0, le=64, description="GPUs of this machine that classifiers may use, from the first on")
]


class ClusterFile(Strict):
    """The fields that the files of all kinds of cluster share."""

    allow: Annotated[
        list[Package],
        Field(
            default_factory=list,
            description="Packages whose classifiers a study may name: their code is imported and run",
        ),
    ]
