"""A new test is written into every list that must name it; the lists still have the places that the tool looks for."""

import ast
import shutil
from pathlib import Path

import pytest

from tools import new

ROOT = Path(__file__).parents[1]
LISTS = [
    *("pyproject.toml", "sigstats/__init__.pyi", "sigstats/results.pyi", "docs/reference.md", "docs/seeds.md"),
    *("docs/methods.md", "tools/seed_levels.py", "tests/sigstats/test_public_fuzz.py"),
]


@pytest.fixture
def copy(tmp_path, monkeypatch):
    for file in LISTS:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, tmp_path / file)
    monkeypatch.setattr(new, "ROOT", tmp_path)
    monkeypatch.setattr(new.subprocess, "run", lambda *_, **__: None)
    return tmp_path


def test_a_new_test_is_named_in_every_list(copy, capsys):
    new.write_test("marginal_test")
    for file in LISTS:
        assert "marginal_test" in (copy / file).read_text(encoding="utf-8"), file
    for file in ("sigstats/marginal_test.py", "tests/sigstats/test_marginal_test.py"):
        text = (copy / file).read_text(encoding="utf-8")
        ast.parse(text)
        assert not any(word in text for word in ("NAME", "RESULT", "TITLE")), file
    assert "left to do, of marginal_test" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["Marginal_test", "marginal", "a b_test"])
def test_a_name_that_is_not_that_of_a_test_is_refused(copy, name):
    with pytest.raises(SystemExit, match="expected a new name"):
        new.write_test(name)
    assert not (copy / "sigstats" / f"{name}.py").exists()


@pytest.mark.parametrize("kind", sorted(new.PARTS))
def test_another_part_is_written_with_its_tests_and_entries(copy, kind, capsys):
    part = new.PARTS[kind]
    for file, _, _ in part.entries:
        (copy / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, copy / file)
    before = {path for path in copy.rglob("*") if path.is_file()}
    new.write_part(kind, part.example)
    made = {path for path in copy.rglob("*") if path.is_file()} - before
    assert len(made) == len(part.files)
    assert any(path.name.startswith("test_") for path in made)
    for path in made:
        text = path.read_text(encoding="utf-8")
        assert not any(word in text for word in ("NAME", "UNDER", "TITLE")), path
        if path.suffix == ".py":
            ast.parse(text)
    for file, _, _ in part.entries:
        assert part.example in (copy / file).read_text(encoding="utf-8"), file
    assert capsys.readouterr().out.startswith(f"left to do, of {part.example}:")
    with pytest.raises(SystemExit, match="is taken"):
        new.write_part(kind, part.example)
    for name in ("9 x", "weighted-miss"):  # the weighted average of a measure called miss
        with pytest.raises(SystemExit, match="expected a name"):
            new.write_part(kind, name)
