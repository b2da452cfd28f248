"""The built package in a clean environment, beside a project that has a ``tasks.py`` and a ``flows/`` of its own."""

import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from .flows.clusters.stand_ins import stand_ins

REPOSITORY = Path(__file__).parents[1]
#: A module of somebody else's, which notes that it was imported.
THEIRS = "import pathlib\n\npathlib.Path(__file__).with_suffix('.imported').touch()\nOWNER = 'somebody else'\n"
STUDY = """
kind = "benchmark"
datasets = ["iris"]
classifiers = ["ridge"]

[cross_validation]
folds = 3

[permutation]
resamples = 99
"""


def packed():
    """The files of the package in this checkout, as they are called once installed."""
    files = [
        (folder, path)
        for folder in ("sigstats", "tasks", "flows", "configs/studies")
        for path in (REPOSITORY / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    ]
    found = set()
    for folder, path in files:
        inside = path.relative_to(REPOSITORY).as_posix()
        inside = inside.replace("configs/studies/", "ready_studies/")
        found.add(inside if folder == "sigstats" else f"sigstats/{inside}")
    return found


def build(source, target, *kinds):
    chosen = [word for kind in kinds for word in ("--target", kind)]
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", *chosen, "--directory", target], cwd=source, check=True,
        capture_output=True,
    )  # fmt: skip
    return target


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder of the wheel and the source distribution."""
    return build(REPOSITORY, tmp_path_factory.mktemp("dist"), "wheel", "sdist")


def wheel_of(folder):
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def installed(built, tmp_path_factory):
    """A virtual environment of the wheel alone; what it depends on is found where this environment has it."""
    place = tmp_path_factory.mktemp("environment")
    venv.create(place, symlinks=True)
    python = place / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", "--quiet"]
    subprocess.run([*pip, "--disable-pip-version-check", wheel_of(built)], check=True)
    (site,) = place.glob("lib/python*/site-packages")
    # A path alone: the .pth files there, of which one leads to this checkout, are not read.
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return place / "bin"


@pytest.fixture
def project(tmp_path):
    """The other project, which is the working folder and on PYTHONPATH."""
    (tmp_path / "tasks.py").write_text(THEIRS)
    (tmp_path / "flows").mkdir()
    (tmp_path / "flows" / "__init__.py").write_text(THEIRS)
    rows = "".join(f"{row},{row % 2},{row % 2}\n" for row in range(40))
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("id,label,prediction\n" + rows)
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path


def run(program, *arguments, folder, **more):
    environment = {**os.environ, "PYTHONPATH": str(folder), **more}
    return subprocess.run([program, *arguments], cwd=folder, env=environment, capture_output=True, text=True)


@pytest.mark.long
def test_the_wheel_is_one_package_with_every_file(built):
    with zipfile.ZipFile(wheel_of(built)) as wheel:
        entries = {entry.filename: entry for entry in wheel.infolist()}
        (metadata,) = (wheel.read(name).decode() for name in entries if name.endswith(".dist-info/METADATA"))
    names = {name for name in entries if ".dist-info/" not in name}
    assert {name.partition("/")[0] for name in names} == {"sigstats"}
    assert not [name for name, entry in entries.items() if entry.external_attr >> 28 == 0o12], "a link"
    assert names == packed()
    assert "Metadata-Version: 2.4\n" in metadata  # that of the twine in .github/workflows/release.yml
    assert {
        "sigstats/__init__.pyi",
        "sigstats/py.typed",
        "sigstats/tasks/py.typed",
        "sigstats/flows/py.typed",
        "sigstats/flows/pages/templates/report.html.j2",
        "sigstats/flows/pages/templates/report.css",
    } <= names


@pytest.mark.long
def test_the_source_distribution_makes_the_same_wheel(built, tmp_path):
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as source:
        assert not [member.name for member in source if member.issym() or member.islnk()]
        source.extractall(tmp_path, filter="data")
    (unpacked,) = tmp_path.iterdir()
    again = wheel_of(build(unpacked, tmp_path / "dist", "wheel"))
    with zipfile.ZipFile(wheel_of(built)) as first, zipfile.ZipFile(again) as second:
        assert sorted(first.namelist()) == sorted(second.namelist())
        assert all(first.read(name) == second.read(name) for name in first.namelist() if name.startswith("sigstats/"))


@pytest.mark.long
@pytest.mark.parametrize("start", ["script", "module"])
def test_the_program_works_beside_a_project_with_modules_of_the_same_names(installed, project, start):
    program = (installed / "sigstats",) if start == "script" else (installed / "python", "-m", "sigstats")
    compared = run(*program, "compare", "a.csv", "b.csv", folder=project)
    assert (compared.returncode, compared.stderr) == (0, "")
    arguments = ("run", "study.toml", "--quiet", "--cluster", "serial", "--output", "serial")
    assert run(*program, *arguments, folder=project).returncode == 0
    assert (project / "serial" / "report.html").exists()
    assert run(*program, "report", "serial", folder=project).returncode == 0
    assert not list(project.rglob("*.imported"))


@pytest.mark.long
def test_the_ready_studies_come_with_the_package(installed, project):
    listed = run(installed / "sigstats", "studies", folder=project)
    names = [path.stem for path in (REPOSITORY / "configs" / "studies").glob("*.toml")]
    assert sorted(line.split("  ")[0] for line in listed.stdout.splitlines()) == sorted(names)
    ran = run(installed / "sigstats", "run", "ojala-garriga-d1-d2", "--set", "permutation.resamples=19", folder=project)
    assert (ran.returncode, (project / "results" / "ojala-garriga-d1-d2" / "report.html").exists()) == (0, True)


@pytest.mark.long
@pytest.mark.processes
def test_its_workers_do_too(installed, project):
    arguments = ("run", "study.toml", "--quiet", "--cluster", "local", "--workers", "2", "--output", "local")
    done = run(installed / "sigstats", *arguments, folder=project)
    assert done.returncode == 0, done.stderr
    assert (project / "local" / "report.html").exists()
    assert not list(project.rglob("*.imported"))


@pytest.mark.processes
@pytest.mark.faults  # a batch system, though one that is made of two scripts
def test_its_jobs_of_a_batch_system_do_too(installed, project, tmp_path_factory):
    site = tmp_path_factory.mktemp("site")
    path = f"{stand_ins(site)}:{os.environ['PATH']}"
    (project / "pbs.toml").write_text(
        'class = "dask_jobqueue.PBSCluster"\nworkers = 2\ncores = 1\nmemory = "500 MiB"\n'
        f'shared_temp_directory = "{site}"\n'
    )
    arguments = ("run", "study.toml", "--quiet", "--cluster", "pbs.toml", "--output", "jobs")
    done = run(installed / "sigstats", *arguments, folder=project, PATH=path)
    assert done.returncode == 0, done.stderr
    assert len((site / "submitted").read_text().split()) == len((site / "deleted").read_text().split()) == 2
    outputs = [output.read_text() for output in site.glob("output.*")]
    assert ["Traceback" in output for output in outputs] == [False, False]
    assert (project / "jobs" / "report.html").exists()
    assert not list(project.rglob("*.imported"))


@pytest.mark.long
def test_the_other_project_gets_its_own_modules(installed, project):
    code = "import sigstats, tasks, flows; print(tasks.OWNER, flows.OWNER, sigstats.__file__)"
    seen = run(installed / "python", "-c", code, folder=project)
    assert seen.stdout.startswith(f"somebody else somebody else {installed.parent}")
    assert len(list(project.rglob("*.imported"))) == 2
