"""Notes are texts that keep their names wherever results go."""

import copy
import pickle

from sigstats._common.messages import Note, notes_as_objects


def test_a_note_is_a_text_that_keeps_its_name() -> None:
    note = Note("dropped-rows", "7 rows were dropped")
    for same in (note, copy.deepcopy(note), pickle.loads(pickle.dumps(note)), pickle.loads(pickle.dumps(note, 2))):
        assert (same, same.name, repr(same)) == ("7 rows were dropped", "dropped-rows", "'7 rows were dropped'")
    of_file = note.of("b.csv")
    assert notes_as_objects([of_file]) == [{"name": "dropped-rows", "text": "b.csv: 7 rows were dropped"}]
