"""Certificates of one run, for a scheduler and workers on machines that share a folder."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..errors import BadInput


@contextmanager
def temporary_certificates(shared_folder: str) -> Iterator[Any]:
    """Certificates of this run alone, in files that only this user can read, for as long as the context lasts.

    Raises
    ------
    BadInput
        If the folder cannot be written.
    """
    from distributed.security import Security

    shared = Path(shared_folder).expanduser().absolute()
    try:
        folder = tempfile.TemporaryDirectory(dir=shared, prefix=".sigstats-tls-")
    except OSError as error:
        raise BadInput(
            f"cluster: shared_folder: {shared_folder!r} is not valid; it cannot be written ({error.strerror})"
        ) from None
    with folder as name:
        files = {}
        for part, text in Security.temporary().get_tls_config_for_role("worker").items():
            if part in ("ca_file", "cert", "key"):
                files[part] = Path(name, f"{part}.pem")
                files[part].touch(mode=0o600)
                files[part].write_text(text)
        roles = {
            f"tls_{role}_{part}": str(files[part])
            for role in ("scheduler", "worker", "client")
            for part in ("cert", "key")
        }
        yield Security(require_encryption=True, tls_ca_file=str(files["ca_file"]), **roles)
