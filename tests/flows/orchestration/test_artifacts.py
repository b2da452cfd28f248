"""What a run leaves on a server: messages, the worst first, links that work elsewhere, and when a run fails anew."""

import datetime as dt
import logging
import pickle
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sigstats.flows.running.result import Artifacts

from ...examples import examples
from ...lazily import lazily

artifacts, flow_run = (lazily(f"sigstats.flows.orchestration.{name}") for name in ("artifacts", "flow_run"))
prefect = lazily("prefect")

reasons_ = st.lists(
    st.text(st.characters(codec="ascii", categories=["L", "N", "P"]), min_size=1, max_size=400), max_size=30
)


@settings(max_examples=examples(200), deadline=None)
@given(reasons=reasons_)
def test_a_message_has_the_worst_reason_first_and_counts_the_rest(reasons):
    message = artifacts.message_of("FAIL: regression", reasons)
    assert len(message) <= 300
    assert message.startswith("FAIL: regression")
    if not reasons:
        assert message == "FAIL: regression"
        return
    assert message.removeprefix("FAIL: regression: ").startswith(reasons[0][:200])
    left_out = [int(word) for word in message.rpartition("; and ")[2].split()[:1] if message.endswith(" more")]
    if left_out and sum(map(len, reasons)) > 300:
        assert 0 < left_out[0] < len(reasons)


@pytest.mark.parametrize(
    ("place", "output", "pages", "link"),
    [
        ("/out/report.html", "/out", "https://x.example/a", "https://x.example/a/report.html"),
        ("/out/comparisons/1.html", "/out/", "https://x.example/a/", "https://x.example/a/comparisons/1.html"),
        ("s3://b/out/report.html", "s3://b/out", "https://x.example", "https://x.example/report.html"),
        ("https://x.example/report.html", "https://x.example", None, "https://x.example/report.html"),
        ("/out/report.html", "/out", None, None),
        ("s3://b/out/report.html", "s3://b/out", None, None),
        ("/other/report.html", "/out", "https://x.example/a", None),
    ],
)
def test_a_link_works_elsewhere_or_there_is_none(place, output, pages, link):
    assert artifacts.link_to(place, output=output, pages=pages) == link


@dataclass
class Result:
    code: int = 1
    since: dt.datetime | None = None
    title: str = "FAIL: regression"
    subject: str = "b against a"
    reasons: list = field(default_factory=lambda: [f"worse: slice {number}" for number in range(30)])
    artifacts: Artifacts = field(default_factory=lambda: Artifacts(links={"report": "/out/report.html"}))
    event: str | None = "failed"
    kept: list = field(default_factory=list)

    def keep_delivered(self):
        self.kept.append(True)


AT = dt.datetime(2026, 11, 1, 6, 30, tzinfo=dt.UTC)


@pytest.fixture
def left(monkeypatch):
    """What is left on the server."""
    found = []
    for kind in ("link", "markdown", "table"):
        monkeypatch.setattr(
            artifacts, f"create_{kind}_artifact", lambda *content, kind=kind, **about: found.append((kind, *content))
        )
    monkeypatch.setattr(flow_run, "_send_event", lambda event, *_: found.append(("event", event)) or True)
    monkeypatch.setattr(flow_run, "get_run_logger", lambda: logging.getLogger("tests"))
    return found


@pytest.mark.parametrize(("since", "event"), [(None, "failed"), (AT, "failed"), (AT, "still-failing")])
def test_a_candidate_that_failed_fails_each_time_with_its_reasons(left, since, event, caplog):
    begins = "FAIL: regression: worse: slice 0; "
    begins = begins if since is None else f"still failing since 2026-11-01 06:30 UTC: {begins}"
    result = Result(since=since, event=event)
    with pytest.raises(flow_run.StudyFailed) as failed:
        flow_run.publish(result, study="nightly", output="/out")
    assert str(failed.value).startswith(begins)
    assert len(str(failed.value)) <= 300
    again = pickle.loads(pickle.dumps(failed.value))
    assert (str(again), len(again.reasons)) == (str(failed.value), 30)
    assert left[-1] == ("event", f"sigstats.study.{event}")
    assert result.kept == [True]
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR][-1] == "and 10 more"


def test_an_event_that_no_server_takes_is_not_recorded_as_delivered(left, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(flow_run, "get_run_logger", lambda: logging.getLogger("tests"))
    monkeypatch.setattr(flow_run, "_leave", lambda *_: None)
    result = Result()
    address = {prefect.settings.PREFECT_API_URL: "http://127.0.0.1:9/api"}
    with prefect.settings.temporary_settings(address), pytest.raises(flow_run.StudyFailed):
        flow_run.publish(result, study="nightly", output="/out")
    assert result.kept == []


def test_a_candidate_that_passed_emits_no_event(left):
    passed = {"code": 0, "reasons": [], "title": "PASS: no regression"}
    flow_run.publish(Result(**passed, event=None), study="nightly", output="/out")
    assert [kind for kind, *_ in left] == ["markdown"]


def test_a_repaired_fault_completes_the_run_and_emits_an_event(left):
    result = Result(code=0, reasons=[], title="PASS: no regression", event="repaired")
    assert flow_run.publish(result, study="nightly", output="/out").is_completed()
    assert left[-1] == ("event", "sigstats.study.repaired")
    assert result.kept == [True]


def test_a_page_of_this_machine_is_named_with_its_host(left):
    artifacts.leave_artifacts(Result(), study="nightly", output="/out", pages=None)
    ((kind, text),) = left
    assert kind == "markdown"
    assert artifacts.socket.gethostname() in text
    left.clear()
    artifacts.leave_artifacts(Result(), study="nightly", output="/out", pages="https://x.example")
    assert left == [("link", "https://x.example/report.html")]
