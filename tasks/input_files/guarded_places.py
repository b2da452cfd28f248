"""Places that a study file may not name: it may be somebody else's, and is read with your rights.

The kernel's files hold the environment of processes, with its secrets. A web address of this machine, or of its link,
reaches servers that trust whoever is near, as those that hand a cloud machine its credentials.
"""

import ipaddress
import os
import re
import socket
from urllib.parse import urlsplit

#: The environment variable that allows web addresses of this machine and of its link.
VARIABLE = "SIGSTATS_ALLOW_LOCAL_ADDRESSES"

_WEB = re.compile(r"(?:https?|s?ftp|ssh|smb|hdfs)://([^/?#]*+)", re.IGNORECASE)
_LOCAL = re.compile(r"(?:file|local)://")
#: A shell hands a pipe as /dev/fd/63, which leads to a file of the process itself.
_KERNEL = re.compile(r"/(?:proc(?!/[^/]++/fd/)|sys)(?:/|\Z)")


def require_allowed(where: str) -> str:
    """Return a path or an fsspec URL that a study may read.

    Raises
    ------
    ValueError
        One line that names it: a file of the kernel, a loopback or a link-local address.

    Examples
    --------
    >>> from sigstats.tasks.input_files.guarded_places import require_allowed
    >>> require_allowed("s3://bucket/rows.parquet")
    's3://bucket/rows.parquet'
    >>> require_allowed("http://169.254.169.254/latest")
    Traceback (most recent call last):
    ...
    ValueError: http://169.254.169.254/latest: is on this machine or its link; set SIGSTATS_ALLOW_LOCAL_...
    """
    if any(_is_near(each[1]) for each in _WEB.finditer(where)) and not os.environ.get(VARIABLE):
        raise ValueError(f"{where}: is on this machine or its link; set {VARIABLE}=1 if the study may read from there")
    for part in where.split("::"):  # fsspec's chains, as in simplecache::file:///path
        path = _LOCAL.sub("", part)
        if "://" not in path and "\0" not in path and _KERNEL.match(os.path.realpath(path)):
            raise ValueError(f"{where}: is a file of the kernel; expected a file of data")
    return where


def _is_near(authority: str) -> bool:
    """Whether a host is, or its name leads to, a loopback or link-local address."""
    try:
        host = urlsplit(f"//{authority}").hostname
        found = {str(each[4][0]).partition("%")[0] for each in socket.getaddrinfo(host, None)}
    except (OSError, ValueError):  # whoever opens it says what is wrong
        return False
    return any(_near(ipaddress.ip_address(each)) for each in found)


def _near(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    address = getattr(address, "ipv4_mapped", None) or address
    return address.is_loopback or address.is_link_local or address.is_unspecified
