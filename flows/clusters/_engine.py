"""Settings of Dask for the schedulers and workers of a run, and certificates for each connection."""

import datetime
import logging
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import wraps
from typing import Any, TypeVar

from sigstats.tasks.engine.pools import Pool
from sigstats.tasks.plan import Needs

K = TypeVar("K")
#: A worker gets its next block only after it has finished one, so that its death is attributed to the right block.
ONE_BLOCK_EACH = {"distributed.scheduler.worker-saturation": 1.0}
#: For its dashboard Dask samples each task a hundred times a second, and the delay of each loop fifty times. In an idle
#: cluster that took 2% of a worker's core and 3% of the scheduler's.
LESS_SAMPLING = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "2s",
}
#: By default a worker at four fifths of its memory pauses until memory is freed, but only its next block frees memory.
#: A worker that reaches the limit is replaced by its nanny.
NEVER_PAUSED = {"distributed.worker.memory.pause": False}
#: The loggers that are silenced while a pool is open; the variable that silences those of its workers, and its value.
_LOGGERS = (
    "distributed",
    "distributed.client",
    "distributed.nanny",
    "distributed.scheduler",
    "distributed.worker",
    "tornado.application",  # a worker that died while it started
    "asyncio",  # a job that could not be submitted
)
_WORKER_LEVEL, _SILENT = "DASK_LOGGING__DISTRIBUTED", "critical"


def settings() -> dict[str, Any]:
    """The settings for `dask.config.set`; the user's own configuration of Dask wins, except over `ONE_BLOCK_EACH`."""
    import dask
    import distributed  # noqa: F401  (its defaults)

    written, default = dask.config.collect(), dask.config.merge(*dask.config.defaults)

    def untouched(key: str, value: Any) -> bool:
        unwritten = dask.config.get(key, None, config=written) is None
        return unwritten and dask.config.get(key, None) in (dask.config.get(key, None, config=default), value)

    return ONE_BLOCK_EACH | {
        key: value for key, value in (LESS_SAMPLING | NEVER_PAUSED).items() if untouched(key, value)
    }


def environment() -> dict[str, str]:
    """The `settings` as environment variables, for processes that are started elsewhere."""
    return {f"DASK_{key.upper().replace('.', '__').replace('-', '_')}": str(value) for key, value in settings().items()}


_LOCK = threading.Lock()
#: For each open pool, the function that restores the levels and variables from before the first; used under `_LOCK`.
_restorers: list[Callable[[], None]] = []


def quietly(open_pool: Callable[[K, Sequence[Needs]], AbstractContextManager[Pool]]) -> Callable[..., Any]:
    """Let `open_pool` silence Dask's own log while a pool is open.

    A lost worker is replaced, and the run itself reports a lost block.
    """

    @contextmanager
    @wraps(open_pool)
    def opened(cluster: K, needs: Sequence[Needs] = ()) -> Iterator[Pool]:
        with _LOCK:
            _restorers.append(_restorers[0] if _restorers else _silence())
        try:
            with open_pool(cluster, needs) as pool:
                yield pool
        finally:
            with _LOCK:
                restore = _restorers.pop()
                if not _restorers:
                    restore()

    return opened


def _silence() -> Callable[[], None]:
    """Silence Dask's log, and return the function that restores it."""
    import dask
    import distributed  # noqa: F401  (sets the levels of its own log)

    before = {logging.getLogger(name): logging.getLogger(name).level for name in _LOGGERS}
    # A nanny sets variables of its worker in this process: those of the configuration and two others.
    of_nannies = dask.config.get("distributed.nanny.pre-spawn-environ") or ()
    names = (_WORKER_LEVEL, *of_nannies, "PYTHONHASHSEED", "__DASK_PARENT_PID")
    variables = {name: os.environ.get(name) for name in names}
    os.environ.setdefault(_WORKER_LEVEL, _SILENT)
    for logger in before:
        # If memory is short, Dask logs a message that it could not write as a critical error.
        logger.setLevel(logging.CRITICAL + 1)

    def restore() -> None:
        for variable, value in variables.items():
            os.environ.pop(variable, None)
            os.environ.update({} if value is None else {variable: value})
        for logger, level in before.items():
            logger.setLevel(level)

    return restore


#: A certificate is for one run, which deletes it; it never expires, so that the clocks of machines do not matter.
_FIRST = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_LAST = datetime.datetime(9999, 12, 31, 23, 59, 59, tzinfo=datetime.UTC)


def certificates() -> Any:
    """New certificates for scheduler, workers and client (`distributed.Security`), only in this process's memory.

    Those of Dask's own `Security.temporary` are not yet valid on a machine whose clock is slow.
    """
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID
    from distributed.security import Security

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a run of sigstats")])
    number = x509.random_serial_number()
    unsigned = x509.CertificateBuilder(name, name, key.public_key(), number, _FIRST, _LAST)  # its own authority
    pem, encryption = serialization.Encoding.PEM, serialization.NoEncryption()
    certificate = unsigned.sign(key, hashes.SHA256()).public_bytes(pem).decode()
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, encryption).decode()
    roles = ("scheduler", "worker", "client")
    files = {f"tls_{role}_{part}": text for role in roles for part, text in (("cert", certificate), ("key", secret))}
    return Security(require_encryption=True, tls_ca_file=certificate, **files)
