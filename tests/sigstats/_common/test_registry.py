import importlib
import pkgutil
import re
import subprocess
import sys
from typing import Protocol

import pytest

import sigstats
from sigstats._common.registry import Registry


def registries():
    """Every registry of the program, by the package whose folder it is."""
    packages = ["sigstats"]
    found = {}
    for package in packages:
        module = importlib.import_module(package)
        packages.extend(f"{package}.{info.name}" for info in pkgutil.iter_modules(module.__path__) if info.ispkg)
        if isinstance(getattr(module, "REGISTRY", None), Registry):
            found[package] = module.REGISTRY
    return found


REGISTRIES = registries()


class Greeting(Protocol):
    ORDER: int

    @property
    def WORD(self) -> str: ...

    def greet(self, name: str) -> str: ...


@pytest.fixture
def made(tmp_path, monkeypatch):
    """Makes a package of the given files and its registry."""

    def make(**files):
        name = f"greetings_{tmp_path.name}"
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").touch()
        for file, text in files.items():
            (tmp_path / name / f"{file}.py").write_text(text)
        monkeypatch.syspath_prepend(tmp_path)
        importlib.import_module(name)
        return Registry(name, Greeting, what="greeting")

    return make


WHOLE = "ORDER = 1\nWORD = 'hello'\ndef greet(name):\n    return f'hello {name}'\n"


def test_there_is_one_registry_for_each_folder_of_kinds():
    assert set(REGISTRIES) == {
        "sigstats.tasks.datasets.readers",
        "sigstats.files.predictions.readers",
        "sigstats.flows.commands",
    }


def test_no_other_place_looks_into_a_folder():
    root = importlib.resources.files(sigstats)
    looking = {
        path.relative_to(root).as_posix()
        for folder in (root, root / "tasks", root / "flows")
        for path in folder.rglob("*.py")
        if "iter_modules" in path.read_text()
    }
    assert looking == {"_common/registry.py"}


@pytest.mark.parametrize("package", REGISTRIES)
def test_every_module_offers_what_its_folder_promises(package):
    registry = REGISTRIES[package]
    assert registry.package == package
    assert list(registry.modules()) == list(registry.names()) != []


@pytest.mark.types
def test_every_module_is_of_the_types_that_its_folder_promises(tmp_path):
    # mypy takes a module for a Protocol, names, arguments and types, where one is assigned to the other.
    lines = []
    for number, registry in enumerate(REGISTRIES.values()):
        protocol = registry.protocol
        lines.append(f"from {protocol.__module__} import {protocol.__name__} as Protocol{number}")
        for name, module in registry.modules().items():
            alias = re.sub(r"\W", "_", f"module_{number}_{name}")
            lines.append(f"import {module.__name__} as {alias}")
            lines.append(f"_{alias}: Protocol{number} = {alias}")
    lines.append(f"_wrong: Protocol0 = {alias}")
    checked = tmp_path / "kinds.py"
    checked.write_text("\n".join(lines) + "\n")
    ran = subprocess.run([sys.executable, "-m", "mypy", checked], capture_output=True, text=True)
    errors = [line for line in ran.stdout.splitlines() if ": error:" in line]
    assert len(errors) == 1, ran.stdout + ran.stderr
    assert f'variable has type "{next(iter(REGISTRIES.values())).protocol.__name__}"' in errors[0]


def test_modules_are_found_by_their_files_and_imported_when_asked_for(made):
    registry = made(hello=WHOLE, good_day=WHOLE, _private="", broken="raise RuntimeError")
    assert registry.names() == ("broken", "good-day", "hello")
    assert registry.module("good-day").greet("you") == "hello you"
    assert registry.module("good-day") is registry.module("good-day")
    with pytest.raises(RuntimeError):
        registry.module("broken")


def test_a_package_is_no_member(made, tmp_path):
    registry = made(hello=WHOLE)
    inner = tmp_path / registry.package / "inner"
    inner.mkdir()
    (inner / "__init__.py").touch()
    assert registry.names() == ("hello",)


@pytest.mark.parametrize(
    ("text", "lacking"),
    [
        ("", "no ORDER, no WORD, no greet"),
        ("ORDER = 1\nWORD = 'hello'\n", "no greet"),
        (WHOLE.replace("WORD", "WORDS"), "no WORD"),
    ],
)
def test_a_module_that_lacks_something_is_named_in_one_line(made, text, lacking):
    registry = made(hello=WHOLE, hi=text)
    assert registry.module("hello").WORD == "hello"
    expected = f"{registry.package}.hi is not a greeting: it has {lacking} (see the Protocol Greeting)"
    with pytest.raises(TypeError, match=f"^{re.escape(expected)}$"):
        registry.module("hi")
    with pytest.raises(TypeError, match=f"^{re.escape(expected)}$"):
        registry.modules()


@pytest.mark.parametrize("name", ["helo", "good_day", "_private", "", None, 3, ["hello"]])
def test_an_unknown_name_is_refused_in_one_line(made, name):
    registry = made(hello=WHOLE, good_day=WHOLE, _private=WHOLE)
    with pytest.raises(ValueError, match=r"^greeting: .* is not valid; .*expected one of good-day, hello") as error:
        registry.module(name)
    assert "\n" not in str(error.value)
    assert ("did you mean 'hello'?" in str(error.value)) == (name == "helo")
