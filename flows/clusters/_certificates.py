"""Certificates of one run: only processes that have them may connect to its scheduler and workers."""

import datetime
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sigstats._common.messages import shown

from ..errors import BadInput

#: A certificate counts for one run, which deletes it; so it is never out of date, wherever a machine's clock is put.
_FIRST = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_LAST = datetime.datetime(9999, 12, 31, 23, 59, 59, tzinfo=datetime.UTC)


def certificates() -> Any:
    """New certificates for scheduler, workers and client (`distributed.Security`), in this process's memory alone.

    `Security.temporary` of Dask makes an RSA key, which makes each connection several times as expensive, and dates of
    validity that exclude a clock that was put back.
    """
    from distributed.security import Security

    certificate, key = _self_signed()
    roles = {
        f"tls_{role}_{part}": text
        for role in ("scheduler", "worker", "client")
        for part, text in (("cert", certificate), ("key", key))
    }
    return Security(require_encryption=True, tls_ca_file=certificate, **roles)


def _self_signed() -> tuple[str, str]:
    """A certificate that is its own authority, and its key, as PEM."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    public = key.public_key()
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a run of sigstats")])
    usage = dict.fromkeys(
        ("content_commitment", "key_encipherment", "data_encipherment", "key_agreement", "crl_sign",
         "encipher_only", "decipher_only"),
        False,
    )  # fmt: skip
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(_FIRST)
        .not_valid_after(_LAST)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.KeyUsage(digital_signature=True, key_cert_sign=True, **usage), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return certificate.public_bytes(pem).decode(), secret.decode()


@contextmanager
def shared_certificates(shared_folder: str) -> Iterator[Any]:
    """Certificates for workers on machines that share a folder: files in it, which are deleted with the context.

    Only this user can read them.

    Raises BadInput if the folder cannot be written.
    """
    from distributed.security import Security

    shared = Path(shared_folder).expanduser().absolute()
    try:
        folder = tempfile.TemporaryDirectory(dir=shared, prefix=".sigstats-tls-")
    except OSError as error:
        raise BadInput(
            f"cluster: shared_folder: {shown(shared_folder)} is not valid; it cannot be written ({error.strerror})"
        ) from None
    with folder as name:
        files = {}
        for part, text in certificates().get_tls_config_for_role("worker").items():
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
