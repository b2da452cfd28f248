"""Something done over and over while something else lasts."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def repeated(action: Callable[[], None], seconds: float, *, name: str) -> Iterator[None]:
    """Call `action` every so many seconds, in a thread of that name, until the context ends; it must not raise."""
    ended = threading.Event()

    def work() -> None:
        while not ended.wait(seconds):
            action()

    thread = threading.Thread(target=work, name=name, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
