"""The names of the models of a leaderboard: from their logs, or else from their files."""

from collections.abc import Mapping, Sequence
from pathlib import PurePath

_PACKED = (".gz", ".bz2", ".xz", ".zst")


def model_names(files: Sequence[str], subjects: Sequence[Mapping[str, str]]) -> list[str]:
    """A name for each file, all different.

    Files whose logs name the same model are distinguished by their names, files of one name by their folders.

    Examples
    --------
    >>> from sigstats.flows.ranking.names import model_names
    >>> model_names(["a/gpt.csv", "b/gpt.csv", "tree.jsonl.gz"], [{}] * 3)
    ['a/gpt', 'b/gpt', 'tree']
    >>> model_names(["x.eval", "y.eval"], [{"model": "m"}] * 2)
    ['m (x)', 'm (y)']
    """
    stems = [_stem(PurePath(file)) for file in files]
    named = [subject.get("model", "") for subject in subjects]
    names = [model or stem for model, stem in zip(named, stems, strict=True)]
    names = [
        f"{name} ({stem})" if model and names.count(name) > 1 else name
        for name, model, stem in zip(names, named, stems, strict=True)
    ]
    deepest = max(len(PurePath(file).parts) for file in files)
    for depth in range(1, deepest):
        names = [
            "/".join([*PurePath(file).parent.parts[-depth:], stem]) if names.count(name) > 1 else name
            for file, stem, name in zip(files, stems, names, strict=True)
        ]
    return [f"{name} #{names[: i + 1].count(name)}" if names.count(name) > 1 else name for i, name in enumerate(names)]


def _stem(file: PurePath) -> str:
    return (PurePath(file.stem) if file.suffix in _PACKED else file).stem
