"""The test of a row of a result: its name for people, and its properties for the program."""

from typing import Literal, Self, TypeAlias

#: The tests of single rows and of runs, and those with a unit that was not seen; "infinite" stands for an infinite
#: loss, so that nothing can be tested.
Kind: TypeAlias = Literal[
    "none", "mcnemar", "binomial", "runs", "unseen", "exchange", "betting", "judged", "unpaired", "gap", "infinite"
]


class RowTest(str):
    """The name of a test, empty if nothing was tested.

    Examples
    --------
    >>> test = RowTest("unseen row beside 60 rows", "unseen")
    >>> test.without_limits(), test.without_limits().limited
    ('unseen row beside 60 rows, without limits', False)
    """

    __slots__ = ("kind", "like_seen", "limited")

    kind: Kind
    #: True if the limits of a row are known, so that one that was not seen cannot differ by any amount.
    limited: bool
    #: True if a group that was not seen is taken to be like those seen.
    like_seen: bool

    def __new__(cls, name: str = "", kind: Kind = "none", limited: bool = True, like_seen: bool = False) -> Self:  # noqa: D102
        test = super().__new__(cls, name)
        test.kind, test.limited, test.like_seen = kind, limited, like_seen
        return test

    def __getnewargs__(self) -> tuple[str, Kind, bool, bool]:  # type: ignore[override]  # those of `__new__`
        return str(self), self.kind, self.limited, self.like_seen

    def named(self, name: str) -> "RowTest":
        """The same test with more in its name."""
        return RowTest(name, self.kind, self.limited, self.like_seen)

    def without_limits(self) -> "RowTest":
        """The same if no limits of a row are known."""
        return RowTest(f"{self}, without limits", self.kind, limited=False, like_seen=self.like_seen)

    def after(self, other: str) -> "RowTest":
        """The same after another test, if there is one, which may have a larger p-value."""
        return RowTest(f"{other}; {self}", "exchange", self.limited, self.like_seen) if other else self


#: The test of a row that is not tested.
NO_TEST = RowTest()
