"""Text that is not UTF-8: what its byte order mark says."""

import codecs
from collections.abc import Iterable, Iterator

_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16, whose mark it begins with
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
    codecs.BOM_UTF8: "utf-8-sig",
}


def marked_encoding(start: bytes) -> str | None:
    """The encoding that a byte order mark tells; None if there is no mark."""
    return next((name for mark, name in _MARKS.items() if start.startswith(mark)), None)


def in_utf8(pieces: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """Text in UTF-8, without its mark.

    Raises
    ------
    ValueError
        The bytes are no text in `encoding`; the message says so.
    """
    if encoding == "utf-8-sig":  # what follows the mark is checked where it is read
        for number, piece in enumerate(pieces):
            yield piece[len(codecs.BOM_UTF8) :] if number == 0 else piece
        return
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        for piece in pieces:
            yield decoder.decode(piece).encode()
        yield decoder.decode(b"", final=True).encode()
    except UnicodeError:
        raise ValueError(f"is no text in {encoding.upper()}, as its byte order mark says") from None
