"""Fuzzing, guided by coverage, of what reads files: whatever is in one, it is read or refused in one line.

Needs atheris (`pip install atheris`, on Linux), which is no dependency of the project.

    python tools/fuzz.py READER [REACHED] [options of libFuzzer, such as -max_total_time=600]

READER is one of those that the command without arguments lists. Bytes are changed, and in three of four inputs a value
of the file's own structure. A line says from time to time how many inputs came to the reader itself, past what refuses
text that is no TOML, JSON or Parquet, and how many it read; the command ends once REACHED did, or all of `-runs` were
made, and adds a line to the file that SIGSTATS_FAULT_RECORD names, for `tools/reliability.py`. What is found is written
to a file of the current folder, and read again by naming it after READER.
"""

import io
import json
import os
import random
import re
import sys
import tempfile
import tomllib
import warnings
import zipfile
from collections.abc import Callable
from functools import lru_cache, partialmethod
from importlib import import_module
from pathlib import Path
from typing import Any

import atheris
import pyarrow as pa
import pyarrow.parquet as pq

ROOT = Path(__file__).parents[1]
#: What reads files. Atheris follows the whole of a package, but for the modules that it is told not to.
_READING = re.compile(
    r"sigstats\.(flows\.(clusters|config|studies)|tasks\.(datasets|input_files|predictions|tables))\b"
)
_PATHS = [*(ROOT / "sigstats").rglob("*.py"), *(ROOT / "flows").rglob("*.py"), *(ROOT / "tasks").rglob("*.py")]
_NAMES = {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in _PATHS}
_NAMES = {name if name.startswith("sigstats") else f"sigstats.{name}" for name in _NAMES}
with atheris.instrument_imports(include=["sigstats"], exclude=[name for name in _NAMES if not _READING.match(name)]):
    from sigstats.files.predictions import Columns, read
    from sigstats.files.predictions.readers import REGISTRY
    from sigstats.flows.clusters import load_cluster
    from sigstats.flows.errors import BadInput
    from sigstats.flows.report.page import config_as_toml
    from sigstats.flows.running.kind import load_study
    from sigstats.tasks.datasets import readers as sources
    from sigstats.tasks.datasets.documents import read_documents

# A table of four rows takes no threads, and waiting for one takes longer than all else on a busy machine.
pq.ParquetFile.read = partialmethod(pq.ParquetFile.read, use_threads=False)

FOLDER = Path(tempfile.mkdtemp(prefix="fuzz-"))

#: Values that a file may hold in the place of others.
ANYTHING: list[Any] = ["", "x", "\n", "\x1b[2J", "s3://", "nan", "a" * 3000, -1, 0, 1, 2**31, 2**63, 10**30, 0.5, 1e308]
ANYTHING += [1e-320, float("inf"), float("nan"), True, False, None, [], {}, [[]], {"a": {}}, ["a", 1], "\u0301\u202e"]


def _data(kind: str, target: str) -> Callable[[Path], object]:
    return lambda path: sources.load(
        {"name": "d", "source": kind, "path": str(path), "target": target}, base=path.parent
    )


def _configs(folder: str) -> list[bytes]:
    return [path.read_bytes() for path in sorted((ROOT / "configs" / folder).glob("*.toml"))]


def _small(name: str) -> list[bytes]:
    return [(ROOT / "tests/flows/corpus" / name).read_bytes()]


def _json(*values: Any) -> list[bytes]:
    return [json.dumps(value).encode() for value in values]


def _parquet(rows: list[dict[str, Any]]) -> bytes:
    held = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(rows), held)
    return held.getvalue().to_pybytes()


def _zip(files: dict[str, bytes]) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return held.getvalue()


def _predictions(path: Path) -> object:
    return read(str(path), Columns())


def _documents(path: Path) -> object:
    return read_documents("d", str(path), path.parent, text=["text"], categories="topics")


TABLE = [{"id": n, "label": "ab"[n % 2], "prediction": "ab"[n // 2], "x": 0.5 * n} for n in range(4)]
DOCUMENTS = [{"text": "a b", "topics": ["x", "y"]}, {"text": "c", "topics": []}]
SAMPLES = [{"id": n, "epoch": 1, "input": f"q{n}", "target": "x", "scores": {"s": {"value": "C"}}} for n in range(3)]
HEADER = {"version": 2, "status": "success", "eval": {"task": "t", "model": "m"}}
HARNESS = [
    {"doc_id": n, "doc": {"q": n}, "target": "x", "resps": [], "filtered_resps": [], "metrics": ["acc"], "acc": n % 2}
    for n in range(3)
]
HELM = [
    {
        "instance_id": f"id{n}",
        "train_trial_index": 0,
        "stats": [{"name": {"name": "exact_match", "split": "test"}, "count": 1, "sum": n % 2, "mean": n % 2}],
    }
    for n in range(3)
]
PROMPTFOO = {
    "evalId": "e",
    "results": {
        "version": 3,
        "results": [
            {
                "success": n == 0,
                "provider": {"id": "p", "label": ""},
                "prompt": {"raw": f"q {n}", "label": "l"},
                "vars": {"n": n},
                "testIdx": n,
                "promptIdx": 0,
            }
            for n in range(3)
        ],
    },
}
SWE = {"resolved_ids": ["a__a-1"], "unresolved_ids": ["a__a-2"], "submitted_ids": ["a__a-1", "a__a-2"]}
SWE_INSTANCES = {"a__a-1": {"resolved": True}, "a__a-2": {"resolved": False}}
LIGHTEVAL = [{"doc": {"id": str(n), "query": f"q{n}"}, "metric": {"em": float(n % 2)}} for n in range(3)]
DEEPEVAL = [{"name": "c", "input": "q", "metricsData": [{"name": "m", "score": 0.5}]}] * 2
EVALPLUS = {"t/0": [{"base_status": "pass"}], "t/1": {"base": [["success", []]], "plus": []}}
OPENAI = [{"spec": {"completion_fns": ["m"], "base_eval": "e"}}]
OPENAI += [{"sample_id": "s", "type": "match", "data": {"correct": True, "expected": "x"}}]
INSPECT = _zip({"header.json": _json(HEADER)[0]} | {f"samples/{s['id']}_epoch_1.json": _json(s)[0] for s in SAMPLES})

_READERS = "sigstats.tasks.datasets.readers"
#: The name of the file that each reader is called with, itself, files that it can read, and what it calls once the
#: text, the archive or the columns are there: "" for a format of predictions, whose `read` it is.
READERS: dict[str, tuple[str, Callable[[Path], object], list[bytes], str]] = {
    "arff": ("data.arff", _data("arff", "class"), _small("data.arff"), f"{_READERS}.arff.Arff"),
    "csv": ("data.csv", _data("csv", "label"), _small("data.csv"), f"{_READERS}.csv.DelimitedTable"),
    "parquet": ("data.parquet", _data("parquet", "label"), [_parquet(TABLE)], f"{_READERS}.parquet.Columns"),
    "documents": ("data.parquet", _documents, [_parquet(DOCUMENTS)], "sigstats.tasks.datasets.documents._texts"),
    "study": ("study.toml", load_study, _configs("studies"), "sigstats.flows.running.kind.validated"),
    "cluster": (
        "cluster.toml",
        lambda path: load_cluster(str(path)),
        _configs("clusters"),
        "sigstats.flows.clusters.validated",
    ),
    "predictions.csv": ("predictions.csv", _predictions, _small("data.csv"), ""),
    "predictions.json_tables": ("predictions.json", _predictions, [*_small("data.jsonl"), *_json(TABLE)], ""),
    "predictions.parquet": ("predictions.parquet", _predictions, [_parquet(TABLE)], ""),
    "predictions.inspect_log": (
        "predictions.eval",
        _predictions,
        [INSPECT, *_json({**HEADER, "samples": SAMPLES})],
        "",
    ),
    "predictions.lm_evaluation_harness": (
        "samples_t_1.jsonl",
        _predictions,
        [b"\n".join(_json(*HARNESS))],
        "",
    ),
    "predictions.helm": ("per_instance_stats.json", _predictions, _json(HELM), ""),
    "predictions.promptfoo": ("output.json", _predictions, _json(PROMPTFOO), ""),
    "predictions.swe_bench": ("m.run.json", _predictions, _json(SWE, SWE_INSTANCES), ""),
    "predictions.deepeval": ("test_run_1.json", _predictions, _json({"testCases": DEEPEVAL}), ""),
    "predictions.evalplus": (
        "eval_results.json",
        _predictions,
        _json({"date": "2026-01-01", "hash": "0", "eval": EVALPLUS}),
        "",
    ),
    "predictions.humaneval": (
        "results.jsonl",
        _predictions,
        [b"\n".join(_json(*({"task_id": f"t/{n}", "passed": n == 0} for n in range(3))))],
        "",
    ),
    "predictions.openai_evals": ("record.jsonl", _predictions, [b"\n".join(_json(*OPENAI))], ""),
    "predictions.lighteval": ("details.parquet", _predictions, [_parquet(LIGHTEVAL)], ""),
}


def _spoil(values: Any, chance: random.Random) -> Any:
    """`values` with one of its places replaced, removed, or doubled."""
    if isinstance(values, dict) and values:
        key = chance.choice(sorted(values, key=str))
        if chance.random() < 0.1:
            return {name: value for name, value in values.items() if name != key}
        if chance.random() < 0.05:
            return {**values, str(chance.choice(ANYTHING)): values[key]}
        return {**values, key: _spoil(values[key], chance)}
    if isinstance(values, list) and values:
        place = chance.randrange(len(values))
        if chance.random() < 0.1:
            return values[:place] + values[place + 1 :]
        if chance.random() < 0.05:
            return [*values, values[place]]
        return [*values[:place], _spoil(values[place], chance), *values[place + 1 :]]
    return chance.choice(ANYTHING)


@lru_cache(1000)
def _held(name: str, content: bytes) -> Any:
    """The values of a file in TOML or Parquet, which takes longer to read than to write."""
    if name.endswith(".toml"):
        return tomllib.loads(content.decode())
    return pq.ParquetFile(io.BytesIO(content)).read().to_pylist()


def _spoiled(name: str, content: bytes, chance: random.Random) -> bytes:
    """A file of which one value is another, written anew in its own format."""
    if name.endswith(".toml"):
        return config_as_toml(_spoil(_held(name, content), chance)).encode()
    if name.endswith(".parquet"):
        return _parquet(_spoil(_held(name, content), chance))
    if content.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            files = {each: archive.read(each) for each in archive.namelist()}
        each = chance.choice(sorted(files))
        return _zip({**files, each: json.dumps(_spoil(json.loads(files[each]), chance)).encode()})
    if name.endswith(".jsonl"):
        lines = content.splitlines()
        row = chance.randrange(len(lines))
        return b"\n".join([*lines[:row], *_json(_spoil(json.loads(lines[row]), chance)), *lines[row + 1 :]])
    if name.endswith((".json", ".eval")):
        return json.dumps(_spoil(json.loads(content), chance)).encode()
    text = content.decode(errors="surrogateescape")
    lines = _spoil([line.split(",") for line in text.split("\n")], chance)
    return "\n".join(",".join(map(str, line)) if isinstance(line, list) else str(line) for line in lines).encode(
        errors="surrogateescape"
    )


def note(reader: str, counts: dict[str, int]) -> None:
    """Record, where the environment asks for it, what was seen."""
    line = {"test": f"tools/fuzz.py::{reader}", "fault": f"fuzzed inputs for {reader}", "where": "a folder"}
    seen = f"{counts['inputs']} made, {counts['read']} read"
    if "SIGSTATS_FAULT_RECORD" in os.environ:
        with Path(os.environ["SIGSTATS_FAULT_RECORD"]).open("a", encoding="utf-8") as record:
            record.write(json.dumps(line | {"count": counts["reached"], "seen": seen}) + "\n")


def main() -> None:
    """Fuzz one reader."""
    if len(sys.argv) < 2 or sys.argv[1] not in READERS:
        sys.exit(f"READER: expected one of {', '.join(READERS)}")
    reader = sys.argv.pop(1)
    name, call, seeds, within = READERS[reader]
    enough = int(sys.argv.pop(1)) if sys.argv[1:] and sys.argv[1].isdecimal() else 0
    most = next((int(each.partition("=")[2]) for each in sys.argv if each.startswith("-runs=")), 0)
    path, corpus = FOLDER / name, FOLDER / "corpus"
    corpus.mkdir()
    for number, seed in enumerate(seeds):
        (corpus / str(number)).write_bytes(seed)
    counts, calls = {"inputs": 0, "reached": 0, "read": 0}, 0
    owner, _, function = within.rpartition(".")
    holder: Any = import_module(owner) if within else REGISTRY.module(reader.partition(".")[2].replace("_", "-"))
    itself = getattr(holder, function or "read")

    def counted(*arguments: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        return itself(*arguments, **named)

    setattr(holder, function or "read", counted)

    def one(content: bytes) -> None:
        nonlocal calls
        counts["inputs"] += 1
        counts["reached"] += calls > 0
        calls = 0
        if counts["inputs"] % 1_000 == 0:
            print(f"{reader}: {counts}", file=sys.stderr)
        if (enough and counts["reached"] >= enough) or counts["inputs"] == most:
            note(reader, counts)
            os._exit(0)  # libFuzzer has no other way to end well from within
        path.write_bytes(content)
        try:
            call(path)
            counts["read"] += 1
        except (ValueError, BadInput) as error:
            line = str(error)
            if not line or "\n" in line or len(line) > 3000 or isinstance(error, tomllib.TOMLDecodeError):
                raise RuntimeError(f"no line that a person can use: {line!r}") from error

    def mutated(content: bytes, most: int, seed: int) -> bytes:
        chance = random.Random(seed)
        # What came before is mostly no file that reaches the reader, so half of the inputs begin with one that does.
        for _ in range(8 if chance.random() < 0.75 else 0):
            try:
                return _spoiled(name, chance.choice([content, chance.choice(seeds)]), chance)[:most]
            except Exception:  # bytes that are no such file any more, or values that it cannot hold
                continue
        return atheris.Mutate(content, most)

    warnings.simplefilter("error")
    files = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    atheris.Setup(sys.argv if files else [*sys.argv, "-max_len=20000", str(corpus)], one, custom_mutator=mutated)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
