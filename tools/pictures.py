"""The pictures of the README: the first screen of a comparison's report and of the quick start's, by headless Chromium.

python tools/pictures.py [--study FOLDER]
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
WIDTH, HEIGHT = 1200, 760
COLOURS = 96
"""A page has few colours: a palette makes the file a fraction of its size."""


def sigstats(*arguments: str, folder: Path, code: int = 0) -> None:
    """Run a command in the folder; another exit code than the one expected is an error."""
    done = subprocess.run([sys.executable, "-m", "sigstats", *arguments], cwd=folder, check=False)
    if done.returncode != code:
        raise SystemExit(f"sigstats {' '.join(arguments)} ended with exit code {done.returncode}, expected {code}")


def picture(page: Path, to: Path, browser: str) -> None:
    """Write the first screen of a page as PNG, in the light palette."""
    drawn = page.with_suffix(".png")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    options += [f"--user-data-dir={page.parent}/user", f"--window-size={WIDTH},{HEIGHT}", f"--screenshot={drawn}"]
    subprocess.run([browser, *options, page.as_uri()], check=True, capture_output=True)
    with Image.open(drawn) as image:
        image.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(to, optimize=True)
    print(f"{to.relative_to(ROOT)}: {to.stat().st_size:,} bytes")


def main() -> None:
    """Make both reports and their pictures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--study", type=Path, help="a finished output of the quick start (default: run it)")
    options = parser.parse_args()
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        raise SystemExit("needs chromium")
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        subprocess.run([sys.executable, ROOT / "tools" / "example_predictions.py", folder], check=True)
        files = ("baseline.csv", "candidate.csv")
        sigstats("compare", *files, "--slice", "stroke", "--report", "comparison.html", folder=folder, code=1)
        picture(folder / "comparison.html", ROOT / "docs" / "comparison.png", browser)
        if options.study is None:
            sigstats("run", "quickstart", folder=folder)
        report = shutil.copy((options.study or folder / "results" / "quickstart") / "report.html", folder)
        picture(Path(report), ROOT / "docs" / "report.png", browser)


if __name__ == "__main__":
    main()
