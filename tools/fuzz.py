"""Fuzzing, guided by coverage, of what reads files: whatever is in one, it is read or refused in one line.

Needs atheris (`pip install atheris`, on Linux), which is no dependency of the project.

    python tools/fuzz.py READER [options of libFuzzer, such as -max_total_time=600]

READER is arff, csv, study, cluster, predictions.csv, predictions.jsonl or predictions.eval. What is
found is written to a file of the current folder, and read again by naming it after READER.
"""

import sys
import tempfile
import tomllib
import warnings
from collections.abc import Callable
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["sigstats.flows", "sigstats.tasks"]):
    from sigstats.flows.clusters import load_cluster
    from sigstats.flows.errors import BadInput
    from sigstats.flows.studies import load_study
    from sigstats.tasks.datasets import readers as sources
    from sigstats.tasks.predictions import Columns, read

ROOT = Path(__file__).parents[1]
FOLDER = Path(tempfile.mkdtemp(prefix="fuzz-"))


def _data(kind: str, target: str) -> Callable[[Path], object]:
    return lambda path: sources.load(
        {"name": "d", "source": kind, "path": str(path), "target": target}, base=path.parent
    )


def _configs(folder: str) -> list[bytes]:
    return [path.read_bytes() for path in sorted((ROOT / "configs" / folder).glob("*.toml"))]


def _small(name: str) -> list[bytes]:
    return [(ROOT / "tests/flows/corpus" / name).read_bytes()]


def _predictions(path: Path) -> object:
    return read(str(path), Columns())


#: What each reader is called with, and files that it can read.
READERS: dict[str, tuple[str, Callable[[Path], object], list[bytes]]] = {
    "arff": ("data.arff", _data("arff", "class"), _small("data.arff")),
    "csv": ("data.csv", _data("csv", "label"), _small("data.csv")),
    "study": ("study.toml", load_study, _configs("studies")),
    "cluster": ("cluster.toml", lambda path: load_cluster(str(path)), _configs("clusters")),
    "predictions.csv": ("predictions.csv", _predictions, _small("data.csv")),
    "predictions.jsonl": ("predictions.jsonl", _predictions, _small("data.jsonl")),
    "predictions.eval": ("predictions.eval", _predictions, [b"PK\x03\x04"]),
}


def main() -> None:
    """Fuzz one reader."""
    if len(sys.argv) < 2 or sys.argv[1] not in READERS:
        sys.exit(f"READER: expected one of {', '.join(READERS)}")
    reader = sys.argv.pop(1)
    name, call, seeds = READERS[reader]
    path, corpus = FOLDER / name, FOLDER / "corpus"
    corpus.mkdir()
    for number, seed in enumerate(seeds):
        (corpus / str(number)).write_bytes(seed)

    def one(content: bytes) -> None:
        path.write_bytes(content)
        try:
            call(path)
        except (ValueError, BadInput) as error:
            line = str(error)
            if not line or "\n" in line or len(line) > 3000 or isinstance(error, tomllib.TOMLDecodeError):
                raise RuntimeError(f"no line that a person can use: {line!r}") from error

    warnings.simplefilter("error")
    files = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    atheris.Setup(sys.argv if files else [*sys.argv, str(corpus)], one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
