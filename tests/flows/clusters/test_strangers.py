"""Who is turned away by the scheduler and the workers that a run starts on this machine."""

import datetime
import json
import os
import shutil
import ssl
import stat
import sys

import pytest
from cryptography import x509

from sigstats.flows.clusters import local
from sigstats.flows.clusters._dask import certificates

from ..conftest import python

#: A pool and, for as long as it lasts, what a stranger sees of each port that its processes listen on.
CODE = """
import json, subprocess, sys, psutil
from distributed import Client
from sigstats.flows.clusters._dask import certificates
from sigstats.flows.clusters.local import Cluster, open_pool

def turned_away(address, **options):
    try:
        Client(address, timeout=5, set_as_default=False, **options).close()
    except OSError:
        return True
    return False

if __name__ == "__main__":
    with open_pool(Cluster(workers=2)) as pool:
        pool.client.wait_for_workers(2)
        me = psutil.Process()
        found = [each.laddr for one in [me, *me.children(recursive=True)] for each in one.net_connections()
                 if each.status == psutil.CONN_LISTEN]
        ports = sorted({each.port for each in found})
        address = pool.client.scheduler.address
        saw = [subprocess.run([*asking, *map(str, ports)], capture_output=True, text=True, check=True).stdout
               for asking in json.loads(sys.argv[1])]
        print(json.dumps({
            "hosts": sorted({each.ip for each in found}), "ports": ports, "seen": [json.loads(each) for each in saw],
            "plain": turned_away(address.replace("tls://", "tcp://")),
            "other": turned_away(address, security=certificates()),
            "own": turned_away(address, security=pool.client.security),
        }))
"""

#: How many bytes come back from a port: to a plain request of HTTP, and to one in TLS without a certificate.
STRANGER = r"""
import encodings.idna, json, os, socket, ssl, sys  # all that is needed, before the account changes
if len(sys.argv) > 1 and sys.argv[1].startswith("uid="):
    os.setgroups([]); os.setgid(int(sys.argv[1][4:])); os.setuid(int(sys.argv.pop(1)[4:]))
def answer(port, context=None):
    try:
        with socket.create_connection(("127.0.0.1", int(port)), timeout=10) as link:
            link = context.wrap_socket(link) if context else link
            link.sendall(b"GET / HTTP/1.0\r\n\r\n")
            return len(link.recv(100))
    except OSError:  # the link is cut, or TLS asks for a certificate
        return 0
anyone = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
anyone.check_hostname, anyone.verify_mode = False, ssl.CERT_NONE
print(json.dumps({"uid": os.getuid(), **{port: [answer(port), answer(port, anyone)] for port in sys.argv[1:]}}))
"""


@pytest.mark.long
@pytest.mark.processes
def test_a_stranger_is_turned_away_from_every_port(tmp_path):
    (tmp_path / "asking.py").write_text(CODE)
    others = [] if os.getuid() else [65534]  # only root can ask as another account
    asking = [[sys.executable, "-c", STRANGER, *as_whom] for as_whom in ([], *([f"uid={uid}"] for uid in others))]
    done = python(tmp_path / "asking.py", json.dumps(asking))
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [each.pop("uid") for each in found["seen"]] == [os.getuid(), *others]
    assert found["hosts"] == ["127.0.0.1"]
    assert len(found["ports"]) == 5  # scheduler, two workers, two nannies: no dashboard and no other HTTP
    assert all(list(each.values()) == [[0, 0]] * 5 for each in found["seen"])
    assert (found["plain"], found["other"], found["own"]) == (True, True, False)


def handshake(server, client):
    """Whether both sides of TLS trust each other; in memory."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    sides = [
        server.wrap_bio(to_server, to_client, server_side=True),
        client.wrap_bio(to_client, to_server, server_side=False),
    ]
    waiting = sides
    for _ in range(10):
        still = []
        for side in waiting:
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                still.append(side)
        waiting = still
    sides[1].write(b"who goes there")
    try:
        return not waiting and sides[0].read(99) == b"who goes there"
    except ssl.SSLWantReadError:
        return False


def test_certificates_of_one_run_are_good_for_it_alone_at_any_time():
    run, other = certificates(), certificates()
    server = run.get_listen_args("scheduler")["ssl_context"]
    client, stranger = (each.get_connection_args("worker")["ssl_context"] for each in (run, other))
    for side in (server, client, stranger):
        side.verify_flags |= ssl.VERIFY_X509_STRICT  # Python's default from 3.13 on
    assert handshake(server, client)
    with pytest.raises(ssl.SSLError, match="CERTIFICATE_VERIFY_FAILED"):
        handshake(server, stranger)
    made = x509.load_pem_x509_certificate(run.tls_worker_cert.encode())
    assert made.not_valid_before_utc == datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
    assert made.not_valid_after_utc.year == 9999


def test_the_scratch_folder_is_the_users_alone_whoever_was_first(tmp_path, monkeypatch):
    monkeypatch.setattr(local.tempfile, "tempdir", str(tmp_path))
    place = tmp_path / f"sigstats-{os.getuid()}"

    def private(folder):
        about = os.lstat(folder)
        return stat.S_ISDIR(about.st_mode) and stat.S_IMODE(about.st_mode) == 0o700 and about.st_uid == os.getuid()

    assert local.scratch_folder() == local.scratch_folder() == str(place)
    assert private(place)
    place.chmod(0o777)
    planted = tmp_path / "planted"
    planted.mkdir()
    for spoil in (lambda: None, lambda: place.symlink_to(planted), lambda: place.write_text("")):
        spoil()
        other = local.scratch_folder()
        assert other != str(place)
        assert private(other)
        shutil.rmtree(place) if place.is_dir() and not place.is_symlink() else place.unlink()
