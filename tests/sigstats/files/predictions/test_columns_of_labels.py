"""Columns that only the file of labels has are searched for groups and training rows, as those of predictions are."""

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def answers(tmp_path):
    """Answers of two models to 600 rows of 60 patients; a model is right or wrong on all rows of a patient."""
    rng = np.random.default_rng(1)
    label, patient = rng.integers(0, 2, 600), np.arange(600) // 10
    frames = [pd.DataFrame({"id": np.arange(600), "label": label, "patient": patient, "split": "test"})] * 2
    for place, (frame, share) in enumerate(zip(frames, (0.2, 0.3), strict=True)):
        wrong = (rng.random(60) < share)[patient]
        frames[place] = frame.assign(prediction=np.where(wrong, 1 - label, label))
        frames[place].loc[:99, "split"] = "train"
    truth = frames[0][["id", "label", "patient", "split"]]
    for frame, name in zip(frames, "ab", strict=True):
        frame.to_csv(tmp_path / f"whole_{name}.csv", index=False)
        frame[["id", "prediction"]].sample(frac=1, random_state=2).to_csv(tmp_path / f"{name}.csv", index=False)
    pd.concat([truth, truth.tail(20).assign(id=np.arange(20) + 600)]).to_csv(tmp_path / "labels.csv", index=False)
    return tmp_path


@pytest.mark.parametrize("command", ["compare", "check"])
def test_they_give_the_same_notes_as_columns_of_predictions(answers, answer, command):
    bar = ("--at-least", "0.7") * (command == "check")
    apart, whole = (
        answer(command, *[answers / f"{name}{side}.csv" for side in "ab"[: 2 - len(bar) // 2]], *options, *bar)
        for name, options in (("", ("--labels", answers / "labels.csv")), ("whole_", ()))
    )
    texts = [[note["text"] for note in found["notes"]] for found in (apart, whole)]
    assert any(text.startswith("100 of 600 rows have 'train' in column 'split'") for text in texts[0])
    of_groups = [[text for text in some if "--group patient" in text] for some in texts]
    assert len(of_groups[0]) == 1
    assert of_groups[0] == of_groups[1]
