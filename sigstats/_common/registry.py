"""A folder of which every module is one of a kind: adding one is adding a file.

The folder's ``__init__`` states what a module must offer, as a `typing.Protocol`, and makes one `Registry` of it. The
name of a module is that of its file, with dashes for underscores. Packages, and files whose names begin with an
underscore, are no members.
"""

import importlib
import inspect
import pkgutil
import sys
from functools import cached_property
from typing import Any, Generic, Protocol, TypeVar

from .messages import one_line, refuse
from .offered import entry_point, entry_points

Member = TypeVar("Member")


class Registry(Generic[Member]):
    """The modules of one folder, by name; each is imported when it is asked for.

    `package` is the folder's ``__name__``, `protocol` what each module implements, and `what` what one is called in
    messages. `optional`: protocols, checkable at run time, of what a module may offer besides. `group`: the group of
    entry points by which installed packages offer modules of the kind; the folder's own names win.
    """

    def __init__(
        self,
        package: str,
        protocol: type[Member],
        *,
        what: str,
        optional: tuple[type, ...] = (),
        group: str | None = None,
    ) -> None:
        self.package = package
        self.protocol = protocol
        self.what = what
        self.optional = optional
        self.group = group
        self._checked: dict[str, Member] = {}

    @cached_property
    def _files(self) -> dict[str, str]:
        found = pkgutil.iter_modules(sys.modules[self.package].__path__)
        files = sorted(info.name for info in found if not info.ispkg and not info.name.startswith("_"))
        return {name.replace("_", "-"): name for name in files}

    def names(self) -> tuple[str, ...]:
        """The names of all modules, sorted."""
        offered = () if self.group is None else entry_points(self.group)
        return tuple(sorted({*self._files, *offered}))

    def module(self, name: str) -> Member:
        """The module of a name.

        Raises ValueError if there is none, with the nearest name that there is, or that of another package cannot be
        used. Raises TypeError if the module lacks something of the Protocol.
        """
        if name not in self.names():
            from .validation import as_choice  # needs NumPy, without which the program shows its help

            as_choice(name, self.what, self.names())
        if name not in self._checked:
            own = name in self._files
            module: Any  # checked by name here, and by tests
            module = importlib.import_module(f"{self.package}.{self._files[name]}") if own else self._offered(name)
            lacking = sorted(member for member in _members(self.protocol) if not hasattr(module, member))
            if lacking:
                lacks = f"it has no {', no '.join(lacking)} (see the Protocol {self.protocol.__name__})"
                called = getattr(module, "__name__", name)
                if own:
                    raise TypeError(f"{called} is not a {self.what}: {lacks}")
                raise refuse(self.what, name, f"one that can be used; of {called}: {lacks}")
            self._checked[name] = module
        return self._checked[name]

    def _offered(self, name: str) -> Any:
        """The module that an installed package offers by this name."""
        point = entry_point(self.group or "", name, self.what)
        assert point is not None  # it is one of `names`
        try:
            return point.load()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a module may do anything
            raised = f"{type(error).__name__}: {one_line(error)}"
            raise refuse(self.what, name, f"one that can be imported; {point.value} raised {raised}") from None

    def modules(self) -> dict[str, Member]:
        """Every module by its name, in the order of the names."""
        return {name: self.module(name) for name in self.names()}


def _members(protocol: type) -> set[str]:
    """The names that a Protocol asks for."""
    bases = [base for base in protocol.__mro__ if base not in (object, Protocol, Generic)]
    found = {name for base in bases for name in [*vars(base), *inspect.get_annotations(base)]}
    return {name for name in found if not name.startswith("_")}
