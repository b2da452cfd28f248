"""Build the package, install it in clean environments with each of its extras, and use what was installed.

python tools/try_extras.py [--python 3.11 ...] [--extra NAME ...] [--lowest]

Without options: on every supported Python the wheel without extras and with each one, and the source distribution; with
`--lowest` the oldest versions that pyproject.toml allows, in place of the newest. It prints a row for each environment,
and ends with 1 if anything in one failed. It needs uv, the Pythons, and the environment of this repository
(`make setup`), of which it takes the object store and the batch system of the tests.
"""

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = ("none", *PROJECT["optional-dependencies"])
PYTHONS = tuple(each.rpartition(" ")[2] for each in PROJECT["classifiers"] if "Python :: 3." in each)

sys.path.insert(0, str(ROOT))

STUDY = """
kind = "benchmark"
datasets = ["iris"]
classifiers = ["ridge", "decision-tree"]
cross_validation = { folds = 3 }
permutation = { resamples = 49 }
"""
RUN = ("run", "study.toml", "--quiet", "--cluster")
CLUSTERS = {
    "jobqueue": 'class = "dask_jobqueue.PBSCluster"\nworkers = 1\ncores = 1\nmemory = "1 GiB"\n'
    'shared_temp_directory = "{folder}"\n',
    "kubernetes": 'class = "dask_kubernetes.operator.KubeCluster"\nworkers = 1\n'
    'image = "registry.example.org/sigstats"\n',
}
STEM = 'from sigstats.learners.ready import StemmedWords\nprint(StemmedWords("english")("selling corn"))'


class Failed(Exception):
    """What an environment did not do, in a line."""


@dataclass(frozen=True)
class Place:
    """An environment and the folder in which it is used."""

    programs: Path
    folder: Path

    def expect(self, code: int, said: str, program: str, *arguments: str, **environment: str) -> None:
        """Run a program; it is to end with `code` and to say `said`."""
        # No variable that leads to another Python's modules, and none of a server that this user has.
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "PREFECT_"))}
        done = subprocess.run(
            [self.programs / program, *arguments],
            cwd=self.folder, env={**kept, **environment}, capture_output=True, text=True, timeout=3600, check=False,
        )  # fmt: skip
        if done.returncode != code or said not in done.stdout + done.stderr:
            last = (done.stderr.strip() or done.stdout.strip() or "nothing").splitlines()[-1]
            expected = f"{code} and {said!r}" if said else str(code)
            raise Failed(f"{program} {' '.join(arguments)}: ended with {done.returncode}, expected {expected}: {last}")


def base(place: Place) -> None:
    """What works in every environment."""
    place.expect(0, f"sigstats {PROJECT['version']}\n", "sigstats", "--version")
    place.expect(0, "", "sigstats", "compare", "a.csv", "b.csv", "--report", "comparison.html")
    place.expect(0, "", "sigstats", "verify")
    if not (place.folder / "comparison.html").is_file():
        raise Failed("comparison.html was not written")


def light(place: Place) -> None:
    """Comparisons need no extra; what runs studies names the one that is absent."""
    place.expect(0, "", "sigstats", "rank", "a.csv", "b.csv", "--power", "0.8")
    place.expect(0, "bytes: not checked: ", "sigstats", "verify")
    place.expect(2, "sigstats[studies]", "sigstats", "run", "quickstart")
    place.expect(2, "sigstats[fast]", "sigstats", "warm-up")


def studies(place: Place) -> None:
    """Dask and Prefect run a study; each other extra that is absent is named by what needs it."""
    place.expect(0, "", "sigstats", *RUN, "serial", "--output", "serial")
    place.expect(0, "", "sigstats", *RUN, "local", "--workers", "1", "--output", "local")
    same = [(place.folder / folder / "summary.parquet").read_bytes() for folder in ("serial", "local")]
    if same[0] != same[1]:
        raise Failed("summary.parquet differs between a plain loop and a local worker")
    place.expect(2, "sigstats[fast]", "sigstats", "warm-up")
    place.expect(2, "sigstats[s3]", "sigstats", "run", "study.toml", "--output", "s3://bucket/study")
    for extra, text in CLUSTERS.items():
        (place.folder / f"{extra}.toml").write_text(text.format(folder=place.folder))
        place.expect(2, f"sigstats[{extra}]", "sigstats", "run", "study.toml", "--cluster", f"{extra}.toml")
    place.expect(1, "sigstats[stem]", "python", "-c", STEM)


def fast(place: Place) -> None:
    """Numba compiles what studies use."""
    place.expect(0, "compiled in", "sigstats", "warm-up")


def s3(place: Place) -> None:
    """A study on an object store, which is read again."""
    from tests.object_store import object_store

    with object_store("studies") as environment:
        for command in (("run", "study.toml", "--cluster", "serial", "--output"), ("report",)):
            place.expect(0, "", "sigstats", *command, "s3://studies/tiny", **environment)


def jobqueue(place: Place) -> None:
    """A job of a batch system, whose commands stand in for PBS."""
    from tests.flows.clusters.stand_ins import stand_ins

    (place.folder / "pbs.toml").write_text(CLUSTERS["jobqueue"].format(folder=place.folder))
    path = f"{stand_ins(place.folder)}:/usr/bin:/bin"
    place.expect(0, "", "sigstats", *RUN, "pbs.toml", "--output", "jobs", PATH=path)
    if not (place.folder / "submitted").read_text().split():
        raise Failed("no job was submitted")


def kubernetes(place: Place) -> None:
    """The client is there; without a cluster to speak to it says so."""
    (place.folder / "pods.toml").write_text(CLUSTERS["kubernetes"])
    place.expect(2, "KubeCluster", "sigstats", *RUN, "pods.toml", KUBECONFIG=str(place.folder / "absent"))


def stem(place: Place) -> None:
    """Words by their stems."""
    place.expect(0, "['sell', 'corn']", "python", "-c", STEM)


ONE_BY_ONE: dict[str, Callable[[Place], None]] = {
    "fast": fast, "s3": s3, "jobqueue": jobqueue, "kubernetes": kubernetes, "stem": stem,
}  # fmt: skip


def together(place: Place) -> None:
    """What each extra is for, in one environment."""
    for use in ONE_BY_ONE.values():
        use(place)


USES = {"none": light, "studies": studies, **ONE_BY_ONE, "all": together}


def build(target: Path) -> dict[str, Path]:
    """The source distribution, and the wheel that is built from it."""
    uv("build", "--out-dir", str(target), str(ROOT))
    return {"wheel": next(target.glob("*.whl")), "sdist": next(target.glob("*.tar.gz"))}


def uv(*arguments: str) -> str:
    """Run uv; ``Failed`` with its last line if it fails."""
    done = subprocess.run(["uv", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failed(f"uv {arguments[0]}: {' '.join(done.stderr.split())[-300:]}")
    return done.stdout


@contextlib.contextmanager
def installed(package: Path, extra: str, version: str, *, lowest: bool) -> Iterator[Place]:
    """An environment of the package with an extra, and a folder with a study and two files of predictions."""
    with tempfile.TemporaryDirectory(prefix="sigstats-extras-") as name:
        environment, folder = Path(name, "environment"), Path(name, "work")
        uv("venv", "--quiet", "--python", version, str(environment))
        python = str(environment / "bin" / "python")
        install = ("pip", "install", "--quiet", "--python", python)
        # Numba and the stemmer serve studies.
        wanted = "" if extra == "none" else "studies" if extra == "studies" else f"studies,{extra}"
        if lowest:  # what pyproject.toml names, not what a wheel asks for, is direct
            more = [part for name in filter(None, wanted.split(",")) for part in ("--extra", name)]
            uv(*install, "--resolution", "lowest-direct", "--requirements", str(ROOT / "pyproject.toml"), *more)
            uv(*install, "--no-deps", str(package))
        else:
            uv(*install, f"sigstats{f'[{wanted}]' if wanted else ''} @ {package.as_uri()}")
        uv("pip", "check", "--quiet", "--python", python)
        folder.mkdir()
        (folder / "study.toml").write_text(STUDY)
        for file, period in (("a.csv", 3), ("b.csv", 2)):  # the candidate is always right
            rows = "".join(f"{row},{row % 2},{row % period % 2}\n" for row in range(60))
            (folder / file).write_text(f"id,label,prediction\n{rows}")
        yield Place(environment / "bin", folder)


def tried(package: Path, extra: str, version: str, *, lowest: bool) -> str:
    """What an environment did: empty, or what failed."""
    try:
        with installed(package, extra, version, lowest=lowest) as place:
            base(place)
            USES[extra](place)
    except Failed as failed:
        return str(failed)
    return ""


def main(arguments: list[str] | None = None) -> int:
    """Try what was asked for; the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--python", nargs="+", default=PYTHONS, metavar="VERSION", help=f"default: {' '.join(PYTHONS)}")
    parser.add_argument("--extra", nargs="+", choices=EXTRAS, help="these alone, from the wheel")
    parser.add_argument("--lowest", action="store_true", help="the oldest versions that pyproject.toml allows")
    options = parser.parse_args(arguments)
    if shutil.which("uv") is None:
        parser.error("uv is not on the PATH")
    cases = [("wheel", extra) for extra in options.extra or EXTRAS]
    cases += [] if options.extra else [("sdist", "none")]
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="sigstats-dist-") as name:
        packages = build(Path(name))
        print("| Python | from | extra | seconds | result |\n|---|---|---|---|---|", flush=True)
        for version in options.python:
            for kind, extra in cases:
                began = time.monotonic()
                problem = tried(packages[kind], extra, version, lowest=options.lowest)
                wrong += bool(problem)
                took = f"{time.monotonic() - began:.0f}"
                print(f"| {version} | {kind} | {extra} | {took} | {problem or 'works'} |", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
