"""What test sets are drawn from: simulated systems, eight outcomes, events of classes and of categories."""

import shutil
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import f1_score

import sigstats
from sigstats.joint.events import JointEvents
from sigstats.joint.outcomes import JointOutcomes
from sigstats.measures.measure import as_measure
from sigstats.proportions import dcf_test, proportion_test
from sigstats.tasks.calibration import computed, subsample
from sigstats.tasks.calibration.population import EventPopulation, Population, random_classifiers
from sigstats.tasks.calibration.populations import tests as trials
from sigstats.tasks.calibration.populations.tests import exact_rate, null_holds
from sigstats.tasks.calibration.work import AppliedTest, Computed, Counted, OnTestSets, Source
from sigstats.tasks.fan_out import cell_of, fanout
from sigstats.tasks.record import Named
from sigstats.tasks.storage.data import read_data, write_data
from sigstats.tasks.storage.store import Store

from ...examples import examples


def test_sturms_systems_by_enumeration_of_all_assignments():
    for classes, right in ((10, 0.03), (3, 0.0), (2, 1.0), (4, 0.5)):
        found = np.zeros(4)
        for a in range(classes):  # the true class is 0
            for b in range(classes):
                chance = (1 - right) / classes + right * (b == 0)
                found[(a != 0) + 2 * (b != 0)] += chance / classes
        population = random_classifiers(classes, right)
        assert np.allclose(population.outcomes, [*found, 0, 0, 0, 0], rtol=1e-14, atol=0)
        assert null_holds(population, AppliedTest(test="mcnemar")) == (right == 0)


def test_swapping_exchanges_the_outputs_of_each_row_at_random():
    population = Population(outcomes=(50, 400, 100, 10, 5, 300, 20, 115), swapped=True)
    drawn = population.draw(200, np.random.default_rng(3), 4000)
    assert (drawn.sum(axis=1) == 200).all()
    mean = drawn.mean(axis=0)
    expected = 0.2 * np.array([50, 250, 250, 10, 5, 160, 160, 115])
    # A count of 200 draws has at most the variance 50, its mean over 4,000 test sets a standard error below 0.12.
    assert (np.abs(mean - expected) < 6 * 0.12).all()
    for measure in ("accuracy", "f1"):
        assert population.difference(measure) == 0
    plain = Population(outcomes=population.outcomes)
    a, b = JointOutcomes(*plain.outcomes).confusion_a, JointOutcomes(*plain.outcomes).confusion_b
    assert plain.difference("f1") == pytest.approx(as_measure("f1")(*b) - as_measure("f1")(*a))
    assert plain.difference("accuracy") == pytest.approx(as_measure("accuracy")(*b) - as_measure("accuracy")(*a))
    assert null_holds(population, AppliedTest(test="bootstrap", measure="f1"))
    assert exact_rate(plain, 20, AppliedTest(test="bootstrap", measure="f1"), 0.05) is None


def labelled(n=400, categories=5, seed=2):
    rng = np.random.default_rng(seed)
    truth = rng.random((n, categories)) < 0.6 / np.arange(1, categories + 1)
    a, b = (truth ^ (rng.random(truth.shape) < noise) for noise in (0.05, 0.08))
    return truth.astype(int), a.astype(int), b.astype(int)


@pytest.fixture
def rows():
    return labelled()


@pytest.fixture
def events(rows):
    return EventPopulation("news", JointEvents.from_indicators(*rows))


@pytest.mark.parametrize("average", ["micro", "macro"])
def test_averaged_measures_are_those_of_scikit_learn(rows, events, average):
    y, a, b = rows
    expected = [f1_score(y, side, average=average, zero_division=0) for side in (a, b)]
    assert events.difference(f"{average}-f1") == pytest.approx(expected[1] - expected[0], abs=1e-12)
    assert replace(events, swapped=True).difference(f"{average}-f1") == 0


def test_test_sets_of_events_are_rows_without_replacement(events):
    n, size, total = 60, 6000, 400
    drawn = events.draw(n, np.random.default_rng(4), size)
    assert (drawn.sum(axis=1) == n).all()
    counts = np.array(events.joint.counts)
    share = counts / total
    spread = np.sqrt(n * share * (1 - share) * (total - n) / (total - 1))
    assert (np.abs(drawn.mean(axis=0) - n * share) < 6 * spread / np.sqrt(size)).all()
    assert np.allclose(drawn.var(axis=0), spread**2, rtol=0.25, atol=0.01)
    assert (drawn <= counts).all()


def test_an_exchange_of_outputs_makes_both_alike(events):
    swapped = replace(events, swapped=True)
    drawn = swapped.draw(100, np.random.default_rng(5), 4000)
    assert (drawn.sum(axis=1) == 100).all()
    eight = swapped.outcomes_of(drawn)
    only_a, only_b = events.discordant
    for column in (1, 2):
        expected = 100 / 400 * (only_a + only_b) / 2
        assert abs(eight[:, column].mean() - expected) < 6 * np.sqrt(expected / 4000)
    assert swapped.discordant == events.discordant  # of the rows themselves
    differences = swapped.differences("macro-f1", drawn)
    assert abs(differences.mean()) < 6 * differences.std() / np.sqrt(4000)


def test_answers_that_are_wholly_right_are_what_exact_tests_see(rows, events):
    y, a, b = rows
    right_a, right_b = ((side == y).all(axis=1) for side in (a, b))
    assert events.discordant == (int((right_a & ~right_b).sum()), int((right_b & ~right_a).sum()))
    rate = exact_rate(events, 50, AppliedTest(test="mcnemar"), 0.05)
    eight = Population(outcomes=tuple(events.outcomes_of(events.draw(400, np.random.default_rng(1), 1))[0].tolist()))
    assert rate == exact_rate(eight, 50, AppliedTest(test="mcnemar"), 0.05)


def test_a_test_set_without_a_category_is_told(events):
    drawn = events.draw(8, np.random.default_rng(2), 500)
    lacking = events.lacking(drawn)
    for counts, told in zip(drawn.tolist(), lacking.tolist(), strict=True):
        truths = {label for (true, _, _), k in zip(events.joint.events, counts, strict=True) if k for label in true}
        assert told == (len(truths) < 5)
    assert 0 < lacking.mean() < 1


def cost_pvalue(joint, **options):
    whole = joint.positives and joint.negatives
    return dcf_test(joint.swapped(), **options).pvalue if whole else 1.0


SCALAR = {
    "mcnemar": lambda joint, **options: sigstats.mcnemar_test(*joint.discordant, **options).pvalue,
    "proportion": lambda joint, **options: proportion_test(joint.swapped(), **options).pvalue,
    "dcf": cost_pvalue,
}
COUNTED = [
    ("mcnemar", {"method": "exact"}),
    ("mcnemar", {"method": "mid-p"}),
    ("mcnemar", {"method": "chi2", "correction": True}),
    ("proportion", {"paired": True}),
    ("proportion", {"paired": False}),
    ("dcf", {"paired": True, "cost_fn": 10.0, "cost_fp": 1.0, "prior": 0.01}),
    ("dcf", {"paired": False, "cost_fn": 1.0, "cost_fp": 3.0, "prior": 0.4}),
]


@pytest.mark.long
@pytest.mark.parametrize("side", ["two-sided", "greater", "less"])
@pytest.mark.parametrize(("name", "options"), COUNTED)
def test_many_test_sets_at_once_have_the_pvalues_of_each_by_itself_to_the_bit(name, options, side):
    test = AppliedTest(test=name, options={**options, "alternative": side})
    rng = np.random.default_rng(5)
    sets = np.concatenate([rng.multinomial(n, np.full(8, 1 / 8), size=60) for n in (1, 2, 5, 40, 10**6)])
    sets = np.concatenate([sets, np.eye(8, dtype=np.int64), np.eye(8, dtype=np.int64)[::-1] * 2**40, sets[::-1]])
    alone = [SCALAR[name](JointOutcomes(*counts), **test.options) for counts in sets.tolist()]
    assert trials.run_test(test, sets, Population(outcomes=(1,) * 8), rng).p_value.tolist() == alone


def test_a_calibration_does_not_depend_on_how_its_lanes_are_cut_into_blocks(tmp_path, monkeypatch):
    store, tables = Store(str(tmp_path)), []
    population = Population(outcomes=(0.3, 0.1, 0.05, 0.1, 0.05, 0.1, 0.05, 0.25), endless=True, swapped=False)
    test = AppliedTest(test="f1-interval", options={"of": "a", "method": "exact", "confidence": 0.9})
    interval = cell_of(
        "interval",
        subject={"test": "F1"},
        work=OnTestSets(n=12, test=test, population=population),
        seed=3,
        replicates=350,
    )
    for together in (1, 2**21):
        monkeypatch.setattr(subsample, "_TOGETHER", together)
        tables.append(fanout("interval").compute(interval.block(0, 4), store, interval.work))
    assert tables[0].equals(tables[1])
    drawn = np.concatenate(
        [
            Population(outcomes=population.outcomes, endless=True).draw(12, rng, 100)[:size]
            for rng, size in interval.block(0, 4).lanes()
        ]
    )
    wanted = [
        sigstats.f1_interval(e1 + e3, e5 + e7, e2 + e4, confidence_level=0.9)[:2]
        for e1, e2, e3, e4, e5, _, e7, _ in drawn.tolist()
    ]
    assert np.column_stack([tables[0].column(name).to_numpy() for name in ("low", "high")]).tolist() == [
        list(ends) for ends in wanted
    ]


def test_the_bootstrap_of_an_averaged_measure_covers_the_truth_of_the_population(events):
    rng = np.random.default_rng(7)
    drawn = events.draw(150, rng, 60)
    test = AppliedTest(test="bootstrap", measure="micro-f1", options={"resamples": 199, "confidence": 0.95})
    answers = trials.run_test(test, drawn, events, rng)
    assert answers.covers.mean() > 0.8
    assert ((answers.p_value > 0) & (answers.p_value <= 1)).all()


labels = st.lists(st.integers(0, 3), max_size=3, unique=True).map(lambda each: tuple(sorted(each)))


@settings(deadline=None, derandomize=True, max_examples=examples(40))
@given(st.lists(st.tuples(labels, labels, labels), min_size=1, max_size=30), st.booleans())
def test_a_population_of_events_comes_back_from_its_file(tmp_path_factory, triples, swapped):
    joint = JointEvents(("a", "b", "c", "d"), "categories", tuple(triples), (1,) * len(triples))
    population = EventPopulation("any", joint)
    store = Store(str(tmp_path_factory.mktemp("store")))
    write_data(store, population)
    again = read_data(store, EventPopulation, "any", population.digest())
    assert (again.joint, again.digest()) == (joint, population.digest())
    used = replace(again, swapped=swapped)
    drawn = used.draw(len(triples), np.random.default_rng(0), 3)
    assert (drawn.sum(axis=1) == len(triples)).all()
    if not swapped:
        assert used.record(drawn[0].tolist()) == joint


def test_outcomes_of_another_cell_are_read_once_and_looked_for_until_they_are_there(tmp_path):
    counted = Counted(files=Named(name="f", digest="0"), positive=None)
    source = cell_of("count", subject={"dataset": "d"}, work=counted, seed=1, replicates=2)
    about = Source(fanout="count", subject={"dataset": "d"}, work=counted, seed=1, replicates=2)
    work = OnTestSets(population=Computed(outcomes_of=about, swapped=False), n=5, test=AppliedTest(test="mcnemar"))
    drawn = cell_of("subsample", subject={"dataset": "d"}, work=work, seed=1, replicates=200)
    store = Store(str(tmp_path))
    assert subsample.population(work, store) is None
    counts = {f"e{number}": [number, 10 * number] for number in range(1, 9)}
    store.write_block(source, 0, 2, pa.table({"replicate": [0, 1], **counts}, schema=computed.COUNT.schema))
    first = subsample.FAN_OUT.compute(drawn.block(0, 1), store, work)
    shutil.rmtree(tmp_path / "replicates")
    second = subsample.FAN_OUT.compute(drawn.block(1, 2), store, work)
    assert (first.num_rows, second.num_rows) == (100, 100)
    assert subsample.population(work, store).outcomes == tuple(11 * number for number in range(1, 9))
    assert subsample.population(work, Store(str(tmp_path / "other"))) is None
