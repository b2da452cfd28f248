"""The limit on the unpacked size of a file: half of the free memory, or the value of the environment variable."""

import os
import re
from functools import cached_property
from pathlib import Path

#: The environment variable that sets the limit: a number of bytes, with a unit or without.
VARIABLE = "SIGSTATS_READ_LIMIT"

#: The bytes that are read without checking the available memory.
_SMALL = 2**24

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
_SIZE = re.compile(r"\s*+(\d{1,15}(?:\.\d{1,15})?)\s*+([kmgt]?i?)b?\s*+", re.IGNORECASE | re.ASCII)
_GROUPS = Path("/sys/fs/cgroup")


class Budget:
    """The number of bytes that may still be unpacked and read from the file that messages call `where`."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.spent = 0

    @cached_property
    def limit(self) -> int:
        """The number of bytes that are read at most."""
        text = os.environ.get(VARIABLE)
        if text is None:
            return min(_available(), *_free_in_groups()) // 2
        size = _SIZE.fullmatch(text)
        if size is None or size[2].lower() not in _UNITS:
            raise ValueError(f"{VARIABLE}: {text[:60]!r} is not valid; expected a size such as 500MB or 8GiB")
        return int(float(size[1]) * _UNITS[size[2].lower()])

    @property
    def shown(self) -> str:
        """The limit in words."""
        size = self.limit
        for unit, name in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
            if size >= unit:
                return f"{size / unit:.3g} {name}" if size < 1000 * unit else f"{size // unit:,} {name}"
        return f"{size} bytes"

    def spend(self, count: int) -> None:
        """Count bytes that were read. Raise ValueError if they exceed the limit."""
        self.spent += count
        self.require(self.spent)

    def require(self, size: int) -> None:
        """Refuse a size that is more than the limit."""
        if (size > _SMALL or VARIABLE in os.environ) and size > self.limit:
            problem = f"takes more than {self.shown} of memory once it is unpacked and read"
            raise ValueError(f"{self.where}: {problem}; expected less than this limit ({VARIABLE} sets another)")


def _available() -> int:
    """Return the memory that is available without swapping; if that is unknown, half of all memory."""
    try:
        about = Path("/proc/meminfo").read_text(encoding="ascii")
        return next(int(line.split()[1]) * 1024 for line in about.splitlines() if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2


def _free_in_groups() -> list[int]:
    """Return the memory that is free in every control group that this process is in."""
    try:
        groups = Path("/proc/self/cgroup").read_text(encoding="ascii", errors="replace")
    except OSError:
        return []
    frees = []
    for line in groups.splitlines():
        _, controllers, path = (*line.split(":", 2), "", "")[:3]
        old = "memory" in controllers.split(",")
        root = _GROUPS / "memory" if old else _GROUPS
        names = ("memory.limit_in_bytes", "memory.usage_in_bytes") if old else ("memory.max", "memory.current")
        folder = root / path.lstrip("/")
        for group in (folder, *folder.parents):
            if group.is_relative_to(root) and (free := _free_in_group(group, *names)) is not None:
                frees.append(free)
    return frees


def _free_in_group(group: Path, most: str, used: str) -> int | None:
    """Return the memory that a control group may still take; files in the page cache can be given up."""
    try:
        about = (group / "memory.stat").read_text(encoding="ascii")
        held = dict(line.split(" ", 1) for line in about.splitlines())
        cached = int(held.get("total_inactive_file", held.get("inactive_file", "0")))
        return max(int((group / most).read_text()) - int((group / used).read_text()) + cached, 0)
    except (OSError, ValueError):  # no such group here, or "max"
        return None
