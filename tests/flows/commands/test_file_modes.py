"""What is written is as open as the umask says, and no more: with 077, readable for its owner alone."""

import os
import stat

import pytest

from ..conftest import as_outputs, study_file

STUDY = """
kind = "benchmark"
datasets = ["iris"]
classifiers = ["1-nn"]
[permutation]
resamples = 19
"""
ROWS = "id,label,prediction\n" + "".join(f"{row},{row % 2},{row % 3 % 2}\n" for row in range(60))


def modes(folder):
    """The modes of all folders and files, the folder itself included."""
    found = [folder, *folder.rglob("*")]
    assert not any(path.is_symlink() for path in found)
    return {str(path.relative_to(folder)): (path.is_dir(), stat.S_IMODE(path.stat().st_mode)) for path in found}


@pytest.fixture
def run(program, tmp_path, monkeypatch):
    """Runs the program in the folder `tmp_path`, with a umask."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments, umask):
        before = os.umask(umask)
        try:
            done = program(*arguments)
        finally:
            os.umask(before)
        assert done.returncode in (0, 1), done.stderr

    return call


@pytest.mark.parametrize("umask", [0o077, 0o002])
def test_outputs_are_as_open_as_the_umask_says(run, tmp_path, umask):
    (tmp_path / "a.csv").write_text(ROWS)
    (tmp_path / "b.csv").write_text(ROWS.replace(",1\n", ",0\n"))
    (tmp_path / "pages").mkdir()
    forms = as_outputs(*(f"pages/c.{form}" for form in ("json", "md", "html", "xml")))
    run("compare", "a.csv", "b.csv", *forms, umask=umask)
    run("rank", "a.csv", "b.csv", "--report", "pages/r.html", "--json", "pages/r.json", umask=umask)
    written = modes(tmp_path / "pages")
    assert len(written) == 7
    study = study_file(tmp_path, STUDY)
    run("run", study, "--cluster", "serial", "--output", "out/put", umask=umask)
    written |= {f"out/{name}": mode for name, mode in modes(tmp_path / "out").items()}
    assert {"out/put/report.html", "out/put/summary.parquet", "out/put/study.json"} <= set(written)
    del written["."]
    expected = {name: (is_folder, (0o777 if is_folder else 0o666) & ~umask) for name, (is_folder, _) in written.items()}
    assert written == expected
