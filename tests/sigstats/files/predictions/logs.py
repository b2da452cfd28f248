"""Made logs of evaluations for the tests."""

import json
import zipfile


def inspect_log(path, answers, *, task="t", model="m", samples=None, **about):
    """A log of Inspect; `answers` are (id, epoch, scores), or samples in full; .eval where the path says so."""
    samples = [
        {
            "id": item,
            "epoch": epoch,
            "input": f"q{item}",
            "target": "x",
            "scores": {k: {"value": v} for k, v in s.items()},
        }
        for item, epoch, s in answers
    ] + (samples or [])
    header = {"version": 2, "status": "success", "eval": {"task": task, "model": model}, **about}
    if path.suffix == ".eval":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("header.json", json.dumps(header))
            for sample in samples:
                archive.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", json.dumps(sample))
    else:
        path.write_text(json.dumps({**header, "samples": samples}))
    return str(path)


def harness_log(path, documents):
    """Samples of lm-evaluation-harness; each document is what is written beside the keys that all have."""
    lines = [
        {"doc_id": number, "doc": {"q": number}, "target": "x", "resps": [], "filtered_resps": [], **document}
        for number, document in enumerate(documents)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)
