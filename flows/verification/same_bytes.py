"""Whether two runs of one study left the same bytes."""

from pathlib import Path


def differing(first: Path, second: Path) -> list[str]:
    """The files of replicates and summaries that one output lacks, or that differ.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> folders = [Path(tempfile.mkdtemp()) for _ in range(2)]
    >>> for folder, content in zip(folders, (b"1", b"2")):
    ...     _ = (folder / "summary.parquet").write_bytes(content)
    >>> differing(*folders), differing(folders[0], folders[0])
    (['summary.parquet'], [])
    """
    one, other = _results(first), _results(second)
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))


def _results(output: Path) -> dict[str, bytes]:
    paths = [*(output / "replicates").rglob("*.parquet"), *output.glob("summary.parquet")]
    return {path.relative_to(output).as_posix(): path.read_bytes() for path in paths}
