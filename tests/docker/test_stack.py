"""What the files of docker/ say."""

import os
import re
import shutil
import subprocess

from ..programs import needs
from .native import DOCKER, SERVICES, STACK

NETWORKS = STACK["networks"]

openssl = needs(shutil.which("openssl"), "openssl")


def test_every_service_restarts_and_says_whether_it_is_well():
    for name, service in SERVICES.items():
        if name == "run":
            assert service["restart"] == "no"
            continue
        assert service["restart"] == "unless-stopped", name
        assert service["healthcheck"]["test"][0] == "CMD", name
    for name, service in SERVICES.items():
        user = "postgres" if name == "database" else "sigstats"
        assert (service["user"], service["read_only"], service["cap_drop"]) == (user, True, ["ALL"]), name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert re.fullmatch(r"\dg", service["mem_limit"]), name
        assert service["pids_limit"] <= 1024, name
        assert {"max-size", "max-file"} <= service["logging"]["options"].keys(), name


def test_secrets_are_files_and_ports_stay_on_loopback():
    secrets = {f"/run/secrets/{name}" for name in STACK["secrets"]}
    for name, service in SERVICES.items():
        mounted = {f"/run/secrets/{secret}" for secret in service.get("secrets", [])}
        environment = service.get("environment") or {}
        asked = {value for value in environment.values() if str(value).startswith("/run/secrets/")}
        assert asked == mounted <= secrets, name
        for key in environment:
            assert not re.search(r"(PASSWORD|AUTH_STRING|SECRET_ACCESS_KEY|TOKEN)$", key), (name, key)
    ports = [port for service in SERVICES.values() for port in service.get("ports", [])]
    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_networks_keep_workers_from_prefect_and_all_but_prefect_from_its_database():
    on = {name: {other for other, service in SERVICES.items() if name in service["networks"]} for name in NETWORKS}
    assert on["database"] == {"database", "prefect"}
    assert NETWORKS["database"] == {"internal": True}
    assert on["dask"] == {"scheduler", "worker", "run", "pool"}
    assert on["prefect"] == {"prefect", "run", "schedule", "pool"}
    needed = {name: set(service.get("depends_on", {})) for name, service in SERVICES.items()}
    for name, others in needed.items():
        for other in others:
            assert {*SERVICES[name]["networks"]} & {*SERVICES[other]["networks"]}, (name, other)


def test_a_command_has_its_secrets_from_files_and_a_cache_that_it_may_write_to(tmp_path):
    (tmp_path / "secret").write_text("someone:a b'$(c)\n")
    compiled, cache = tmp_path / "compiled", tmp_path / "numba"
    (compiled / "trees").mkdir(parents=True)
    (compiled / "trees" / "index.nbi").write_text("made with the image")
    for path in (compiled, compiled / "trees"):
        path.chmod(0o555)
    start = tmp_path / "start.sh"
    start.write_text((DOCKER / "start.sh").read_text().replace("/opt/sigstats/compiled", str(compiled)))
    start.chmod(0o755)
    given = {"PATH": os.environ["PATH"], "PREFECT_API_AUTH_STRING_FILE": str(tmp_path / "secret")}
    shown = 'echo "$PREFECT_API_AUTH_STRING|${PREFECT_API_AUTH_STRING_FILE:-}"; cat "$NUMBA_CACHE_DIR/trees/index.nbi"'
    for _ in range(2):  # a check of its health begins in the same way
        done = subprocess.run(
            [start, "sh", "-c", shown], env={**given, "NUMBA_CACHE_DIR": str(cache)}, capture_output=True, text=True,
            check=True,
        )  # fmt: skip
        assert done.stdout == "someone:a b'$(c)|\nmade with the image"
    missing = {**given, "PREFECT_API_AUTH_STRING_FILE": str(tmp_path / "none")}
    assert subprocess.run([start, "true"], env=missing, capture_output=True, check=False).returncode != 0


def test_the_image_is_built_in_stages_from_the_lock_and_runs_without_root():
    lines = (DOCKER / "Dockerfile").read_text()
    targets = re.findall(r"^FROM \S+ AS (\S+)$", lines, flags=re.MULTILINE)
    assert {service["build"]["target"] for service in SERVICES.values() if "build" in service} < {*targets}
    assert targets[-1] == "computing"  # without a target named
    lock = {
        name.lower() for name in re.findall(r"^([\w-]+)==", (DOCKER / "requirements.lock").read_text(), re.MULTILINE)
    }
    for removed in re.findall(r"pip uninstall --yes --quiet ((?:(?!pip|hatchling)[\w-]+ )+)", lines):
        assert {*removed.split()} <= lock
    assert "COPY docker/requirements.lock ./\n" in lines
    assert "--require-hashes -r requirements.lock" in lines
    assert re.search(r"^USER sigstats$", lines, flags=re.MULTILINE)
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", lines, flags=re.MULTILINE)
    assert 'ENTRYPOINT ["sigstats-start"]' in lines
    allowed = (DOCKER / "Dockerfile.dockerignore").read_text().splitlines()
    for name in " ".join(copied).split():
        assert (DOCKER.parent / name).exists()
        assert f"!{name}" in allowed


def test_base_images_are_named_by_their_digests():
    (base,) = re.findall(r"^ARG PYTHON=(.+)$", (DOCKER / "Dockerfile").read_text(), flags=re.MULTILINE)
    for image in (base, SERVICES["database"]["image"].removeprefix("${POSTGRES_IMAGE:-").removesuffix("}")):
        assert re.fullmatch(r"[a-z]+:[\w.-]+@sha256:[0-9a-f]{64}", image)


def listed(folder):
    """The permissions of a folder and of what is in it."""
    return {str(path.relative_to(folder)): path.stat().st_mode & 0o777 for path in [folder, *folder.rglob("*")]}


@openssl
def test_certificates_are_readable_to_containers_and_the_authority_s_key_to_its_owner(tmp_path):
    folder = tmp_path / "certificates"
    subprocess.run([DOCKER / "make-certificates.sh", folder], umask=0, check=True)
    assert listed(folder) == {
        ".": 0o700,
        "ca.key": 0o600,
        "services": 0o755,
        **{f"services/{name}.pem": 0o644 for name in ("ca", "cert", "key")},
    }
    mounts = {mount for service in SERVICES.values() for mount in service.get("volumes", []) if "certificates" in mount}
    assert mounts == {"./certificates/services:/certificates:ro"}
    if os.geteuid() == 0:
        stranger = {"user": 65534, "group": 65534, "extra_groups": [], "capture_output": True, "check": False}
        # a process that stands in a folder needs not pass those above it: as with a mount
        names = ["ca.pem", "cert.pem", "key.pem"]
        assert subprocess.run(["cat", *names], cwd=folder / "services", **stranger).returncode == 0
        assert subprocess.run(["cat", "services/key.pem"], cwd=folder, **stranger).returncode != 0
    kept = {name: (folder / name).read_bytes() for name in ("ca.key", "services/ca.pem", "services/cert.pem")}
    subprocess.run([DOCKER / "make-certificates.sh", folder], check=True)  # again, as when they expire
    authority = {"ca.key", "services/ca.pem"}
    assert {name for name in kept if (folder / name).read_bytes() == kept[name]} == authority
    verified = ["openssl", "verify", "-CAfile", folder / "services/ca.pem", folder / "services/cert.pem"]
    assert subprocess.run(verified, capture_output=True, check=False).returncode == 0
    renew = [DOCKER / "make-certificates.sh", folder, "--new-authority"]
    for answer, code in (("", 1), ("n\n", 1), ("y\n", 0)):
        done = subprocess.run(renew, input=answer, capture_output=True, text=True, check=False)
        assert (done.returncode, "Replace the authority" in done.stderr) == (code, True)
        same = {name for name in authority if (folder / name).read_bytes() == kept[name]}
        assert same == (authority if code else set())
    assert subprocess.run(verified, capture_output=True, check=False).returncode == 0
    (folder / "services/ca.pem").unlink()
    kept = listed(folder)
    done = subprocess.run([DOCKER / "make-certificates.sh", folder], capture_output=True, text=True, check=False)
    assert (done.returncode, "services/ca.pem is missing" in done.stderr, listed(folder)) == (2, True, kept)


@openssl
def test_no_key_is_made_in_a_folder_that_others_may_enter(tmp_path):
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o755)
    done = subprocess.run(
        [DOCKER / "make-certificates.sh", tmp_path / "open"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "others may enter it" in done.stderr
    assert not list((tmp_path / "open").iterdir())
