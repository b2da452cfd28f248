"""Hosts of the test's own, each a network namespace with its own addresses, joined by links that can be cut."""

import contextlib
import os
import shutil
import subprocess
import uuid

import pytest

from ...programs import missing


class Hosts:
    """A hub and other hosts, each at the end of a link of its own: host n is 10.77.n.2, and calls the hub 10.77.n.1."""

    def __init__(self, count):
        mark = uuid.uuid4().hex[:6]
        self.names = [f"sigstats-{mark}-{number}" for number in range(count)]
        self.links = [f"s{mark}{number}" for number in range(count)]

    def __enter__(self):
        for name in self.names:
            ip("netns", "add", name)
            ip("-n", name, "link", "set", "lo", "up")
        for number in range(1, len(self.names)):
            hub, host, link = self.names[0], self.names[number], self.links[number]
            ip("link", "add", f"{link}h", "netns", hub, "type", "veth", "peer", "name", link, "netns", host)
            ip("-n", hub, "address", "add", f"10.77.{number}.1/24", "dev", f"{link}h")
            ip("-n", host, "address", "add", f"10.77.{number}.2/24", "dev", link)
            ip("-n", hub, "link", "set", f"{link}h", "up")
            ip("-n", host, "link", "set", link, "up")
        return self

    def __exit__(self, *error):
        for name in self.names:
            with contextlib.suppress(subprocess.CalledProcessError):
                ip("netns", "delete", name)

    def on(self, number):
        """What to put before a command that is to run on a host."""
        named = 'echo "$0" > /proc/sys/kernel/hostname && exec "$@"'
        return ["ip", "netns", "exec", self.names[number], "unshare", "--uts", "sh", "-c", named, f"host-{number}"]

    def hub_address(self, number):
        """The address under which a host finds the hub."""
        return f"10.77.{number}.1"

    def cut(self, number):
        """Cut the link of a host: what it sends is lost, and so is what is sent to it."""
        ip("-n", self.names[number], "link", "set", self.links[number], "down")

    def heal(self, number):
        """Mend the link of a host."""
        ip("-n", self.names[number], "link", "set", self.links[number], "up")


def ip(*command):
    subprocess.run(["ip", *command], check=True, capture_output=True, text=True)


@contextlib.contextmanager
def hosts(count):
    """Hosts, or a skipped test where the machine lets no one make them."""
    if shutil.which("ip") is None:
        missing("iproute2")
    if os.geteuid() != 0:
        pytest.skip("only root may make network namespaces")
    made = Hosts(count)
    try:
        made.__enter__()
    except subprocess.CalledProcessError as error:
        made.__exit__()
        pytest.skip(f"network namespaces cannot be made here: {error.stderr.strip()}")
    try:
        yield made
    finally:
        made.__exit__()
