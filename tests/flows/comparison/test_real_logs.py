"""`sigstats compare` of logs that other people's programs wrote: what is compared, or what it is refused with."""

import copy
import gzip
import json
import shutil
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from sigstats import ComparisonRule
from sigstats.flows.commands import main

POPULARITY = "inspect/popularity-100.eval"
MIND = "inspect/theory-of-mind-100.eval"
SECURITY = "inspect/security-guide-16.eval"
GEOMETRY = "lm-evaluation-harness/math-geometry-479.jsonl.gz"
NUMBERS = "lm-evaluation-harness/math-number-theory-540.jsonl.gz"
GSM8K = "lm-evaluation-harness/gsm8k-two-filters-10.jsonl"
PERTURBED = "lm-evaluation-harness/samples-math-perturbed.jsonl"
PROMPTFOO = "promptfoo/output.json"
HELLASWAG, PHILOSOPHY, NARRATIVE = (
    f"helm/{name}/per_instance_stats.json" for name in ("commonsense-hellaswag", "mmlu-philosophy", "narrative_qa")
)
DROP, EXACT = ["--unmatched", "drop"], ["--score", "exact_match"]
STRICT, FLEXIBLE = ["--score", "exact_match,strict-match"], ["--score", "exact_match,flexible-extract"]

#: Each log, what has to be named in it, and how many answers of it are right, as the summaries of Inspect, HELM (by
#: splits) and promptfoo say; for lm-evaluation-harness below, as its lines are counted by hand.
KNOWN = [
    (POPULARITY, [], 63, 100),
    (MIND, [], 83, 100),
    (SECURITY, [], 11, 16),
    ("inspect/scored-10.eval", [], 8, 10),
    ("inspect/two-epochs.eval", [], 3, 4),
    ("inspect/arc-qwen-3.json", [], 1, 3),
    ("inspect/arc-sonnet-5.json", [], 5, 5),
    ("inspect/cancelled-3.json", [], 2, 3),
    (HELLASWAG, EXACT, 3, 10),
    (PHILOSOPHY, EXACT, 1, 10),
    (NARRATIVE, EXACT, 0, 5),
    (PROMPTFOO, [], 4, 6),
]

#: What is refused, and with which words; two logs, or one and what is changed in the other.
REFUSED = [
    ([POPULARITY, MIND], "task 'theory_of_mind' is not that of {0}, 'popularity'; expected the same task"),
    ([SECURITY, "inspect/arc-qwen-3.json"], "task 'inspect_evals/arc_easy' is not that of"),
    ([POPULARITY, "inspect/float-score.eval"], "task 'inspect_test_utils/guess_number' is not that of"),
    ([GEOMETRY, NUMBERS], "id '0': target '\\\\frac{{1}}{{11}}' is not that of {0}, '\\\\frac34' (and 474 more)"),
    ([GEOMETRY, NUMBERS, *DROP], "expected the same questions (--allow-different-tasks"),
    ([GEOMETRY, PERTURBED], "id '0': target '3' is not that of {0}, '\\\\frac34' (and 9 more)"),
    ([HELLASWAG, PHILOSOPHY, *EXACT], "task 'mmlu:subject=philosophy,method=multiple_choice_joint' is not that of"),
    ([PHILOSOPHY, NARRATIVE, *EXACT], "task 'narrative_qa' is not that of"),
    ([PROMPTFOO, POPULARITY, *DROP], "{1}: is a log of Inspect, and {0} is one of promptfoo"),
    ([GEOMETRY, POPULARITY, *DROP], "{1}: is a log of Inspect, and {0} is one of lm-evaluation-harness"),
    ([POPULARITY, "inspect/scored-10.eval"], "ids '100', '11', '12' and 87 more are only in this file"),
    (["inspect/no-scores-10.eval"] * 2, "none of its 10 answers has a score; expected a log with scores"),
    (["inspect/cvebench-no-score.json"] * 2, "none of its 1 answers has a score (\"RuntimeError('No services"),
    (["inspect/errored-sample.json"] * 2, "none of its 1 answers has a score"),
    ([POPULARITY, POPULARITY, "--score", "judge"], "score: 'judge' was not found; expected one of match"),
    ([POPULARITY, POPULARITY, "--score", "match,strict"], "filter: 'strict' is not valid; a log of Inspect has none"),
    ([POPULARITY, POPULARITY, "--model", "gpt-5"], "model: 'gpt-5' was not found; expected 'openai/gpt-4o-mini'"),
    ([POPULARITY, POPULARITY, "--epoch", "epoch"], "epoch: 'epoch' is not valid for a log of Inspect"),
    (
        [GSM8K, GSM8K],
        "score: there are 2; choose one of exact_match,strict-match, exact_match,flexible-extract (--score",
    ),
    (
        [GSM8K, GSM8K, "--score", "exact_match,none"],
        "filter: 'none' was not found; expected one of strict-match, flexible-extract",
    ),
    ([GEOMETRY, GEOMETRY, *STRICT], "filter: 'strict-match' was not found; expected one of none"),
    ([GEOMETRY, GEOMETRY, "--score", "acc"], "score: 'acc' was not found; expected one of exact_match"),
    ([NARRATIVE, NARRATIVE], "score: there are 6; choose one of exact_match, quasi_exact_match, f1_score"),
    ([NARRATIVE, NARRATIVE, "--score", "exact_match@5"], "score: 'exact_match@5' was not found; expected one of exact"),
    ([PROMPTFOO, PROMPTFOO, "--model", "gpt"], "model: 'gpt' was not found; expected 'Cat Azure OpenAI'"),
    (["inspect", "inspect"], "--model: there are 7; choose one of"),
    (
        ["lm-evaluation-harness"] * 2,
        "score: there are 4; choose one of exact_match,strict-match, exact_match,flexible-extract",
    ),
    (["", ""], "choose one by a pattern or a separate folder"),
    (
        ["lm-evaluation-harness/results-math-perturbed.json"] * 2,
        "looks like the results of lm-evaluation-harness without answers; run with --log_samples",
    ),
    (["helm/narrative_qa/stats.json"] * 2, "looks like HELM's stats.json; the scores are in per_instance_stats.json"),
    (["helm/narrative_qa/run_spec.json"] * 2, "looks like HELM's run_spec.json; the scores are in"),
    (["helm/narrative_qa/scenario_state.json"] * 2, "looks like HELM's scenario_state.json; the scores are in"),
    ([POPULARITY, ("another scorer", POPULARITY)], "scorer 'judge' is not that of {0}, 'match'; expected the same"),
    ([POPULARITY, ("another scorer", POPULARITY), "--score", "match"], "score: 'match' was not found; expected one of"),
    ([GEOMETRY, ("another scorer", GEOMETRY)], "metric 'judge' is not that of {0}, 'exact_match'"),
    ([GEOMETRY, ("another filter", GEOMETRY)], "filter 'strict' is not that of {0}, 'none'"),
    ([POPULARITY, ("two scorers", POPULARITY)], "score: there are 2; choose one of match, judge (--score NAME"),
    (
        [POPULARITY, ("two scorers", POPULARITY), "--score", "all", "--higher-is-better", "judge"],
        "score: 'judge' was not found, but exists in",
    ),
    ([POPULARITY, ("another target", POPULARITY)], "id '1': target 'else' is not that of {0}, ' Yes'; expected"),
    ([GEOMETRY, ("another target", GEOMETRY)], "id '0': target 'else' is not that of {0}"),
    ([POPULARITY, ("failed", POPULARITY)], "1 of 100 answers failed ('boom'): id '1'; add --unscored wrong"),
    ([GEOMETRY, ("failed", GEOMETRY)], "1 of 479 answers have no score 'exact_match': id '0'; add --"),
    ([GEOMETRY, ("twice", GEOMETRY)], "1 of 480 answers repeat an id: id '0'; add --duplicates first, last or all"),
]

#: What is compared: the rows, the items, both means, and who said so.
COMPARED = [
    ([POPULARITY, "inspect/scored-10.eval", *DROP], 10, None, (0.8, 0.8), {"scorer": "match", "epochs": "1"}),
    ([POPULARITY, "inspect/two-epochs.eval", *DROP], 2, 2, (0.5, 0.75), {"scorer": "match"}),
    (["inspect/arc-qwen-3.json", "inspect/arc-sonnet-5.json", *DROP], 3, None, (1 / 3, 1), {"scorer": "choice"}),
    ([POPULARITY, ("flipped", POPULARITY)], 100, None, (0.63, 0.64), {"task": "popularity", "scorer": "match"}),
    ([POPULARITY, ("failed", POPULARITY), "--unscored", "drop"], 99, None, (63 / 99, 63 / 99), {"scorer": "match"}),
    ([MIND, ("failed", MIND), "--unscored", "wrong"], 100, None, (0.83, 0.82), {"scorer": "model_graded_fact"}),
    ([("epochs", POPULARITY), ("flipped epoch", POPULARITY)], 300, 100, (0.63, 0.63 + 1 / 300), {"epochs": "3"}),
    ([("epochs", POPULARITY), ("flipped epoch", POPULARITY), "--group", "id"], 300, 100, (0.63, 0.63 + 1 / 300), {}),
    ([POPULARITY, ("flipped epoch", POPULARITY)], 100, 100, (0.63, 0.63 + 1 / 300), {"scorer": "match"}),
    ([POPULARITY, ("two scorers", POPULARITY), "--score", "match"], 100, None, (0.63, 0.63), {"scorer": "match"}),
    ([GEOMETRY, ("flipped", GEOMETRY)], 479, None, (0, 1 / 479), {"metric": "exact_match", "filter": "none"}),
    ([GSM8K, ("flipped", GSM8K), *STRICT], 10, None, (0.1, 0.2), {"filter": "strict-match"}),
    ([GSM8K, ("flipped", GSM8K), *FLEXIBLE], 10, None, (0.8, 0.8), {"filter": "flexible-extract"}),
    ([HELLASWAG, ("flipped", HELLASWAG), *EXACT], 10, None, (0.3, 0.4), {"statistic": "exact_match"}),
    ([PROMPTFOO, ("flipped", PROMPTFOO)], 6, None, (4 / 6, 3 / 6), {"score": "success"}),
    (["inspect/*-100.eval", "inspect/*-100.eval"], 200, None, (0.73, 0.73), {"scorer": "match, model_graded_fact"}),
]


_LEAST = ComparisonRule.__dataclass_fields__["smallest_slice"]


@dataclass(frozen=True, kw_only=True)
class AnyNumberOfRows(ComparisonRule):
    """The usual rule without a smallest number of rows, of which these logs have few."""

    smallest_slice: int = field(default=1, metadata=_LEAST.metadata)


@pytest.fixture(autouse=True)
def any_number_of_rows(monkeypatch):
    monkeypatch.setattr("sigstats.comparison.rule.ComparisonRule", AnyNumberOfRows)


@pytest.fixture
def logs(shared_data):
    folder = shared_data / "logs"
    if not folder.is_dir():
        pytest.skip("no real logs in the shared data")
    return folder


CASES = [
    *(
        pytest.param([log, log, *named], (n, None, (right / n, right / n), {}), id=f"{log} itself")
        for log, named, right, n in KNOWN
    ),
    *(pytest.param(options, said, id=f"refused: {said[:60]}") for options, said in REFUSED),
    *(pytest.param(options, wanted, id=" ".join(map(str, options))) for options, *wanted in COMPARED),
]


@pytest.mark.long
@pytest.mark.parametrize(("options", "wanted"), CASES)
def test_what_is_meant_is_compared_or_refused(options, wanted, logs, tmp_path, capsys):
    files = [made(each, logs, tmp_path) for each in options[:2]]
    if files[0] == files[1]:
        files[1] = str(shutil.copytree(Path(files[0]).parent, tmp_path / "copy") / Path(files[0]).name)
    target = tmp_path / "found.json"
    code = main(["compare", *files, *options[2:], "--json", str(target)])
    said = capsys.readouterr()
    if isinstance(wanted, str):
        assert (code, said.out, said.err.count("\n"), target.exists()) == (2, "", 1, False)
        assert wanted.format(*files) in said.err
        return
    n, items, means, about = wanted
    found = json.loads(target.read_text())
    row = found["rows"][0]
    assert (code, row["n"]) == (0, n)
    assert (row["baseline"], row["candidate"]) == pytest.approx(means, rel=1e-12, abs=1e-15)
    assert said.out.startswith("INCONCLUSIVE: ")
    assert ("Beware: both inputs have the same content" in said.out) == (options[0] == options[1])
    assert items is None or row["items"] == items
    assert about.items() <= found["subjects"]["baseline"].items()


def made(log, logs, folder):
    """A log as it is, or with one change, as the program that wrote it would have written it."""
    if isinstance(log, str):
        return str(logs / log)
    change, path = log
    target = folder / f"{change.replace(' ', '-')}{''.join(Path(path).suffixes)}"
    source = logs / path
    if path.endswith(".eval"):
        with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
            for name in old.namelist():
                if not name.startswith("samples/"):
                    new.writestr(name, old.read(name))
                    continue
                sample = json.loads(old.read(name))
                for bulk in ("events", "messages", "attachments"):
                    del sample[bulk]
                for each in changed_sample(change, sample):
                    new.writestr(f"samples/{each['id']}_epoch_{each['epoch']}.json", json.dumps(each))
    elif path.endswith((".jsonl", ".gz")):
        text = (gzip.decompress(source.read_bytes()) if path.endswith(".gz") else source.read_bytes()).decode()
        lines = changed_lines(change, [json.loads(line) for line in text.splitlines()])
        content = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
        target.write_bytes(gzip.compress(content) if path.endswith(".gz") else content)
    else:
        target.write_text(json.dumps(with_one_flipped(json.loads(source.read_text()))))
        if path.startswith("helm"):
            for beside in ("run_spec.json", "scenario_state.json"):
                (folder / beside).write_bytes((source.parent / beside).read_bytes())
    return str(target)


def changed_sample(change, sample):
    """The answers that stand for an answer of Inspect; item 1 was wrong."""
    ((name, score),) = sample["scores"].items()
    epochs = [{**copy.deepcopy(sample), "epoch": epoch} for epoch in (1, 2, 3)]
    judged = {"judge": {**score, "value": 0.3}}
    if change == "epochs" or (change == "flipped epoch" and sample["id"] != 1):
        return epochs
    if change == "flipped epoch":
        epochs[1]["scores"][name]["value"] = "C"
        return epochs
    if change == "another scorer":
        return [{**sample, "scores": {"judge": score}}]
    if change == "two scorers":
        return [{**sample, "scores": {name: score, **judged}}]
    if sample["id"] != 1:
        return [sample]
    return {
        "flipped": [{**sample, "scores": {name: {**score, "value": "C"}}}],
        "another target": [{**sample, "target": "else"}],
        "failed": [{**sample, "scores": {}, "error": {"message": "boom", "traceback": "", "traceback_ansi": ""}}],
    }[change]


def changed_lines(change, lines):
    """The lines that stand for those of lm-evaluation-harness."""
    first, *rest = lines
    if change == "another scorer":
        return [
            {
                **{k: v for k, v in line.items() if k != "exact_match"},
                "metrics": ["judge"],
                "judge": line["exact_match"],
            }
            for line in lines
        ]
    if change == "another filter":
        return [{**line, "filter": "strict"} for line in lines]
    if change == "twice":
        return [*lines, first]
    value = {"flipped": 1 - first["exact_match"], "failed": None}.get(change, first["exact_match"])
    return [{**first, "exact_match": value, **({"target": "else"} if change == "another target" else {})}, *rest]


def with_one_flipped(log):
    """The results of promptfoo, or the statistics of HELM, with the first answer turned round."""
    if isinstance(log, dict):
        result = log["results"]["results"][0]
        result["success"] = not result["success"]
        return log
    (stat,) = (stat for stat in log[0]["stats"] if stat["name"]["name"] == "exact_match")
    stat["mean"] = stat["sum"] = 1 - stat["mean"]
    return log
