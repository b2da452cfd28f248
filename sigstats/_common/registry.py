"""Objects and modules found by name: of other packages, or in a folder of this package.

Objects of other packages are found by an import path into an allowed package, or by an entry point. Nothing else of a
package is called, and nothing is imported unless the package is allowed. An entry point of an installed package needs
no allowance.

A folder of modules of one kind, such as the commands: its ``__init__`` states what a module must offer, as a
`typing.Protocol`, and makes one `Registry` of it. The name of a module is that of its file, with dashes for
underscores. Packages, and files whose names begin with an underscore, are not members.
"""

import contextlib
import functools
import importlib
import inspect
import pkgutil
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from .messages import one_line, raised, refuse, shown
from .source import source_of, version_of

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


#: Prefix of the name of a module that a run makes of code in its own program; `CONTENT` is the digest of the code.
GIVEN = "sigstats_given_"


@functools.cache
def _points(group: str) -> "Mapping[str, list[EntryPoint]]":
    """Return all entry points of a group by name: several if packages disagree on a name."""
    from importlib import metadata  # a program that starts asks for none

    try:
        offers = list(metadata.entry_points(group=group))
    except Exception:  # one package's file cannot be read: the others still offer what they do
        offers, seen = [], set[str]()
        for distribution in metadata.distributions():
            with contextlib.suppress(Exception):
                name = re.sub(r"[-_.]+", "-", distribution.name or str(len(seen))).lower()
                if name not in seen:  # the first of the path is imported, an older one behind it is not
                    seen.add(name)
                    offers.extend(distribution.entry_points.select(group=group))
    named: dict[str, list[EntryPoint]] = {}
    for point in offers:
        others = named.setdefault(point.name, [])
        if point.value not in {other.value for other in others}:
            others.append(point)
    return {name: points for name, points in named.items() if not {".", ":"} & set(name)}


def entry_points(group: str) -> "Mapping[str, EntryPoint]":
    """Return the entry points of a group by name, except names that read as an import path."""
    return {name: points[0] for name, points in _points(group).items()}


def entry_point(group: str, name: str, what: str) -> "EntryPoint | None":
    """Return the entry point of a name (`what` in messages), or None. Raise ValueError if two packages offer it."""
    points = _points(group).get(name, [])
    if len(points) > 1:
        installed = " and ".join(shown(point.value) for point in points)
        raise refuse(what, name, f"a name that one package offers; installed are {installed}")
    return points[0] if points else None


@dataclass(frozen=True)
class Offered:
    """A kind of object that other packages offer."""

    group: str
    #: Word for it in messages.
    what: str

    def named(self, ready: Iterable[str] = ()) -> tuple[str, ...]:
        """Return the names that installed packages offer, without those of `ready` objects, which take precedence."""
        return tuple(sorted(entry_points(self.group).keys() - set(ready)))

    def _place(self, name: str) -> tuple[str, list[str]]:
        """Return the module of an import path or entry point, and the names in it."""
        points = entry_points(self.group)
        path = points[name].value.partition("[")[0].strip() if name in points else name
        module, colon, inner = path.partition(":")
        if not colon:
            module, _, inner = path.rpartition(".")
        return module, inner.split(".")

    def find(self, name: str, allowed: Sequence[str]) -> Any:
        """Return the object of an import path or entry point, or None if its module lacks it, or raise ValueError."""
        offered = entry_point(self.group, name, self.what)
        module, inner = self._place(name)
        package = module.partition(".")[0]
        if any(not part.isidentifier() or part.startswith("_") for part in [*module.split("."), *inner]):
            raise refuse(self.what, name, "an import path of public names")
        if offered is None and package not in allowed:
            into = f"{' or '.join(allowed)}, or into a package" if allowed else "a package"
            how = f"--allow {package}, or allow=['{package}']"
            raise refuse(self.what, name, f"an import path into {into} that is allowed: {how}")
        importable = f"a {self.what} that can be imported"
        try:
            with contextlib.redirect_stdout(sys.stderr):
                named: Any = importlib.import_module(module)
                for part in inner:
                    named = getattr(named, part, None)
        except KeyboardInterrupt:
            raise
        except ModuleNotFoundError as error:
            where = "" if error.name != package else " here: the folder that holds it belongs to PYTHONPATH"
            raise refuse(self.what, name, f"{importable}; {one_line(error)}{where}") from None
        except BaseException as error:  # a module may do anything
            raise refuse(self.what, name, f"{importable}; {module} raised {raised(error)}") from None
        return named

    def code_of(self, name: str) -> dict[str, str]:
        """Return the identity of the code of an object that was found.

        Its ``package``; the ``version`` of the package, empty if it is not installed as a distribution; and the
        ``source``: SHA-256 of the statements that define it and of those that these name (`sigstats._common.source`).
        If some come from other installed packages, ``with`` gives their versions. Raises ValueError if it has no
        source.
        """
        module, inner = self._place(name)
        package = module.partition(".")[0]
        if package.startswith(GIVEN):
            return {"package": package, "version": "", "source": sys.modules[module].CONTENT}
        try:
            source, versions = source_of(module, inner[0])
        except ValueError:
            raise refuse(self.what, name, "one that is defined in a file, which a worker can import") from None
        code = {"package": package, "version": version_of(package), "source": source}
        others = ", ".join(f"{other} {version}".rstrip() for other, version in versions.items())
        return code | ({"with": others} if others else {})


def code_in_words(code: Mapping[str, str]) -> str:
    """Return the identity of code, in words."""
    version = f" {code['version']}" if code["version"] else ""
    others = f" with {code['with']}" if "with" in code else ""
    return f"{code['package']}{version} (source {code['source'][:10]}){others}"


Member = TypeVar("Member")


class Registry(Generic[Member]):
    """The modules of one folder by name, each imported on first use.

    `package` is the folder's ``__name__``, `protocol` the interface of each module, and `what` the word for a module in
    messages. `group`: the group of entry points by which installed packages offer modules of the kind; the folder's own
    names take precedence.
    """

    def __init__(self, package: str, protocol: type[Member], *, what: str, group: str | None = None) -> None:
        self.package = package
        self.protocol = protocol
        self.what = what
        self.group = group
        self._checked: dict[str, Member] = {}

    @cached_property
    def _files(self) -> dict[str, str]:
        modules = pkgutil.iter_modules(sys.modules[self.package].__path__)
        files = sorted(info.name for info in modules if not info.ispkg and not info.name.startswith("_"))
        return {name.replace("_", "-"): name for name in files}

    def names(self) -> tuple[str, ...]:
        """Return the names of all modules, sorted."""
        offered = () if self.group is None else entry_points(self.group)
        return tuple(sorted({*self._files, *offered}))

    def module(self, name: str) -> Member:
        """Return the module of a name. Raise ValueError if it is unusable, TypeError if it lacks a member."""
        if name not in self.names():
            from .validation import as_choice  # needs NumPy, without which the program shows its help

            as_choice(name, self.what, self.names())
        if name not in self._checked:
            ours = name in self._files
            module: Any  # checked by name here, and by tests
            module = importlib.import_module(f"{self.package}.{self._files[name]}") if ours else self._offered(name)
            lacking = sorted(member for member in _members(self.protocol) if not hasattr(module, member))
            if lacking:
                lacks = f"it has no {', no '.join(lacking)} (see the Protocol {self.protocol.__name__})"
                called = getattr(module, "__name__", name)
                if ours:
                    raise TypeError(f"{called} is not a {self.what}: {lacks}")
                raise refuse(self.what, name, f"one that can be used ({called}: {lacks})")
            self._checked[name] = module
        return self._checked[name]

    def _offered(self, name: str) -> Any:
        point = entry_point(self.group or "", name, self.what)
        assert point is not None  # it is one of `names`
        try:
            return point.load()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a module may do anything
            raise refuse(self.what, name, f"one that can be imported; {point.value} raised {raised(error)}") from None

    def modules(self) -> dict[str, Member]:
        """Return every module by its name, in the order of the names."""
        return {name: self.module(name) for name in self.names()}


def _members(protocol: type) -> set[str]:
    bases = [base for base in protocol.__mro__ if base not in (object, Protocol, Generic)]
    names = {name for base in bases for name in [*vars(base), *inspect.get_annotations(base)]}
    return {name for name in names if not name.startswith("_")}
