"""What Numba compiled is stored where it can be written to, and found where it is read only."""

import importlib.util
import os
import subprocess
import sys
import tempfile

import pytest

pytest.importorskip("numba")


MODULE = """\
from sigstats.learners.compiled.jit import compiled

@compiled
def twice(number):
    return 2 * number
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package whose function was compiled when it was installed, and which is read only since, as is the home."""
    place = tmp_path / "package"
    place.mkdir()
    (place / "doubling.py").write_text(MODULE)
    function = loaded(place)
    assert function(3) == 6
    assert function.stats.cache_path == str(place / "__pycache__")
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/none")
    whole = tempfile.TemporaryFile

    def refused(**options):
        if str(options["dir"]).startswith(str(place)):
            raise PermissionError(13, "Permission denied", str(options["dir"]))
        return whole(**options)

    monkeypatch.setattr(tempfile, "TemporaryFile", refused)  # by which Numba tries whether a folder can be written to
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    return place


def loaded(place):
    """The function, as a process of its own would import it."""
    spec = importlib.util.spec_from_file_location("doubling", place / "doubling.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.twice


def hits(function):
    """Whether the function was found compiled for a whole number."""
    assert function(3) == 6
    return (sum(function.stats.cache_hits.values()), sum(function.stats.cache_misses.values()))


def test_a_folder_that_is_read_only_need_not_be_compiled_again(package, tmp_path):
    function = loaded(package)
    (folder,) = (tmp_path / "tmp").iterdir()
    assert function.stats.cache_path.startswith(str(folder))
    assert folder.stat().st_mode & 0o777 == 0o700
    assert hits(function) == (1, 0)
    assert function(0.5) == 1.0  # what is compiled later is stored there too
    assert hits(loaded(package)) == (1, 0)
    again = loaded(package)
    assert again(0.5) == 1.0
    assert sum(again.stats.cache_hits.values()) == 1


def test_numbas_own_variable_is_followed(package, tmp_path, monkeypatch):
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path / "given"))
    function = loaded(package)
    assert function.stats.cache_path.startswith(str(tmp_path / "given"))
    assert hits(function) == (1, 0)


def test_a_folder_of_others_is_not_used(package, tmp_path):
    folder = tmp_path / "tmp" / f"sigstats-numba-{os.getuid()}"
    folder.mkdir()
    folder.chmod(0o777)
    function = loaded(package)
    assert hits(function)[0] == 0
    assert list(folder.iterdir()) == []


def test_a_newer_source_is_compiled_anew(package, tmp_path):
    (package / "doubling.py").write_text("# longer\n" + MODULE.replace("2 * number", "number + number"))
    assert hits(loaded(package)) == (0, 1)


@pytest.mark.long
def test_a_newer_source_of_what_is_called_is_compiled_anew(tmp_path):
    """Numba itself looks at the file of the caller alone, and went on with what the called function was."""
    (tmp_path / "halves.py").write_text(MODULE.replace("twice", "once").replace("2 * number", "number"))
    (tmp_path / "doubling.py").write_text(
        "import sys\n"
        f"sys.path.insert(0, {str(tmp_path)!r})\n"
        "from halves import once\n" + MODULE.replace("2 * number", "2 * once(number)")
    )
    code = "from doubling import twice; print(twice(3))"

    def doubled():
        return subprocess.run(
            [sys.executable, "-B", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
        ).stdout

    assert doubled() == doubled() == "6\n"
    (tmp_path / "halves.py").write_text(MODULE.replace("twice", "once").replace("2 * number", "10 * number"))
    assert doubled() == "60\n"
