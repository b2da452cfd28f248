"""Notes are texts that keep their names wherever results go."""

import copy
import pickle

import pytest

from sigstats._common.messages import Note, hint, notes_as_objects


def test_a_note_is_a_text_that_keeps_its_name() -> None:
    note = Note("dropped-rows", "7 rows were dropped")
    for same in (note, copy.deepcopy(note), pickle.loads(pickle.dumps(note)), pickle.loads(pickle.dumps(note, 2))):
        assert (same, same.name, repr(same)) == ("7 rows were dropped", "dropped-rows", "'7 rows were dropped'")
    of_file = note.of("b.csv")
    assert notes_as_objects([of_file]) == [{"name": "dropped-rows", "text": "b.csv: 7 rows were dropped"}]


@pytest.mark.parametrize(
    ("typed", "names", "told"),
    [
        ("gpt-4o-m", ["gpt-4o", "gpt-4o-mini"], "did you mean 'gpt-4o-mini'?"),
        ("gpt-4o-m", ["gpt-4o", "gpt-4o-mini", "gpt-4o-max"], "expected one of gpt-4o, gpt-4o-mini, gpt-4o-max"),
        ("lable", ["label", "id"], "did you mean 'label'?"),
        ("score_c", ["score_a", "score_b"], "expected one of score_a, score_b"),
    ],
)
def test_a_hint_names_what_was_begun_and_all_names_if_several_are_near(typed, names, told) -> None:
    assert hint(typed, names).replace("'", "") == told.replace("'", "")
