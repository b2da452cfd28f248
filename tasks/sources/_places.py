"""Where a data file is: a path beside the study file, or an fsspec URL."""

from pathlib import Path


def place(path: str, base: Path) -> str:
    """The path or URL to open; a relative path starts at the study file's folder."""
    return path if "://" in path else str(base / path)


def read_bytes(path: str, base: Path) -> bytes:
    """The content of a data file.

    Raises
    ------
    ValueError
        One line that names it, where it is missing, empty or cannot be read.
    """
    where = place(path, base)
    try:
        if "://" in where:
            import fsspec

            with fsspec.open(where, "rb") as handle:
                content = bytes(handle.read())
        else:
            content = Path(where).read_bytes()
    except FileNotFoundError:
        raise ValueError(f"{where}: there is no such file") from None
    except Exception as error:  # a remote file system may raise anything
        raise ValueError(f"{where}: cannot be read ({type(error).__name__}: {' '.join(str(error).split())})") from None
    if not content.strip():
        raise ValueError(f"{where}: is empty; expected a table")
    return content
