"""What the import contracts of pyproject.toml cannot say."""

import ast
import functools
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: What the statistics, which compute, leave to the layers above.
ABOVE = {"dask", "distributed", "prefect", "pandas", "pyarrow", "fsspec", "pydantic", "rich", "matplotlib"}
#: The folders of `sigstats` that are not statistics: those that links lead to, and what reads files.
NOT_STATISTICS = {"flows", "tasks", "files"}


def modules():
    """The names of all modules, and their files."""
    found = {}
    for folder in ("sigstats", "tasks", "flows"):
        for path in (ROOT / folder).rglob("*.py"):
            parts = path.relative_to(ROOT).with_suffix("").parts
            parts = parts if folder == "sigstats" else ("sigstats", *parts)
            found[".".join(parts).removesuffix(".__init__")] = path
    return found


MODULES = modules()


@functools.cache
def imported(module):
    """The names of what a module imports, also within its functions."""
    names = []
    path = MODULES[module]
    package = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else []
            of = ".".join([*above, *([node.module] if node.module else [])])
            names += [f"{of}.{each.name}" for each in node.names]
    return names


def test_a_module_with_an_underscore_is_private_to_its_folder():
    wrong = []
    for module in MODULES:
        for name in imported(module):
            parts = name.split(".")
            for place in range(2, len(parts)):  # sigstats._common is everybody's
                private = parts[place].startswith("_") and ".".join(parts[: place + 1]) in MODULES
                if private and not f"{module}.".startswith(f"{'.'.join(parts[:place])}."):
                    wrong.append(f"{module} imports {name}")
    assert not wrong


def test_the_statistics_import_no_engine_and_read_no_files():
    statistics = [name for name in MODULES if name.split(".")[1:2] and name.split(".")[1] not in NOT_STATISTICS]
    wrong = [(name, each) for name in statistics for each in imported(name) if each.partition(".")[0] in ABOVE]
    assert len(statistics) > 100
    assert wrong == [("sigstats._common.drawing", "matplotlib.pyplot")]  # where somebody asks for a picture
