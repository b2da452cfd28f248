"""Pages in headless Chromium."""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)


@dataclass(frozen=True)
class Opened:
    """A page after its scripts: the document, what the console said, and the hosts that were asked."""

    dom: str
    console: list[str]
    hosts: set[str]


def open_page(
    url: str, folder: Path, *, milliseconds: int = 0, size: tuple[int, int] | None = None, dark: bool = False
) -> Opened:
    """Open a page; `folder` is for the browser's own files, `dark` the scheme that its user prefers."""
    log = folder / "network.json"
    patience = [f"--virtual-time-budget={milliseconds}"] if milliseconds else []
    patience += [f"--window-size={size[0]},{size[1]}"] if size else []
    patience += ["--blink-settings=preferredColorScheme=0"] if dark else []
    done = subprocess.run(
        [
            str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--enable-logging=stderr",
            "--disable-background-networking", "--disable-component-update", "--disable-sync", "--dump-dom", *patience,
            f"--user-data-dir={folder / 'profile'}", f"--log-net-log={log}", url,
        ],
        check=True, capture_output=True, text=True, timeout=240,
    )  # fmt: skip
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    asked = re.findall(r'"url":"(\w+)://([^/"]*)', log.read_text())
    # the browser's own errands apart
    hosts = {host for scheme, host in asked if scheme != "file" and not re.search(r"google|gstatic", host)}
    return Opened(done.stdout, console, hosts)
