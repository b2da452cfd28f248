"""Generated random data: ``{name = "ρ = 0.5", source = "generated", generator = "correlated", correlation = 0.5}``.

A new generator is a function in this file with an entry in `GENERATORS`.
"""

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sigstats._common.random_streams import as_generator
from sigstats._common.validation import as_choice, as_count, as_real

from ..dataset import Dataset
from ..options import Kinds, validate_options

Sample = tuple[NDArray[np.float64], NDArray[np.int64]]


def correlated(spec: Mapping[str, Any], rng: np.random.Generator, where: str) -> Sample:
    """Draw two normal features that separate the classes better the more they are correlated within the classes.

    The class means are `separation` apart on the line along which one feature increases as the other decreases. The
    variance along this line is 1 - correlation, so that a classifier that uses both features improves with the
    correlation, while a single feature remains equally informative. The generated sets of Ojala and Garriga are of this
    kind; their paper does not give all details.
    """
    rows = as_count(spec.get("rows", 200), f"{where}: rows", minimum=4)
    rho = as_real(spec.get("correlation", 0.0), f"{where}: correlation", low=-1, high=1)
    apart = as_real(spec.get("separation", 1.0), f"{where}: separation", low=0, high=1e6)
    y = np.arange(rows, dtype=np.int64) % 2
    first, second = rng.standard_normal((2, rows))
    X = np.column_stack([first, rho * first + math.sqrt(1 - rho**2) * second])
    offset = apart / math.sqrt(8) * np.array([1, -1])
    return X + np.where(y[:, None] == 1, offset, -offset), y


def noise(spec: Mapping[str, Any], rng: np.random.Generator, where: str) -> Sample:
    """Draw normal features that are independent of the classes, on which a test of learning keeps its level."""
    rows = as_count(spec.get("rows", 200), f"{where}: rows", minimum=4)
    features = as_count(spec.get("features", 5), f"{where}: features", minimum=1)
    classes = as_count(spec.get("classes", 2), f"{where}: classes", minimum=2, maximum=rows)
    return rng.standard_normal((rows, features)), np.arange(rows, dtype=np.int64) % classes


_ROWS: Mapping[str, Kinds] = {"rows": int}
#: Each generator with its options.
GENERATORS: Mapping[
    str, tuple[Callable[[Mapping[str, Any], np.random.Generator, str], Sample], Mapping[str, Kinds]]
] = {
    "correlated": (correlated, {**_ROWS, "correlation": float, "separation": float}),
    "noise": (noise, {**_ROWS, "features": int, "classes": int}),
}

OPTIONS: Mapping[str, Kinds] = {
    "generator": str,
    "seed": int,
    **{name: kinds for _, options in GENERATORS.values() for name, kinds in options.items()},
}
REQUIRED = ("name", "generator")


def load(spec: Mapping[str, Any], base: Path) -> Dataset:  # noqa: ARG001
    """Draw the data with the chosen generator."""
    spec = validate_options(spec, OPTIONS, required=REQUIRED)
    where = f"data set {spec['name']}"
    generate, options = GENERATORS[as_choice(spec["generator"], f"{where}: generator", list(GENERATORS))]
    spec = validate_options(spec, {"generator": str, "seed": int, **options})
    X, y = generate(spec, as_generator(as_count(spec.get("seed", 0), f"{where}: seed")), where)
    classes = [f"class {label}" for label in range(int(y.max()) + 1)]
    features = [f"x{place}" for place in range(1, X.shape[1] + 1)]
    return Dataset.of_numbers(spec["name"], X, y, classes=classes, features=features)
