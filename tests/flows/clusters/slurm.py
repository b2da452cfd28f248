"""A real Slurm of one machine, without systemd: munged, slurmctld and slurmd in a folder of the test."""

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

import psutil
import pytest

from ...programs import missing
from ..conftest import wait_until
from ..prefect_server import free_port

NEEDED = {
    name: shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin") for name in ("munged", "slurmctld", "slurmd")
}
PACKAGES = {"munge": ("munged",), "slurm-wlm": ("slurmctld", "slurmd")}

CONFIGURATION = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
SlurmctldPort={control}
SlurmdPort={node}
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MpiDefault=none
KillWait=5
NodeName={host} NodeAddr=127.0.0.1 CPUs={processors} RealMemory={memory} State=UNKNOWN
PartitionName=short Nodes=ALL Default=YES MaxTime=INFINITE OverSubscribe=FORCE:4 State=UP
"""


@contextlib.contextmanager
def slurm():
    """The environment in which Slurm's commands find it."""
    for package, programs in PACKAGES.items():
        if not all(map(NEEDED.get, programs)):
            missing(package)
    if os.geteuid() != 0:
        pytest.skip("slurmd starts jobs as root alone")
    with tempfile.TemporaryDirectory(prefix="slurm-", dir="/tmp") as name:
        folder = Path(name)
        for part in ("munge", "state", "spool"):
            (folder / part).mkdir()
        for part in (folder, folder / "munge"):
            part.chmod(0o755)
        key = folder / "munge" / "key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(1024))
        (folder / "slurm.conf").write_text(
            CONFIGURATION.format(
                host=socket.gethostname().partition(".")[0],
                folder=folder,
                control=free_port(),
                node=free_port(),
                processors=psutil.cpu_count(),
                memory=int(psutil.virtual_memory().total / 2**20 * 0.8),
            )
        )
        environment = {"SLURM_CONF": str(folder / "slurm.conf")}
        own = folder / "munge"
        files = [f"--{part}={own}/{part.partition('-')[0]}" for part in ("socket", "pid-file", "log-file", "seed-file")]
        commands = [
            [NEEDED["munged"], "--foreground", "--force", f"--key-file={key}", *files],
            [NEEDED["slurmctld"], "-D"],
            [NEEDED["slurmd"], "-D"],
        ]
        started = []
        try:
            for command in commands:
                started.append(
                    subprocess.Popen(
                        command, env={**os.environ, **environment}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
                    )
                )
                if command is commands[0]:
                    wait_until((own / "socket").exists, seconds=60)
            wait_until(lambda: "idle" in asked(environment, "sinfo", "--noheader", "--format=%T"), seconds=120)
            yield environment
        finally:
            for process in reversed(started):
                process.terminate()
            for process in started:
                process.wait(60)


def asked(environment, *command):
    """What a command of Slurm prints."""
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=60)
    return done.stdout


def jobs(environment):
    """The numbers of all jobs that run or wait."""
    return asked(environment, "squeue", "--noheader", "--format=%A").split()
