import errno
import fcntl
import os
import platform
import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import fsspec
import pytest

from sigstats.tasks.storage.files import Locked, open_files
from sigstats.tasks.storage.lease import lease


@pytest.fixture
def files(root):
    return open_files(root)


def test_write_read_list_remove(files):
    files.write("a/one.txt", b"1")
    files.write("a/two.txt", b"22")
    files.write("a/one.txt", b"111")
    assert files.read("a/one.txt") == b"111"
    assert files.names("a") == ["one.txt", "two.txt"]
    files.remove("a/two.txt")
    files.remove("a/two.txt")
    assert files.names("a") == ["one.txt"]
    files.write("a/b/three.txt", b"3")
    assert (files.names("a"), files.folders("a")) == (["one.txt"], ["b"])
    assert files.names("nowhere") == files.folders("nowhere") == []
    with pytest.raises(FileNotFoundError):
        files.read("a/two.txt")


@pytest.mark.long
def test_a_folder_may_be_dropped_while_files_are_written_to_it(tmp_path):
    files, ended = open_files(str(tmp_path)), threading.Event()

    def drop():
        while not ended.wait(0.01):
            files.drop("a")

    with ThreadPoolExecutor(1) as others:
        dropping = others.submit(drop)
        try:
            for number in range(300):
                files.write(f"a/b/{number}.txt", b"1")
        finally:
            ended.set()
        dropping.result()
    files.write("a/b/last.txt", b"1")
    assert "last.txt" in files.names("a/b")


def test_a_dropped_folder_is_gone_with_all_that_is_in_it_and_nothing_else(files):
    for name in ("a/one.txt", "a/b/two.txt", "ab/three.txt"):
        files.write(name, b"1")
    files.drop("a")
    files.drop("a")
    assert files.names("a") == files.folders("a") == files.names("a/b") == []
    assert files.names("ab") == ["three.txt"]
    with pytest.raises(ValueError, match="inside the output"):
        files.drop("../a")


@pytest.fixture
def requests(monkeypatch):
    """The requests to an object store, by name; those of `fail` fail."""
    from s3fs import S3FileSystem

    asked, call = SimpleNamespace(names=[], fail=()), S3FileSystem._call_s3

    async def noted(self, method, *args, **kwargs):
        asked.names.append(method)
        if method in asked.fail:
            raise OSError(f"{method} is not for today")
        return await call(self, method, *args, **kwargs)

    monkeypatch.setattr(S3FileSystem, "_call_s3", noted)
    return asked


@pytest.mark.long
def test_a_folder_of_an_object_store_is_dropped_in_one_request(bucket, requests):
    files = open_files(f"{bucket}/many")
    for number in range(30):
        files.write(f"a/{number}.txt", b"1")
    requests.names.clear()
    files.drop("a")
    assert [name for name in requests.names if "delete" in name] == ["delete_objects"]
    assert files.names("a") == []


@pytest.mark.parametrize("prefix", ["single", "like a [pattern]"])
def test_a_store_that_removes_one_object_alone_is_asked_so(bucket, requests, prefix):
    files = open_files(f"{bucket}/{prefix}")
    for number in range(3):
        files.write(f"a/{number}.txt", b"1")
    requests.fail = ("delete_objects",)
    files.drop("a")
    assert files.names("a") == []


def test_what_an_object_store_does_not_remove_today_ends_nothing(bucket, requests):
    files = open_files(f"{bucket}/stubborn")
    files.write("a/1.txt", b"1")
    requests.fail = ("delete_objects", "delete_object")
    files.drop("a")
    assert files.names("a") == ["1.txt"]
    requests.fail = ()
    files.drop("a")
    assert files.names("a") == []


@pytest.mark.parametrize("name", ["../x", "/etc/x", "a/../../x", "a\\..\\x", "a\0b"])
def test_a_name_cannot_leave_the_root(files, name):
    with pytest.raises(ValueError, match="inside the output"):
        files.write(name, b"x")


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failure_while_writing_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, step):
    files = open_files(str(tmp_path))
    files.write("x.bin", b"old")

    def full(*args, **kwargs):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(*((os, "fsync", full) if step == "fsync" else (Path, "replace", full)))
    with pytest.raises(OSError, match="No space"):
        files.write("x.bin", b"new")
    monkeypatch.undo()
    assert files.read("x.bin") == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["x.bin"]


def test_an_unfinished_file_of_a_killed_writer_is_never_listed_and_is_swept(tmp_path):
    code = (
        "import os, signal, sys; from pathlib import Path; from sigstats.tasks.storage.files import open_files\n"
        "Path.replace = lambda *a: os.kill(os.getpid(), signal.SIGKILL)\n"
        "open_files(sys.argv[1]).write('a/x.bin', b'half')"
    )
    killed = subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    assert killed.returncode == -9
    files = open_files(str(tmp_path))
    assert len(list((tmp_path / "a").iterdir())) == 1
    assert files.names("a") == []
    files.sweep()
    assert list((tmp_path / "a").iterdir()) == []


@pytest.fixture
def brief_lease(monkeypatch):
    """A lease is renewed every half second."""
    monkeypatch.setattr("sigstats.tasks.storage.lease.RENEWAL", 0.5)
    monkeypatch.setattr("sigstats.tasks.storage.lease.PATIENCE", 2.5)


HOLDER = """
import sys
from sigstats.tasks.storage import lease
from sigstats.tasks.storage.files import open_files
lease.RENEWAL, lease.PATIENCE = 0.5, 2.5
with open_files(sys.argv[1]).lock():
    print('held', flush=True)
    sys.stdin.read()
"""


@pytest.mark.faults
def test_only_one_run_holds_the_lock_and_its_end_or_death_frees_it(root, brief_lease):
    if root.startswith("memory"):
        pytest.skip("no other process can see this one's memory")
    files = open_files(root)
    for killed in (False, True):
        with subprocess.Popen(
            [sys.executable, "-c", HOLDER, root], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as holder:
            assert holder.stdout.readline() == "held\n"
            told = re.escape(f"locked by another run (process {holder.pid} on host {platform.node()})")
            with pytest.raises(Locked, match=told), files.lock():
                pass
            if killed:
                holder.kill()
        with files.lock():
            pass


@pytest.mark.long
def test_the_lock_is_of_one_run_in_one_process_too(files, brief_lease):
    with files.lock(), pytest.raises(Locked), files.lock():
        pass
    with files.lock():
        pass


def test_a_lock_that_does_not_name_its_holder_is_respected(tmp_path):
    """As that of version 0.1.0, whose file is empty."""
    with (tmp_path / ".lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        with pytest.raises(Locked, match=r"locked by another run$"), open_files(str(tmp_path)).lock():
            pass


def test_file_url_is_a_folder(tmp_path):
    open_files(f"file://{tmp_path}").write("x", b"1")
    assert (tmp_path / "x").read_bytes() == b"1"


def test_no_link_below_the_root_is_followed(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept.txt").write_bytes(b"kept")
    files = open_files(str(tmp_path / "output"))
    files.write("real/one.txt", b"1")
    root = Path(files.root)
    (root / "folder").symlink_to(outside)
    (root / "real" / "two.txt").symlink_to(outside / "kept.txt")
    (root / ".lock").symlink_to(outside / "kept.txt")
    assert (files.folders(""), files.names(""), files.names("real")) == (["real"], [], ["one.txt"])
    for refused in (lambda: files.write("folder/one.txt", b"1"), lambda: files.read("folder/kept.txt")):
        with pytest.raises(OSError, match=r"output/folder is a link; replace it with a real folder"):
            refused()
    with pytest.raises(OSError, match=r"output/\.lock is a link"), files.lock():
        pass
    with pytest.raises(OSError, match=r"two\.txt is a link"):
        files.read("real/two.txt")
    files.write("real/two.txt", b"2")
    files.drop("folder")
    assert files.read("real/two.txt") == b"2"
    assert {each.name: each.read_bytes() for each in outside.iterdir()} == {"kept.txt": b"kept"}


def test_the_root_itself_may_be_a_link(tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "output").symlink_to(tmp_path / "disk")
    files = open_files(str(tmp_path / "output"))
    with files.lock():
        files.write("a/one.txt", b"1")
    assert (tmp_path / "disk" / "a" / "one.txt").read_bytes() == b"1"


class LostReply:
    """A file system whose first conditional write succeeds, but whose client does not hear of it."""

    def __init__(self, system, then):
        self._system, self._then = system, then

    def pipe_file(self, path, value, mode="overwrite"):
        self._system.pipe_file(path, value, mode=mode)
        if mode == "create":
            self._then(path, value)

    def __getattr__(self, name):
        return getattr(self._system, name)


def gives_up(path, value):
    raise OSError("ConditionalRequestConflict")  # S3's answer to two at once, or none within the client's patience


def is_repeated(path, value):
    fsspec.filesystem("memory").pipe_file(path, value, mode="create")


@pytest.mark.parametrize("then", [is_repeated, gives_up])
def test_a_lost_reply_to_its_conditional_write_locks_no_run_out(then):
    system = fsspec.filesystem("memory")
    with lease(LostReply(system, then), "/lost-reply"):
        assert [name.rpartition("/")[2] for name in system.ls("/lost-reply", detail=False)] == ["000000001"]
        with pytest.raises(FileExistsError):
            system.pipe_file("/lost-reply/000000001", b"", mode="create")
    assert system.find("/lost-reply") == []


def test_a_run_knows_the_objects_that_are_listed_or_reported():
    files = open_files("memory://remembered")
    files.write("study.json", b"before")
    with files.remembered():
        assert files.read("study.json") == b"before"
        other = open_files("memory://remembered/")  # the same root, in the same process
        other.write("replicates/a/0-1.parquet", b"1")
        assert files.names("replicates/a") == ["0-1.parquet"]
        assert files.read("replicates/a/0-1.parquet") == b"1"
        files.write("replicates/a/0-1.parquet", lambda file: file.write(b"joined"))
        assert files.read("replicates/a/0-1.parquet") == b"joined"
        fsspec.filesystem("memory").pipe_file("/remembered/blocks/a/1-2.parquet", b"2")  # a worker elsewhere
        with pytest.raises(FileNotFoundError):
            files.read("blocks/a/1-2.parquet")
        files.wrote("blocks/a/1-2.parquet")
        assert files.read("blocks/a/1-2.parquet") == b"2"
        files.wrote("blocks/c/1-2.parquet", b"sent")
        assert files.read("blocks/c/1-2.parquet") == b"sent"
        fsspec.filesystem("memory").pipe_file("/remembered/blocks/b/1-2.parquet", b"3")  # of a worker that was lost
        files.refresh()
        assert files.folders("blocks") == ["a", "b", "c"]  # a listing may be late
        files.drop("blocks")
        assert files.folders("") == ["replicates"]
    assert files.names("") == ["study.json"]
    assert files.folders("") == ["replicates"]


def test_a_pipe_and_a_lock_of_another_name_are_refused_and_left(tmp_path):
    files = open_files(str(tmp_path / "output"))
    files.write("one.txt", b"one")
    os.mkfifo(tmp_path / "output/pipe")
    with pytest.raises(OSError, match="pipe is a pipe or a device; replace it with a regular file"):
        files.read("pipe")
    (tmp_path / "kept").write_text("kept")
    (tmp_path / "output/.lock").hardlink_to(tmp_path / "kept")
    with pytest.raises(OSError, match=r"\.lock has another name \(a hard link\)"), files.lock():
        pass
    assert (tmp_path / "kept").read_text() == "kept"
