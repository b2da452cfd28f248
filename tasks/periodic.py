"""An action that is repeated in a thread of its own while a context lasts."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def periodic(action: Callable[[], None], seconds: float, *, name: str) -> Iterator[None]:
    """Call `action` every so many seconds, in a thread named `name`, until the context ends; it must not raise."""
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
