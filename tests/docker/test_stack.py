"""What the files of docker/ say."""

import os
import re
import shutil
import subprocess

from ..programs import needs
from .native import DOCKER, SERVICES

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


def test_secrets_come_from_the_environment_and_ports_stay_on_loopback():
    text = (DOCKER / "compose.yaml").read_text()
    for name in ("PASSWORD", "AUTH_STRING"):
        for value in re.findall(rf"^ +\w*{name}: (.+)$", text, flags=re.MULTILINE):
            assert re.match(r"\$\{\w+:\?", value), value
    ports = [port for service in SERVICES.values() for port in service.get("ports", [])]
    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_the_image_is_built_in_stages_from_the_lock_and_runs_without_root():
    lines = (DOCKER / "Dockerfile").read_text()
    assert lines.count("\nFROM ") == 2
    assert "COPY docker/requirements.lock ./\n" in lines
    assert "--require-hashes -r requirements.lock" in lines
    assert re.search(r"^USER sigstats$", lines, flags=re.MULTILINE)
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", lines, flags=re.MULTILINE)
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
    subprocess.run([DOCKER / "make-certificates.sh", folder], check=True)  # again, as when they expire


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
