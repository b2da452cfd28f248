"""Places that a study may not name: files of the kernel, web addresses of this machine and its link."""

import pytest

from sigstats.files import inputs
from sigstats.files.inputs import VARIABLE, place
from sigstats.tasks.datasets import readers


@pytest.mark.parametrize("url", [
    "http://127.0.0.1/x", "https://localhost:8443/x", "http://[::1]/x", "http://2130706433/x", "http://0x7f.1/x",
    "http://169.254.169.254/latest/meta-data", "HTTP://169.254.169.254/x", "http://[fe80::1]/x", "http://0.0.0.0/x",
    "http://[::ffff:127.0.0.1]/x", "http://somebody@127.1/x", "simplecache::http://127.0.0.1/x",
    "zip://rows.csv::http://127.0.0.1/x.zip", "ftp://127.0.0.1/x", "webhdfs://localhost:50070/x",
    "http://[fe80::1%25eth0]/x", "http://%31%32%37.0.0.1/x", "http://localhost./x", "http://127.0.0.1./x",
])  # fmt: skip
def test_an_address_of_this_machine_or_its_link_is_refused_unless_it_is_allowed(tmp_path, monkeypatch, url):
    monkeypatch.delenv(VARIABLE, raising=False)
    with pytest.raises(ValueError, match=f"is an address of this machine or its link; set {VARIABLE}=1"):
        place(url, tmp_path)
    monkeypatch.setenv(VARIABLE, "1")
    assert place(url, tmp_path) == url


@pytest.mark.parametrize("url", ["http://198.51.100.7/x", "s3://localhost/x", "memory://127.0.0.1/x"])
def test_other_addresses_are_taken(tmp_path, url):
    assert place(url, tmp_path) == url


@pytest.mark.parametrize("path", ["/proc/self/environ", "file:///proc/1/maps", "link", "folder/environ", "/sys/x"])
def test_a_file_of_the_kernel_is_refused(tmp_path, path):
    (tmp_path / "link").symlink_to("/proc/self/environ")
    (tmp_path / "folder").symlink_to("/proc/self")
    with pytest.raises(ValueError, match="is a file of the kernel; expected a file of data"):
        place(path, tmp_path)


@pytest.mark.parametrize("path", ["rows.csv", "process/rows.csv", "/dev/fd/0", "/system/x"])
def test_other_files_are_taken(tmp_path, path):
    assert place(path, tmp_path) == str(tmp_path / path)


@pytest.mark.parametrize(("kind", "content"), [
    ("csv", b"x,label\n1,a\n2,b\n"),
    ("arff", b"@relation r\n@attribute x numeric\n@attribute label {a,b}\n@data\n1,a\n2,b\n"),
])  # fmt: skip
def test_the_host_of_a_data_set_is_looked_up_once(tmp_path, monkeypatch, kind, content):
    asked = []
    monkeypatch.setattr(inputs, "_is_near", asked.append)
    monkeypatch.setattr(f"sigstats.tasks.datasets.readers.{kind}.read_bytes", lambda *_: content)
    spec = {"name": "d", "source": kind, "path": f"http://data.example/d.{kind}", "target": "label"}
    assert len(readers.load(spec, base=tmp_path).y) == 2
    assert asked == ["data.example"]
