"""Output files that a person names: links."""

import os

import pytest

from sigstats.flows.commands._files import write_whole
from sigstats.flows.errors import BadInput


def test_a_link_of_ones_own_is_followed(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "page.html")
    write_whole(str(tmp_path / "link"), b"whole")
    assert ((tmp_path / "link").is_symlink(), (tmp_path / "page.html").read_bytes()) == (True, b"whole")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, which alone may give a link to another account")
@pytest.mark.parametrize("of_a_folder", [False, True])
def test_a_link_of_another_account_in_a_shared_folder_is_refused(tmp_path, of_a_folder):
    shared, kept = tmp_path / "shared", tmp_path / "kept"
    shared.mkdir()
    kept.mkdir()
    (kept / "page.html").write_bytes(b"kept")
    link = shared / ("folder" if of_a_folder else "page.html")
    link.symlink_to(kept if of_a_folder else kept / "page.html")
    os.lchown(link, 12345, 12345)
    place = str(link / "page.html" if of_a_folder else link)
    shared.chmod(0o1777)
    with pytest.raises(BadInput, match="is a link of another account"):
        write_whole(place, b"other")
    assert (kept / "page.html").read_bytes() == b"kept"
    shared.chmod(0o755)  # where nobody else may write, the link is the folder's owner's
    write_whole(place, b"other")
    assert (kept / "page.html").read_bytes() == b"other"
