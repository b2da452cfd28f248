"""The code of this package in a process, and blocks that only a process with the same code computes."""

import hashlib
import importlib.metadata
import os
import time
from collections.abc import Set
from functools import cache
from pathlib import Path
from typing import Any

import sigstats

from .guarded import run_guarded

#: Seconds for which a worker with other code keeps a block that it gives back: others take the blocks meanwhile.
_GIVEN_BACK = 1.0

#: Folders of the package whose code computes no block, and endings of the files that are code.
_NOT_COMPUTING = {"flows", "ready_studies", "__pycache__"}
_CODE = (".py", ".j2", ".css", ".js")


@cache
def version() -> str:
    """The installed version of this package and a digest of the code that computes blocks: "0.1.0, code 5ad5a8"."""
    try:
        number = importlib.metadata.version("sigstats")
    except importlib.metadata.PackageNotFoundError:
        number = "without a version"
    return f"{number}, code {_digest(Path(sigstats.__path__[0]), _NOT_COMPUTING)[:12]}"


@cache
def all_code() -> str:
    """A digest of the code of this package, that of reports included."""
    return _digest(Path(sigstats.__path__[0]), {"__pycache__"})


def _digest(root: Path, without: Set[str]) -> str:
    found = hashlib.sha256()
    for folder, folders, files in os.walk(root, followlinks=True):
        folders[:] = sorted(set(folders) - without)
        for name in sorted(file for file in files if file.endswith(_CODE)):
            path = Path(folder, name)
            content = path.read_bytes()
            found.update(f"{path.relative_to(root).as_posix()}:{len(content)}:".encode() + content)
    return found.hexdigest()


class OtherCode(Exception):
    """A block came to a worker whose code is another than that of the run."""


def run_with(code: str, *arguments: Any, **options: Any) -> Any:
    """`run_guarded`, on a worker whose `version` is `code`; another one gives the block back with `OtherCode`."""
    if code != version():
        time.sleep(_GIVEN_BACK)
        raise OtherCode(version())
    return run_guarded(*arguments, **options)
