"""A Dask cluster that speaks TLS alone: with certificates of its authority it computes, without them it is closed."""

import datetime
import ipaddress
import sys
from subprocess import PIPE, Popen

import dask
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from ..conftest import QUICK, environment, results, run, run_on, study_file

pytestmark = [pytest.mark.processes, pytest.mark.faults]

SCHEDULER = """
import sys
from distributed import LocalCluster
from distributed.security import Security
if __name__ == "__main__":
    ca, cert, key = sys.argv[1:]
    parts = {f"tls_{role}_{what}": path for role in ("scheduler", "worker", "client")
             for what, path in (("cert", cert), ("key", key))}
    security = Security(require_encryption=True, tls_ca_file=ca, **parts)
    with LocalCluster(n_workers=1, threads_per_worker=1, host="tls://127.0.0.1", security=security,
                      dashboard_address="127.0.0.1:0") as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""


def authority(folder, name):
    """A self-signed authority and a certificate of it: paths of ca, cert and key."""
    now = datetime.datetime.now(datetime.UTC)

    def signed(subject, public, issuer, signer, *, ca):
        builder = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(public)
        builder = builder.serial_number(x509.random_serial_number())
        builder = builder.not_valid_before(now - datetime.timedelta(days=1))
        builder = builder.not_valid_after(now + datetime.timedelta(days=1))
        builder = builder.add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
        names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
        return builder.add_extension(names, critical=False).sign(signer, hashes.SHA256())

    def titled(text):
        return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])

    ca_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    ca = signed(titled(name), ca_key.public_key(), titled(name), ca_key, ca=True)
    cert = signed(titled(f"a node of {name}"), key.public_key(), titled(name), ca_key, ca=False)
    paths = {part: folder / f"{name}-{part}.pem" for part in ("ca", "cert", "key")}
    paths["ca"].write_bytes(ca.public_bytes(serialization.Encoding.PEM))
    paths["cert"].write_bytes(cert.public_bytes(serialization.Encoding.PEM))
    paths["key"].write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return paths


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tls")
    ours, theirs = authority(folder, "ours"), authority(folder, "theirs")
    script = folder / "cluster.py"
    script.write_text(SCHEDULER)
    command = [sys.executable, str(script), *map(str, ours.values())]
    with Popen(command, stdin=PIPE, stdout=PIPE, text=True, env=environment()) as process:
        yield process.stdout.readline().strip(), ours, theirs
        process.stdin.close()
        process.wait(30)


def cluster_file(folder, address, paths, **changes):
    tls = {"ca_file": paths["ca"], "cert": paths["cert"], "key": paths["key"], **changes}
    lines = [f'{name} = "{path}"' for name, path in tls.items()]
    text = f'kind = "address"\naddress = "{address}"\ntimeout = 5.0\n\n[tls]\n' + "\n".join(lines)
    return study_file(folder, text, "cluster.toml")


def test_a_study_over_tls_gives_the_bytes_of_the_plain_loop(quick, tmp_path, cluster):
    address, ours, _ = cluster
    assert address.startswith("tls://127.0.0.1:")
    path, reference, _ = quick
    done = run("run", path, "--output", tmp_path / "out", "--cluster", cluster_file(tmp_path, address, ours))
    assert done.returncode == 0, done.stderr
    assert results(tmp_path / "out") == reference


def test_certificates_of_dask_s_own_configuration_do_too(quick, tmp_path, cluster):
    address, ours, _ = cluster
    path, reference, _ = quick
    own = {"ca-file": ours["ca"], "client.cert": ours["cert"], "client.key": ours["key"]}
    with dask.config.set({f"distributed.comm.tls.{name}": str(value) for name, value in own.items()}):
        run_on(path, tmp_path / "out", address)
    assert results(tmp_path / "out") == reference


def test_strangers_are_kept_out(tmp_path, cluster):
    address, ours, theirs = cluster
    path = study_file(tmp_path, QUICK)
    for where in (
        cluster_file(tmp_path, address, theirs),  # an authority that the scheduler does not know
        address.replace("tls://", "tcp://"),  # no encryption
    ):
        done = run("run", path, "--output", tmp_path / "out", "--cluster", where)
        assert done.returncode == 2
        assert "no Dask scheduler answers" in done.stderr
        assert not (tmp_path / "out").exists()
    assert ours["key"].read_text() not in done.stderr


def test_bad_certificates_are_one_line(tmp_path, cluster):
    address, ours, _ = cluster
    path = study_file(tmp_path, QUICK)
    empty = tmp_path / "empty.pem"
    empty.write_text("")
    for changes, complaint in (
        ({"cert": tmp_path / "gone.pem"}, "tls.cert:"),
        ({"cert": empty}, "the certificates of [tls] cannot be used"),
    ):
        done = run(
            "run", path, "--output", tmp_path / "out", "--cluster", cluster_file(tmp_path, address, ours, **changes)
        )
        complaints = [line for line in done.stderr.splitlines() if line.startswith("sigstats: ")]
        assert (done.returncode, len(complaints)) == (2, 1)
        assert complaint in complaints[0]
    plain = cluster_file(tmp_path, "tcp://127.0.0.1:1", ours)
    done = run("run", path, "--output", tmp_path / "out", "--cluster", plain)
    assert "expected a tls:// address" in done.stderr
