"""Votes between models: binomial tests, Agresti's table, statsmodels' logistic regression, ranks that hold at once."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, t
from statsmodels.discrete.discrete_model import Logit

import sigstats
from sigstats.flows.commands import main
from tests.examples import examples
from tests.tables import save

#: Wins of the teams of the rows against those of the columns in 1987 (Agresti 2002, Categorical Data Analysis, 10.10).
TEAMS = ("Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore")
WINS = np.array(
    [
        [0, 7, 9, 7, 7, 9, 11],
        [6, 0, 7, 5, 11, 9, 9],
        [4, 6, 0, 7, 7, 8, 12],
        [6, 8, 6, 0, 6, 7, 10],
        [6, 2, 6, 7, 0, 7, 12],
        [4, 4, 5, 6, 6, 0, 6],
        [2, 4, 1, 3, 1, 7, 0],
    ]
)


def random_order(frame, seed=0):
    """The votes of a frame with the sides of about every other one exchanged."""
    turned = np.random.default_rng(seed).random(len(frame)) < 0.5
    other = {"a": "b", "b": "a", "model_a": "model_b", "model_b": "model_a"}
    sides = frame.model_a.where(~turned, frame.model_b), frame.model_b.where(~turned, frame.model_a)
    winner = frame.winner.where(~turned, frame.winner.replace(other))
    return frame.assign(model_a=sides[0], model_b=sides[1], winner=winner)


def test_a_word_for_a_winner_that_names_another_model_is_asked_about(tmp_path, refused):
    frame = pd.DataFrame({"model_a": ["model_b", "model_b"] * 9, "model_b": ["model_a"] * 18, "winner": "model_a"})
    with pytest.raises(ValueError, match=r"^winner: 'model_a' is not valid; expected another name for this model"):
        sigstats.rank_votes(frame.model_a, frame.model_b, frame.winner)
    frame.to_csv(tmp_path / "v.csv", index=False)
    assert "winner: 'model_a' is not valid; expected another name" in refused("rank", tmp_path / "v.csv")
    same = sigstats.rank_votes(frame.model_b, frame.model_a, frame.winner)  # here it is both
    assert same.models[0] == "model_a"
    with pytest.raises(ValueError, match="winner: 'tie' is not valid; expected another name"):
        sigstats.rank_votes(["tie"] * 4, ["x"] * 4, ["tie", "x", "x", "x"])


def test_a_model_of_votes_in_two_spellings_is_noted(tmp_path, answer):
    frame = pd.DataFrame({"model_a": ["GPT", "gpt"] * 20, "model_b": "Claude", "winner": ["model_a", "tie"] * 20})
    random_order(frame).to_csv(tmp_path / "v.csv", index=False)
    (note,) = answer("rank", tmp_path / "v.csv")["notes"]
    assert note["name"] == "spelled-twice"
    assert note["text"].endswith("are taken as two; write them alike if they are one model")


COUNTED = [39, 15, 34, 16, 15, 32, 37, 16, 8, 31, 29, 28]


@pytest.mark.long
@pytest.mark.parametrize("name", ["votes", "num_votes", "wins", "total", "times", "weight", "how often"])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_counts_of_votes_are_not_read_as_one_vote_per_line(tmp_path, refused, printed, name, ending):
    lines = [(a, b, winner) for a, b in itertools.permutations("xyz", 2) for winner in ("model_a", "model_b")]
    frame, path = pd.DataFrame(lines, columns=["model_a", "model_b", "winner"]), tmp_path / f"v.{ending}"
    save(frame.assign(**{name: COUNTED}), path)
    assert f"{name!r} seems to count" in (text := refused("rank", path))
    assert f"repeat it, as frame.loc[frame.index.repeat(frame[{name!r}])] does" in text
    save(frame.loc[frame.index.repeat(COUNTED)], path)
    assert "by 300 votes" in printed("rank", path)
    others = {"question_id": COUNTED, "turn": [1, 2] * 6, "line": range(12), "judge": [f"j{n}" for n in COUNTED]}
    save(frame.assign(**others), path)
    assert "by 12 votes" in printed("rank", path)


def test_a_rating_of_few_votes_is_no_count(tmp_path, printed):
    """One vote for each of 45 pairs of models, or two for each of four."""
    pairs = list(itertools.combinations([f"m{i}" for i in range(10)], 2))
    for chosen in (pairs, [pair for pair in pairs[:4] for _ in range(2)]):
        frame = pd.DataFrame(chosen, columns=["model_a", "model_b"])
        frame = frame.assign(winner=["model_a", "model_b"] * (len(frame) // 2) + ["tie"] * (len(frame) % 2))
        frame.assign(rating=[*range(5, 0, -1), *range(len(frame) - 5)]).to_csv(tmp_path / "v.csv", index=False)
        assert f"by {len(frame)} votes" in printed("rank", tmp_path / "v.csv")


@pytest.mark.parametrize("column", ["question_id", "prompt"])
def test_a_column_of_questions_that_decide_the_votes_is_noted_whatever_it_is_called(tmp_path, printed, column):
    question = np.arange(100) // 4
    winner = np.where(question % 4 > 0, "model_a", "model_b")
    path = tmp_path / "v.csv"
    pd.DataFrame({column: question, "model_a": "x", "model_b": "y", "winner": winner}).to_csv(path, index=False)
    assert f"rows with equal '{column}' differ alike" in printed("rank", path)


@pytest.fixture(scope="module")
def votes():
    pairs = [(i, j) for i in range(7) for j in range(7) for _ in range(WINS[i, j])]
    return [np.array(TEAMS)[list(each)] for each in zip(*pairs, strict=True)]


def test_scores_and_fit_are_agrestis(votes):
    found = sigstats.rank_votes(*votes, np.full(len(votes[0]), "model_a"))
    assert found.models == TEAMS
    logits = np.array(found.scores) * math.log(10) / 400
    assert (logits - logits[-1]).round(2).tolist() == [1.58, 1.44, 1.29, 1.25, 1.11, 0.68, 0.0]
    assert found.fit_pvalue == pytest.approx(0.3998, abs=1e-4)  # G^2 = 15.74, 15 degrees of freedom


def test_standard_errors_are_those_of_a_logistic_regression(votes):
    """Huber's, as statsmodels has them: each vote a row, of which the first team's column is 1 and the second's -1."""
    first, second = votes
    design = np.array([[(a == team) * 1.0 - (b == team) for team in TEAMS] for a, b in zip(first, second, strict=True)])
    swap = np.arange(len(first)) % 2 == 0
    y, design = np.where(swap, 1.0, 0.0), np.where(swap[:, np.newaxis], design, -design)
    fitted = Logit(y, design[:, :-1]).fit(disp=0, cov_type="HC0")
    found = sigstats.rank_votes(np.where(swap, first, second), np.where(swap, second, first), np.where(swap, "a", "b"))
    centre = np.eye(7)[:, :-1] - 1 / 7
    errors = np.sqrt(np.diag(centre @ fitted.cov_params() @ centre.T))
    widths = (np.array(found.score_high) - found.scores) * math.log(10) / 400 / 1.959964
    assert widths == pytest.approx(errors * math.sqrt(273 / 272), rel=1e-4)


def test_pairs_are_tested_by_the_signs_of_their_votes(votes):
    rng = np.random.default_rng(0)
    winner = rng.choice(["model_a", "model_b", "tie (bothbad)", "TIE"], size=len(votes[0]))
    found = sigstats.rank_votes(*votes, winner)
    frame = pd.DataFrame({"a": votes[0], "b": votes[1], "w": winner})
    for (i, x), (j, y) in itertools.combinations(enumerate(found.models), 2):
        won = sum(
            ((frame.a == one) & (frame.b == other) & (frame.w == word)).sum()
            for one, other, word in ((x, y, "model_a"), (y, x, "model_b"))
        )
        met = frame[((frame.a == x) & (frame.b == y)) | ((frame.a == y) & (frame.b == x))]
        decided = met.w.isin(["model_a", "model_b"]).sum()
        assert found.pvalues[i, j] == pytest.approx(binomtest(won, decided, alternative="greater").pvalue)
        assert found.wins[i, j] + found.wins[j, i] == len(met)


def test_names_of_winners_and_groups_of_one_vote_change_nothing(votes):
    words = np.where(np.arange(273) % 3 == 0, "b", "a")
    named = np.where(words == "a", *votes)
    plain, by_name = sigstats.rank_votes(*votes, words), sigstats.rank_votes(*votes, named)
    grouped = sigstats.rank_votes(*votes, words, groups=np.arange(273))
    assert plain == by_name
    assert grouped.pvalues == pytest.approx(plain.pvalues)
    assert grouped.scores == plain.scores
    assert grouped.fit_pvalue is None
    with pytest.raises(ValueError, match="winner: 'a' is not valid; expected another name for this model"):
        sigstats.rank_votes(["a", "b", "b"], ["b", "a", "a"], ["a", "a", "b"])  # b is the first model, and not it


def test_voters_of_a_file_whose_votes_are_alike_are_told_with_the_pairs_that_remain(tmp_path, answer, printed):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {"voter": np.arange(600) % 30, "lot": rng.integers(0, 30, 600), "model_a": "x", "model_b": "y"}
    )
    frame["winner"] = np.where(frame.voter < 19, "a", "b")  # 20 votes each: 20 (600 - 1) / (600 - 20) = 20.7
    frame = random_order(frame)
    path = tmp_path / "votes.csv"
    frame.to_csv(path, index=False)
    (note,) = answer("rank", path, "--report", tmp_path / "page.html")["notes"]
    assert note["text"].startswith("rows with equal 'voter' differ alike: sums over its 30 values vary 20.7 times")
    assert note["text"].endswith("--group voter (groups) takes them as groups: 0 pairs decided")
    assert "rows with equal &#39;voter&#39;" in (tmp_path / "page.html").read_text()
    assert answer("rank", path, "--group", "voter")["notes"] == []
    frame.assign(voter=rng.integers(0, 30, 600)).to_csv(path, index=False)
    assert "differ alike" not in printed("rank", path)


def test_models_that_never_lost_have_ranks_and_no_scores():
    found = sigstats.rank_votes(["x"] * 12 + ["y", "z"], ["y"] * 12 + ["z", "y"], ["a"] * 14)
    assert found.models[0] == "x"
    assert found.low[0] == 1
    assert np.isnan(found.scores).all()
    assert found.reason == "no scores of Bradley and Terry: x never lost to the other models"


@pytest.mark.parametrize(
    ("a", "b", "winner", "said"),
    [
        (["x", "u"], ["y", "v"], ["a", "b"], r"model_b: no vote connects 'u', 'v' with 'x', 'y'"),
        (["x", "u"], ["y", "u"], ["a", "b"], r"model_b: 'u' is not valid; expected a model other than model_a"),
        (["x", "x"], ["y", "z"], ["a", "y"], r"winner: 'y' is not valid; expected model_a, model_b, tie"),
        (["x", "x"], ["y", "z"], ["left", "right"], r"winner: 'left' is not valid; expected model_a, model_b, tie"),
        (["x", "x"], ["y", "z"], ["a", ""], r"winner: '' is not valid; .*; leave out votes without a winner"),
        (["x", "x"], ["y", "z"], ["a", " "], r"winner: ' ' is not valid; .*; leave out votes without a winner"),
        (["x", "x"], ["y", "z"], ["a"], r"winner: the length is 1; expected 2"),
        (["x", "x"], ["y"], ["a", "a"], r"model_b: the length is 1; expected 2"),
    ],
)
def test_votes_that_make_no_sense_are_named(a, b, winner, said):
    with pytest.raises(ValueError, match=said):
        sigstats.rank_votes(a, b, winner)


def test_a_file_of_votes_is_ranked_by_the_command(tmp_path, votes, answer, printed, refused):
    path = tmp_path / "votes.jsonl"
    winner = np.where(np.arange(273) % 5 == 0, "tie", "model_a")
    frame = pd.DataFrame(
        {"question_id": np.arange(273) // 3, "model_a": votes[0], "model_b": votes[1], "winner": winner}
    )
    frame.to_json(path, orient="records", lines=True)
    direct = sigstats.rank_votes(*votes, winner, groups=np.arange(273) // 3)
    assert answer("rank", path, "--group", "question_id")["low"] == list(direct.low)
    assert "\nRanks of 7 models by 273 votes" in printed("rank", path, "--group", "question_id")
    for options, said in (
        (["--alpha", "2"], "--alpha: 2.0 is not valid"),
        (["--slice", "question_id"], "--slice: is not valid with votes"),
        (["--lower-is-better", "winner"], "--lower-is-better: is not valid with votes"),
        (["--measure", "f1"], "--measure: is not valid with votes"),
        (["--unscored", "drop"], "--unscored: is not valid with votes"),
        (["--by-position"], "--by-position: is not valid with votes"),
        (["--run", "question_id"], "--run: is not valid with votes"),
    ):
        assert refused("rank", path, *options).startswith(f"sigstats: {said}")
    assert "column 'judge' was not found; expected a column of the file" in refused("rank", path, "--group", "judge")
    frame.drop(columns="winner").to_json(path, orient="records", lines=True)
    assert "column 'winner' was not found; expected model_a, model_b, winner" in refused("rank", path)
    frame.drop(columns="model_a").to_json(path, orient="records", lines=True)
    assert (
        "is one file; expected two or more, the --prediction or --model of each model, or votes with model_a"
        in refused("rank", path)
    )


def test_the_page_of_votes_has_the_ranks_and_every_pair_that_met(tmp_path, printed):
    path, target = tmp_path / "votes.csv", tmp_path / "page.html"
    pairs = [("<b>x", "y|z", "a")] * 20 + [("y|z", "w", "tie"), ("w", "y|z", "a"), ("y|z", "w", "a")]
    random_order(pd.DataFrame(pairs, columns=["model_a", "model_b", "winner"])).to_csv(path, index=False)
    assert printed("rank", path, "--report", target).startswith("<b>x and w may each be the best of 3 models.\n")
    page = target.read_text(encoding="utf-8")
    for text in ("&lt;b&gt;x and w may each be", "&lt;b&gt;x never lost", "<td>1.5</td>", "1 of 2 pairs that met is"):
        assert text in page
    assert "never met" in page
    assert "<b>x" not in page
    assert "NaN" not in page


def test_preferences_that_go_round_leave_no_model_best(tmp_path, printed):
    path, target = tmp_path / "votes.csv", tmp_path / "page.html"
    pairs = [(*"xy", "a"), (*"yz", "a"), (*"zx", "a")] * 20
    random_order(pd.DataFrame(pairs, columns=["model_a", "model_b", "winner"])).to_csv(path, index=False)
    assert printed("rank", path, "--report", target).startswith(
        "None of the 3 models is best: another is preferred to each.\n"
    )
    page = target.read_text(encoding="utf-8")
    assert "one score per model is not enough" in page
    assert "are not cyclic" in page


def test_a_model_to_which_another_may_be_preferred_is_not_called_the_best(tmp_path, printed):
    path = tmp_path / "votes.csv"
    pairs = [(*"xy", "a")] * 70 + [(*"xy", "b")] * 30 + [(*"yz", "a")] * 65 + [(*"yz", "b")] * 35
    pairs += [(*"zx", "a")] * 60 + [(*"zx", "b")] * 40  # nobody is preferred to x for certain, z perhaps
    random_order(pd.DataFrame(pairs, columns=["model_a", "model_b", "winner"])).to_csv(path, index=False)
    assert printed("rank", path).startswith("Only x may be the best of 3 models.\n")


def _crossed(rng, voters, items, n, spread):
    """Votes between two equal models of voters with a taste, on items that suit one of them."""
    voter, item = rng.integers(0, voters, n), rng.integers(0, items, n)
    taste, suits = rng.normal(scale=spread, size=voters), rng.normal(scale=spread, size=items)
    return voter, item, np.where(taste[voter] + suits[item] + rng.normal(size=n) > 0, "a", "b")


def test_groups_are_tested_by_their_mean_and_an_unseen_group():
    """Random exponential weights of the groups' sums, and one of a group of the largest size all for the other."""
    rng = np.random.default_rng(8)
    voter, winner = rng.integers(0, 15, 120), np.where(rng.random(120) < 0.75, "a", "b")
    sums = np.bincount(voter, np.where(winner == "a", 1.0, -1.0))
    weights = rng.standard_exponential((200_000, len(sums) + 1))
    below = np.count_nonzero(weights @ np.append(sums, -np.bincount(voter).max()) <= 0) / len(weights)
    found = sigstats.rank_votes(["x"] * 120, ["y"] * 120, winner, groups=voter)
    assert found.models == ("x", "y")
    assert found.pvalues[0, 1] == pytest.approx(below, abs=5 * math.sqrt(below / len(weights)))


def test_one_more_of_many_voters_is_like_those_seen():
    voter = np.repeat(np.arange(120), 10)  # each prefers one model in six votes of ten
    votes = np.where(np.repeat(np.arange(120) < 70, 10), 6, 4)
    winner = np.where(np.tile(np.arange(10), 120) < votes, "a", "b")
    p = sigstats.rank_votes(["x"] * 1200, ["y"] * 1200, winner, groups=voter).pvalues[0, 1]
    # and the chance that no voter is of a kind that makes up one in 25
    assert p == pytest.approx(binomtest(70, 120, alternative="greater").pvalue + 0.96**120)


def test_one_voter_of_as_many_votes_as_all_others_shows_little_of_another_such_voter():
    voter = np.concatenate([np.arange(119), np.full(119, 119)])
    winner = np.where(np.append(np.arange(119) < 75, np.arange(119) % 2 == 0), "a", "b")
    assert sigstats.rank_votes(["x"] * 238, ["y"] * 238, winner, groups=voter).pvalues[0, 1] > 0.1


@pytest.mark.long
def test_equal_models_are_seldom_told_apart_where_voters_and_items_cross():
    rng, trials, wrong, by_voters = np.random.default_rng(3), 250, 0, 0
    for _ in range(trials):
        voter, item, winner = _crossed(rng, 40, 12, 400, 2.0)
        wrong += sigstats.rank_votes(["x"] * 400, ["y"] * 400, winner, groups=voter, items=item).preferred.any()
        by_voters += sigstats.rank_votes(["x"] * 400, ["y"] * 400, winner, groups=voter).preferred.any()
    assert wrong <= 22  # 5% of 250, and three standard errors
    assert by_voters > 22


def test_two_kinds_of_groups_give_the_largest_of_their_pvalues_and_of_students_t():
    rng = np.random.default_rng(5)
    voter, item, winner = _crossed(rng, 9, 12, 80, 1.0)
    names = [["x"] * 80, ["y"] * 80, winner]
    found = sigstats.rank_votes(*names, groups=voter, items=item)
    single = [sigstats.rank_votes(*names, groups=each).pvalues for each in (voter, item)]
    frame = pd.DataFrame({"voter": voter, "item": item, "sign": np.where(winner == "a", 1, -1)})
    squares = [(frame.groupby(by)["sign"].sum() ** 2).sum() for by in ("voter", "item", ["voter", "item"])]
    variance = max(squares[0], squares[1], squares[0] + squares[1] - squares[2])
    value = frame["sign"].sum() / math.sqrt(variance)
    one, other = (0, 1) if found.models[0] == "x" else (1, 0)
    assert found.pvalues[one, other] == pytest.approx(max(*(p[one, other] for p in single), t.sf(value, 8)))
    assert found.pvalues[other, one] == pytest.approx(max(*(p[other, one] for p in single), t.sf(-value, 8)))
    assert found.guarantee == "asymptotic, voters and items cross"
    for groups in (voter, item):
        one_way = sigstats.rank_votes(*names, groups=groups)
        assert found.score_high[0] - found.score_low[0] >= one_way.score_high[0] - one_way.score_low[0] - 1e-9


def test_items_of_one_voter_each_add_nothing():
    rng = np.random.default_rng(6)
    voter, _, winner = _crossed(rng, 9, 12, 80, 1.0)
    names = [["x"] * 80, ["y"] * 80, winner]
    alone = sigstats.rank_votes(*names, groups=voter)
    assert sigstats.rank_votes(*names, groups=voter, items=np.arange(80)) == alone
    assert sigstats.rank_votes(*names, groups=np.arange(80), items=voter) == alone
    assert alone.guarantee == "mean of independent groups and an unseen one; scores asymptotic"
    assert sigstats.rank_votes(*names).guarantee == "exact, votes independent; scores asymptotic"


def _arena(votes):
    """The columns of Chatbot Arena's conversations of 2023."""
    first, second = votes
    rng = np.random.default_rng(7)
    winner = rng.choice(["model_a", "model_b", "tie", "tie (bothbad)"], size=len(first), p=[0.5, 0.3, 0.1, 0.1])
    talk = [{"content": "a, b", "role": "user"}, {"content": "c", "role": "assistant"}]
    return pd.DataFrame(
        {
            "question_id": [f"{number:032x}" for number in range(len(first))],
            "model_a": first,
            "model_b": second,
            "winner": winner,
            "judge": [f"arena_user_{number}" for number in rng.integers(0, 60, len(first))],
            "conversation_a": [talk] * len(first),
            "conversation_b": [talk] * len(first),
            "turn": 1,
            "anony": True,
            "language": "English",
            "tstamp": 1.68e9 + np.arange(len(first)),
        }
    )


@pytest.mark.parametrize("ending", ["jsonl", "parquet", "json"])
def test_chatbot_arenas_columns_are_read(tmp_path, votes, answer, ending):
    frame = _arena(votes)
    path = save(frame, tmp_path / f"arena.{ending}")
    found = answer("rank", path, "--group", "judge", "--item", "question_id")
    direct = sigstats.rank_votes(*votes, frame["winner"], groups=frame["judge"].astype("category").cat.codes)
    assert found["low"] == list(direct.low)
    assert found["pvalues"] == direct.pvalues.tolist()
    # Each question is one user's.
    assert found["guarantee"] == "mean of independent groups and an unseen one; scores asymptotic"


def test_three_columns_of_a_winner_are_read(tmp_path, votes, answer, refused):
    """As in lmsys/lmsys-arena-human-preference-55k."""
    frame, path = _arena(votes), tmp_path / "train.csv"
    words = frame["winner"].replace("tie (bothbad)", "tie")
    three = {f"winner_{word}": (words == word).astype(int) for word in ("model_a", "model_b", "tie")}
    frame = frame[["question_id", "model_a", "model_b"]].assign(prompt='["a, ""b"""]', **three)
    frame.to_csv(path, index=False)
    assert answer("rank", path)["wins"] == sigstats.rank_votes(*votes, words).wins.tolist()
    frame.assign(winner_tie=lambda each: 2 - each["winner_tie"]).to_csv(path, index=False)
    assert "row 1: expected 1 in one of" in refused("rank", path)
    frame.assign(winner_tie=1).to_csv(path, index=False)
    assert "row 1: expected 1 in one of winner_model_a, winner_model_b, winner_tie" in refused("rank", path)


@pytest.mark.parametrize("by_name", [False, True])
def test_columns_of_a_winner_that_contradict_the_winner_are_refused(tmp_path, votes, answer, refused, by_name):
    frame, path = _arena(votes), tmp_path / "train.csv"
    several = pd.get_dummies(frame["winner"], prefix="winner")  # both kinds of ties
    if by_name:
        frame["winner"] = np.select([frame["winner"] == f"model_{side}" for side in "ab"], votes, frame["winner"])
    frame = frame[["question_id", "model_a", "model_b", "winner"]]
    expected = sigstats.rank_votes(*votes, frame["winner"]).wins.tolist()
    for agreeing in (frame.join(several), frame.drop(columns="winner").join(several), frame.join(several.iloc[:, 2:])):
        agreeing.to_csv(path, index=False)
        assert answer("rank", path)["wins"] == expected
    swapped = {f"winner_model_{side}": several[f"winner_model_{other}"] for side, other in ("ab", "ba")}
    one, other = (several[name].to_numpy() for name in swapped)
    for changed, wrong in (
        (swapped, one | other),
        ({"winner_model_b": False}, other),
        ({"winner_tie": True}, ~several["winner_tie"].to_numpy() & ~several["winner_tie (bothbad)"].to_numpy()),
    ):
        frame.join(several.assign(**changed).astype(str).map(str.upper)).to_csv(path, index=False)  # as Excel does
        row, name = 1 + int(wrong.argmax()), next(iter(changed))
        assert f"row {row}: 'winner' and '{name}' differ; correct or remove one column" in refused("rank", path)


@given(seed=st.integers(0, 10**6), copies=st.integers(0, 40))
@settings(max_examples=examples(15), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_votes_that_a_voter_gave_twice_are_counted_in_a_note(tmp_path, answer, seed, copies):
    """Rows with question, voter, models and winner of an earlier row; votes without other columns repeat by chance."""
    rng, n = np.random.default_rng(seed), 200
    pairs = np.array([rng.permutation(4)[:2] for _ in range(n)])
    frame = pd.DataFrame(np.array(list("abcd"))[pairs], columns=["model_a", "model_b"])
    frame["winner"] = rng.choice(["model_a", "model_b", "tie"], n)
    frame = frame.assign(question=rng.permutation(n), judge=[f"v{voter}" for voter in rng.integers(0, 20, n)])
    frame = pd.concat([frame, frame.sample(copies, random_state=seed % 97)]).sample(frac=1, random_state=1)

    def told(frame, *options):
        frame.to_csv(path := tmp_path / "votes.csv", index=False)
        return [note["text"] for note in answer("rank", path, *options)["notes"] if note["name"] == "duplicates"]

    for columns, options in (([], []), (["judge"], []), (["question", "judge"], ["--group", "judge"])):
        assert told(frame[["model_a", "model_b", "winner", *columns]], *options) == []
    texts, notes = told(frame), told(frame, "--group", "judge", "--item", "question")
    again = f"{copies} of {n + copies} votes share the judge, the question and both models with another"
    assert notes == [f"{again}; remove them if they are copies"] * (copies > 0)
    told = f"{copies} of {n + copies} votes equal others in all columns and may be copies"
    assert texts == [f"{told}; remove them, or add --group VOTER"] * (copies > 0)


@pytest.mark.parametrize(("wins", "decided"), [(18, False), (24, True)])
def test_a_preference_that_only_copies_decide_is_doubted_in_the_first_line(tmp_path, capsys, wins, decided):
    frame = pd.DataFrame({"id": range(27), "model_a": "alpha", "model_b": "beta"})
    frame = random_order(frame.assign(winner=["a"] * wins + ["b"] * (27 - wins)))
    twice = pd.concat([frame, frame])
    page = tmp_path / "page.html"
    assert (binomtest(wins, 27, alternative="greater").pvalue <= 0.025) == decided
    assert main(["rank", str(save(twice, tmp_path / "votes.csv")), "--report", str(page)]) == 0
    doubt = "" if decided else ", but not without the votes that may be copies"
    assert capsys.readouterr().out.startswith(f"alpha is the best of 2 models{doubt}.\n")
    assert ("Take alpha." in page.read_text(encoding="utf-8")) == decided


def test_items_are_of_votes_alone(tmp_path, refused):
    frame = pd.DataFrame({"id": range(30), "label": [0, 1] * 15, "prediction": [0, 1] * 15})
    paths = [tmp_path / f"{name}.csv" for name in "ab"]
    for path in paths:
        frame.to_csv(path, index=False)
    assert "--item: is only valid with one file of votes" in refused("rank", *paths, "--item", "id")


def test_votes_that_are_there_twice_with_the_sides_exchanged_are_refused(tmp_path, refused):
    rng = np.random.default_rng(9)
    votes = pd.DataFrame({"model_a": ["x", "y", "z"] * 20, "model_b": ["y", "z", "x"] * 20})
    votes["winner"] = rng.choice(["model_a", "model_b", "tie"], 60)
    mirrored = votes.rename(columns={"model_a": "model_b", "model_b": "model_a"})
    mirrored["winner"] = mirrored["winner"].replace({"model_a": "model_b", "model_b": "model_a"})
    halves = pd.concat([votes, mirrored], ignore_index=True)
    turns = pd.concat([votes, mirrored]).sort_index(kind="stable").reset_index(drop=True)
    turns.to_csv(tmp_path / "votes.csv", index=False)
    told = "all 120 occur twice with the sides exchanged; leave out one of each pair"
    assert told in refused("rank", tmp_path / "votes.csv")
    by_question = halves.assign(question=rng.permutation(60).tolist() * 2).sample(frac=1, random_state=1)
    by_question.to_csv(tmp_path / "votes.csv", index=False)
    assert told in refused("rank", tmp_path / "votes.csv")
    for both in (halves, turns):
        columns = [both[name] for name in ("model_a", "model_b", "winner")]
        with pytest.raises(ValueError, match=told):
            sigstats.rank_votes(*columns)
        items = np.unique(both.index % 60 if both is halves else both.index // 2, return_inverse=True)[1]
        assert sigstats.rank_votes(*columns, items=items).n == 120
    assert sigstats.rank_votes(*(votes[name] for name in votes)).n == 60


def _sheet(seed, *, first=0.6, better=0.0, always=True, voters=200, n=3000):
    """Votes between three models by raters who take the first answer in that share; `new` is `better`, and first."""
    rng = np.random.default_rng(seed)
    new, other = np.arange(n) % 3 < 2, np.where(rng.random(n) < 0.5, "old1", "old2")
    rest = np.where(other == "old1", "old2", "old1")
    ahead = new if always else new & (rng.random(n) < 0.5)
    one, two = np.where(ahead, "new", other), np.where(ahead, other, np.where(new, "new", rest))
    chance = first + better * ((one == "new") * 1.0 - (two == "new"))
    winner = np.where(rng.random(n) < chance, "model_a", "model_b")
    return pd.DataFrame({"model_a": one, "model_b": two, "winner": winner, "judge": np.arange(n) % voters})


def _names(ranking):
    return [note.name for note in ranking.notes if note.name.startswith("positions")]


def _rank(frame, **options):
    return sigstats.rank_votes(frame.model_a, frame.model_b, frame.winner, **options)


def test_a_model_that_is_always_first_is_not_called_the_best_if_position_matters(tmp_path, answer, printed):
    frame, path, target = _sheet(4), tmp_path / "votes.csv", tmp_path / "page.html"
    frame.to_csv(path, index=False)
    result = _rank(frame, groups=frame.judge)
    assert (result.low[0], result.models[0], _names(result)) == (1, "new", ["positions-matter"])
    (note,) = result.notes
    assert note.startswith(
        "new was model_a in 2,000 of 2,000 votes; in the 1,000 decided votes of pairs that met in both"
    )
    old = frame[frame.model_a != "new"]
    wins = [(old.winner[old.model_a == name] == "model_a").mean() for name in ("old1", "old2")]
    assert f"model_a wins {50 * sum(wins):.1f}% at equal positions (p = " in note
    for options in ([], ["--group", "judge"]):
        text = printed("rank", path, *options, "--report", target)
        assert text.startswith("Undecided: new is the best of 3 models, or the positions of the answers decided")
        assert "new was model_a in 2,000 of 2,000 votes; in the 1,000 decided" in text
    assert "Ask again, with the answers in random order." in target.read_text(encoding="utf-8")
    assert answer("rank", path)["notes"] == [{"name": "positions-matter", "text": str(note)}]


def test_columns_that_may_be_roles_leave_the_best_model_with_a_condition(tmp_path, printed):
    frame, path = _sheet(4), tmp_path / "votes.csv"
    two = frame[frame.model_a == "new"].assign(model_b="old")
    two.to_csv(path, index=False)
    assert printed("rank", path).startswith("new is the best of 2 models if voters saw the answers in random order.\n")
    (note,) = _rank(two).notes
    assert note.name == "positions-unknown"
    assert "no two models met in both orders" in note


def test_a_preference_that_position_cannot_explain_remains(tmp_path, printed):
    frame = _sheet(4, first=0.5, better=0.3)
    frame.to_csv(tmp_path / "votes.csv", index=False)
    assert _names(_rank(frame)) == ["positions"]
    text = printed("rank", tmp_path / "votes.csv")
    assert text.startswith("new is the best of 3 models.\n")
    assert "new was model_a in 2,000 of 2,000 votes; in the 1,000" in text
    assert _names(_rank(_sheet(4, first=0.55, better=0.4))) == ["positions"]  # it explains 0.1 of a margin of 0.9


def test_cycles_of_positions_are_noted_though_each_model_is_first_in_half_of_its_votes():
    pairs = [("x", "y"), ("y", "z"), ("z", "x")] * 40
    winner = np.where(np.random.default_rng(1).random(120) < 0.6, "a", "b")
    (note,) = sigstats.rank_votes(*np.transpose(pairs), winner).notes
    assert note.startswith("x was model_a in 40 of 40 votes with y, y was model_a in 40 of 40 votes with z and 1 more;")


@pytest.mark.long
def test_random_orders_are_seldom_noted():
    """At most 0.1% of files: 3 of 160 or more have a probability of 0.0006."""
    noted = sum(bool(_names(_rank(_sheet(seed, always=False, n=90)))) for seed in range(160))
    assert noted < 3


@pytest.mark.long
@pytest.mark.parametrize("first", [0.6, 0.75])
def test_equal_models_are_seldom_best_by_their_position(first):
    """With voters: 5% of 50 files have more than 8 with a probability of 0.0008; without notes `new` always wins."""
    results = [_rank(frame, groups=frame.judge) for frame in (_sheet(seed, first=first) for seed in range(50))]
    assert sum(result.low.count(1) == 1 for result in results) > 45
    assert sum(_names(result) != ["positions-matter"] and result.low.count(1) == 1 for result in results) <= 8
