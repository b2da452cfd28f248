"""The identity of an object by its source: its own statements, and the statements of its package that they name.

A name is followed to the statements of its module that bind it. Imports are followed into modules of the same package,
and into modules that no installed distribution owns. For installed distributions the version counts. Objects made at
run time, such as attributes set by `setattr`, are not followed.
"""

import ast
import hashlib
import importlib.util
import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import metadata
from pathlib import Path

#: Where a name comes from: a module, and a name in the module (empty for the module as a whole).
_Place = tuple[str, str]

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
#: Packages whose version is not part of a classifier's identity.
COMMON = frozenset(sys.stdlib_module_names) | {"numpy", "scipy", "sklearn", "sigstats"}


@dataclass(frozen=True)
class _Module:
    """The top-level statements of a module by the names that they bind."""

    statements: dict[str, list[tuple[ast.stmt, str]]] = field(default_factory=dict)
    imports: dict[str, _Place] = field(default_factory=dict)


def source_of(module: str, name: str) -> tuple[str, dict[str, str]]:
    """Return the SHA-256 of the source of an object, and the versions of the other packages that it uses.

    Raises ValueError if a module has no source.
    """
    owners = _owners(tuple(sys.path))
    home = module.partition(".")[0]
    texts, versions = set[tuple[str, str]](), dict[str, str]()
    todo, seen = [(module, name)], set[_Place]()
    while todo:
        place = origin, bound = todo.pop()
        if place in seen:
            continue
        seen.add(place)
        package = origin.partition(".")[0]
        if package in COMMON:
            continue
        if package != home and package in owners:
            versions[package] = version_of(package, owners)
            continue
        content = _content(origin)
        if content is None:
            if place == (module, name):
                raise ValueError(f"{origin} has no source")
            continue
        parsed = _parsed(origin, content)
        if bound in parsed.imports:
            todo.append(parsed.imports[bound])
        elif bound in parsed.statements:
            for statement, text in parsed.statements[bound]:
                texts.add((bound, text))
                todo.extend(_used(origin, statement, parsed))
        elif bound and _content(f"{origin}.{bound}") is not None:  # a module of the package
            todo.append((f"{origin}.{bound}", ""))
        else:  # the module itself, or a name that only the running module knows
            texts.add((origin.rpartition(".")[2], content))
            todo.extend(parsed.imports.values())
    digest = hashlib.sha256("\0".join(part for text in sorted(texts) for part in text).encode())
    return digest.hexdigest(), dict(sorted(versions.items()))


def version_of(package: str, owners: Mapping[str, Collection[str]] | None = None) -> str:
    """Return the version of a package. For a namespace that distributions share, return all their versions."""
    names = sorted(set((owners or _owners(tuple(sys.path))).get(package, [])))
    if len(names) > 1:
        return ", ".join(f"{name} {metadata.version(name)}" for name in names)
    return metadata.version(names[0]) if names else str(getattr(sys.modules.get(package), "__version__", ""))


@lru_cache(maxsize=8)
def _owners(path: tuple[str, ...]) -> Mapping[str, list[str]]:  # noqa: ARG001 - the path decides
    """Return the distributions of each package. They are listed once for all data sets and classifiers of a plan."""
    return metadata.packages_distributions()


def names_in(node: ast.AST) -> set[str]:
    """Return all names in a piece of code."""
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}


def _content(module: str) -> str | None:
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None:
        try:
            file = getattr(importlib.util.find_spec(module), "origin", None)
        except (ImportError, ValueError):
            return None
    return Path(file).read_text(encoding="utf-8") if file is not None and file.endswith(".py") else None


@lru_cache(maxsize=256)
def _parsed(module: str, content: str) -> _Module:
    parsed = _Module()
    for statement in ast.parse(content).body:
        text = ast.get_source_segment(content, statement) or ""
        if isinstance(statement, _DEFINITIONS):
            bound = {statement.name}
            text = "\n".join([*(ast.unparse(one) for one in statement.decorator_list), text])
        elif isinstance(statement, ast.Expr):
            bound = set() if isinstance(statement.value, ast.Constant) else names_in(statement)
        else:
            bound = _bound(statement)
            parsed.imports.update(_imported(module, statement))
        for name in bound - parsed.imports.keys():
            parsed.statements.setdefault(name, []).append((statement, text))
    return parsed


def _bound(statement: ast.stmt) -> set[str]:
    """Return the names that a statement assigns to, also by attribute or item, or defines in a block."""
    names = set[str]()
    for node in ast.walk(statement):
        if isinstance(getattr(node, "ctx", None), ast.Store):
            names |= names_in(node)
        elif isinstance(node, _DEFINITIONS):
            names.add(node.name)
    return names


def _imported(module: str, node: ast.AST) -> Iterator[tuple[str, _Place]]:
    """Yield the names that imports in a piece of code bind, each with the place that it comes from."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Import):
            for alias in inner.names:
                yield alias.asname or alias.name.partition(".")[0], (alias.name, "")
        elif isinstance(inner, ast.ImportFrom):
            source = inner.module or ""
            if inner.level:
                spec = importlib.util.find_spec(module)
                source = importlib.util.resolve_name("." * inner.level + source, spec.parent if spec else None)
            for alias in inner.names:
                yield alias.asname or alias.name, (source, "" if alias.name == "*" else alias.name)


def _used(module: str, statement: ast.stmt, parsed: _Module) -> Iterator[_Place]:
    """Yield the place of each name that a statement uses or imports."""
    yield from dict(_imported(module, statement)).values()
    for name in names_in(statement):
        if name in parsed.imports:
            yield parsed.imports[name]
        elif name in parsed.statements:
            yield module, name
        elif "*" in parsed.imports:
            yield parsed.imports["*"]
