"""A note on a result: a text for people that has a short stable name for programs."""

from collections.abc import Iterable
from typing import Self


class Note(str):
    """The text of a note, with a name such as ``"dropped-rows"`` that stays the same when the text is reworded.

    Examples
    --------
    >>> note = Note("duplicates", "3 of 60 rows equal others")
    >>> note, note.name
    ('3 of 60 rows equal others', 'duplicates')
    """

    __slots__ = ("name",)

    #: Words in small letters, joined by hyphens.
    name: str

    def __new__(cls, name: str, text: str) -> Self:
        note = super().__new__(cls, text)
        note.name = name
        return note

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]  # those of `__new__`
        return self.name, str(self)

    def of(self, subject: str) -> "Note":
        """The note with the file or task that it is about in front."""
        return Note(self.name, f"{subject}: {self}")


def notes_as_objects(notes: Iterable[Note]) -> list[dict[str, str]]:
    """Notes in JSON."""
    return [{"name": note.name, "text": str(note)} for note in notes]
