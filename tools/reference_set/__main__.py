"""Make every file of the reference set anew; nothing is written where two methods differ."""

import importlib
import pkgutil
import sys
from pathlib import Path

from . import __path__
from ._cases import write

FOLDER = Path(__file__).parents[2] / "sigstats" / "reference_set"


def main(names: list[str]) -> None:
    """Make the files of these tests, or of all."""
    for info in pkgutil.iter_modules(__path__):
        if not info.name.startswith("_") and (not names or info.name in names):
            module = importlib.import_module(f"{__package__}.{info.name}")
            name = info.name.replace("fuzzy_", "fuzzy.")
            count = write(FOLDER, name, module.SOURCE, module.METHODS, module.cases())
            print(f"{name}: {count} cases", flush=True)


main(sys.argv[1:])
