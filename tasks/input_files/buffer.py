"""Bytes that arrive in pieces and become one object, without a second copy of them in memory."""

import io
import mmap

#: Above 32 MiB, glibc's largest threshold, an allocation has pages of its own and grows by moving them, uncopied.
_BLOCK = 40 * 2**20


class Buffer:
    """Bytes in the order in which they arrive.

    What is enlarged piece by piece is copied whenever the heap has no room behind it, and holds its bytes twice then.
    Here they lie in blocks of pages of their own, each of which is freed once it is joined.

    Examples
    --------
    >>> from sigstats.tasks.input_files.buffer import Buffer
    >>> held = Buffer()
    >>> held.add(b"id,")
    >>> held.add(b"label")
    >>> held.joined()
    b'id,label'
    """

    def __init__(self) -> None:
        self._blocks: list[mmap.mmap] = []

    def add(self, piece: bytes) -> None:
        """Append bytes."""
        start = 0
        while start < len(piece):
            if not self._blocks or self._blocks[-1].tell() == _BLOCK:
                self._blocks.append(mmap.mmap(-1, _BLOCK))
            block = self._blocks[-1]
            start += block.write(piece[start : start + _BLOCK - block.tell()])

    def joined(self) -> bytes:
        """All bytes; the buffer is empty then."""
        whole = io.BytesIO()
        for block in self._blocks:
            with block, memoryview(block) as content, content[: block.tell()] as used:
                whole.write(used)
        self._blocks = []
        return whole.getvalue()
