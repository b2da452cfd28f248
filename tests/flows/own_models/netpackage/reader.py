"""A source of data sets: a file of numbers, the last of a line being the class."""

import numpy as np

from sigstats.tasks.datasets.dataset import Dataset
from sigstats.tasks.datasets.options import validate_options

OPTIONS = {"path": str}
REQUIRED = ("name", "path")


def load(spec, base):
    """Read it."""
    spec = validate_options(spec, OPTIONS, required=REQUIRED)
    table = np.loadtxt(base / spec["path"])
    classes, y = np.unique(table[:, -1], return_inverse=True)
    d = table.shape[1] - 1
    return Dataset(
        name=spec["name"],
        X=table[:, :-1],
        nominal=np.zeros(d, dtype=bool),
        y=y,
        classes=tuple(f"{each:g}" for each in classes),
        features=tuple(f"x{number}" for number in range(d)),
        categories=((),) * d,
    )
