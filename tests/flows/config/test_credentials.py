"""Passwords and keys in addresses are refused, and shown nowhere."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sigstats
from sigstats._common.credentials import refuse_credentials, without_credentials
from sigstats.flows.commands import main
from sigstats.flows.errors import BadInput

SECRET = "hunter2hunter2"
NAMES = """client_secret clientSecret x-api-key private-token aws_secret_access_key refresh_token sas_token PRIVATE_KEY
auth bearer_token X-Amz-Credential sig dbPassword code jwt sid cookie passphrase motdepasse api%5Fkey tok%65n accountkey
tokens tok\N{ZERO WIDTH SPACE}en \N{FULLWIDTH LATIN SMALL LETTER K}ey"""
HELD = [
    "s3://AKIAIOSFODNN7EXAMPLE:{}@bucket/study",
    "s3://key:{}/with/slashes@bucket/study",
    "https://me:{}@host/file.csv",
    "https://{}@host/file.csv",
    "https://host/file.csv?token={}",
    "https://host/file.csv?a=1&X-Amz-Signature={}&b=2",
    "https://host/file.csv#access_token={}",
    "https://host/file.csv?API_KEY={}",
    "simplecache::ftp://me:{}@host/file.csv",
    "tcp://me:{}@10.0.0.1:8786",
    "postgresql+asyncpg://prefect:{}@host/prefect",
    "s3://{}@bucket/study",
    "gs://bucket/a?X-Goog-Signature={}",
    *(f"https://host/file.csv?{name}={{}}" for name in NAMES.split()),
    "https://host/file.csv?token%3D{}0",
    "https://host/file.csv?token:{}0",
    "https://host/file.csv?token='{}'",
    'https://host/file.csv?value={{"token":"{}"}}',
    "https://host/file.csv?authorization=Bearer {}",
    "https://host/file.csv?a=1&amp;token={}",
    "https://host/file.csv;jsessionid={}",
    "https://host/file.csv?url=https%3A%2F%2Fme%3A{}%40elsewhere",
    "https://host/file.csv?file=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.{}",
    "https://host/file.csv?file=550e8400-e29b-41d4-a716-446655440000{}",
    "https://me:@{}@host/file.csv",
    "https://host\\@me:{}@host/file.csv",
    "https://me:{}\N{FULLWIDTH COMMERCIAL AT}host/file.csv",
]
HARMLESS = [
    "s3://bucket/a@b/c",
    "https://host:8080/a?page=2&monkey=3",
    "https://host/a?download=1&file=predictions-of-2026-11.csv",
    "https://host/a?persistentId=doi:10.7910/DVN/HG7NV7&format=original#top",
    "https://docs.google.com/spreadsheets/d/1aB2cD3eF4gH5iJ6kL7mN8/export?format=csv&gid=1234567890",
    "abfs://container@account.dfs.core.windows.net/predictions.csv",
    "s3://bucket/run-?-predictions.csv",
    "sftp://me@host/folder",
    "tcp://[::1]:8786",
    "memory://a",
    "file:///home/a:b/c",
    "a/b?token=1",
    "me:you@host",
]


STUDY = {"kind": "benchmark", "datasets": ["iris"], "classifiers": ["1-nn"]}


@pytest.mark.parametrize(
    "call",
    [
        lambda url, folder: sigstats.read_predictions(url),
        lambda url, folder: sigstats.compare(url, url),
        lambda url, folder: sigstats.run_study(url, output=folder),
        lambda url, folder: sigstats.run_study({**STUDY, "datasets": [url]}, output=folder),
        lambda url, folder: sigstats.run_study(STUDY, output=url),
        lambda url, folder: sigstats.run_study(STUDY, output=folder, cluster=url),
        lambda url, folder: sigstats.open_results(url),
    ],
)
@pytest.mark.parametrize("form", [HELD[0], HELD[4]])
def test_nor_does_the_library_show_them(call, form, tmp_path):
    with pytest.raises(ValueError, match=r"\*\*\*") as error:
        call(form.format(SECRET), tmp_path / "output")
    assert SECRET not in str(error.value)
    assert not (tmp_path / "output").exists()


@pytest.mark.long
@pytest.mark.parametrize("form", [*HELD, "https://host/file.csv?unheard=0123{}", "https://host/hf_0123456789{}"])
def test_they_are_refused_and_not_shown(form, tmp_path, capsys):
    url = form.format(SECRET)
    (tmp_path / "a.csv").write_text("id,label,prediction\n1,a,a\n")
    quoted = json.dumps(url)
    (tmp_path / "study.toml").write_text(f'kind = "benchmark"\nclassifiers = ["1-nn"]\ndatasets = [{quoted}]\n')
    table = f'kind = "benchmark"\nclassifiers = ["1-nn"]\n[[datasets]]\nname = "a"\nsource = "csv"\npath = {quoted}\n'
    (tmp_path / "table.toml").write_text(table)
    (tmp_path / "good.toml").write_text('kind = "benchmark"\nclassifiers = ["1-nn"]\ndatasets = ["iris"]\n')
    (tmp_path / "cluster.toml").write_text(f'kind = "address"\naddress = {quoted}\n')
    good = str(tmp_path / "good.toml")
    for arguments in (
        ["compare", url, str(tmp_path / "a.csv")],
        ["compare", str(tmp_path / "a.csv"), url],
        ["run", good, "--output", url],
        ["run", good, "--cluster", url],
        ["run", good, "--cluster", str(tmp_path / "cluster.toml")],
        ["run", good, "--set", f"folder={url}"],
        ["run", url],
        ["run", str(tmp_path / "study.toml")],
        ["plan", str(tmp_path / "table.toml")],
        ["report", url],
    ):
        assert main(arguments) == 2
        said = "".join(capsys.readouterr())
        assert SECRET not in said
        assert "expected an address without passwords and keys" in said
        assert said.count("\n") == 1


@pytest.mark.parametrize("url", HARMLESS)
def test_other_addresses_are_not(url):
    refuse_credentials({"path": [{"a": url}]})
    assert without_credentials(f"{url}: is missing") == f"{url}: is missing"


@given(st.sampled_from(HELD), st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1))
def test_whatever_the_secret_is(form, secret):
    url = form.format(f"<{secret}>")
    with pytest.raises(BadInput) as error:
        refuse_credentials({"path": url}, error=BadInput)
    assert f"<{secret}>" not in str(error.value)


def test_nor_does_the_parser_of_arguments_show_them(capsys):
    with pytest.raises(SystemExit):
        main(["compare", "--unmatched", f"s3://key:{SECRET}@bucket"])
    assert SECRET not in capsys.readouterr().err
