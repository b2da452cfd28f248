"""An object store that speaks S3, on loopback, for as long as a test needs it."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from .lazily import lazily

boto3 = lazily("boto3")

_SERVER = """\
import logging, sys
logging.basicConfig(level=logging.INFO, format="%(message)s")
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
sys.stdin.read()
"""


@contextmanager
def object_store(bucket: str, log: int | IO[str] = subprocess.DEVNULL) -> Iterator[dict[str, str]]:
    """Start a server with one bucket, and give the environment in which a client finds it; `log` has its requests."""
    with subprocess.Popen(
        [sys.executable, "-c", _SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
    ) as server:
        environment = {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{int(server.stdout.readline())}",
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
        }
        client(environment).create_bucket(Bucket=bucket)
        try:
            yield environment
        finally:
            server.stdin.close()


def client(environment: dict[str, str]):
    """Amazon's own client, to look without the program's code."""
    return boto3.client(
        "s3",
        endpoint_url=environment["AWS_ENDPOINT_URL"],
        aws_access_key_id=environment["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=environment["AWS_SECRET_ACCESS_KEY"],
        region_name=environment["AWS_DEFAULT_REGION"],
    )
