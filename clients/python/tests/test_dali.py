"""`forebay.dali` against what DALI itself returned, by the pure parts and by the daemon.

Some of it is in `DALIS`. Where `dali_sharding.json` is, all of that is compared too.
"""

import json
import os
from pathlib import Path

import forebay
import pytest
from dali_readers import numbers, pipeline_of
from forebay.dali import DALIClassificationIterator, LastBatchPolicy
from forebay.dali.counting import ReaderCount, SizeCount
from forebay.dali.reading import Reading
from forebay.dali.shards import Shards

ROOT = Path(__file__).resolve().parents[3]
VECTORS = Path(os.environ.get("FOREBAY_TEST_VECTORS", ROOT.parent / "shared" / "vectors")) / "dali_sharding.json"
CASES = json.loads(VECTORS.read_text()) if VECTORS.is_file() else []

has_vectors = pytest.mark.skipif(not CASES, reason=f"there are no vectors of DALI at {VECTORS}")
needs_daemon = pytest.mark.daemon


# What DALI itself returned for 11 records in 3 shards and batches of 2: the batches of each shard in 4 epochs, by
# policy, `stick_to_shard` and `pad_last_batch`.
DALIS = {
    ("fill", False, False): [
        "0,1 2,3 | 4,5 6,7 | 8,9 10,0 | 1,2 3,4",
        "3,4 5,6 | 7,8 9,10 | 0,1 2,3 | 4,5 6,7",
        "7,8 9,10 | 0,1 2,3 | 4,5 6,7 | 8,9 10,0",
    ],
    ("drop", False, False): ["0,1 | 4,5 | 8,9 | 1,2", "3,4 | 7,8 | 0,1 | 4,5", "7,8 | 0,1 | 4,5 | 8,9"],
    ("partial", False, False): [
        "0,1 2 | 4,5 6,7 | 8,9 10,0 | 1,2 3",
        "3,4 5,6 | 7,8 9,10 | 0,1 2 | 4,5 6,7",
        "7,8 9,10 | 0,1 2 | 4,5 6,7 | 8,9 10,0",
    ],
    ("fill", False, True): [
        "0,1 2,2 | 3,4 5,6 | 7,8 9,10 | 0,1 2,2",
        "3,4 5,6 | 7,8 9,10 | 0,1 2,2 | 3,4 5,6",
        "7,8 9,10 | 0,1 2,2 | 3,4 5,6 | 7,8 9,10",
    ],
    ("drop", False, True): ["0,1 | 3,4 | 7,8 | 0,1", "3,4 | 7,8 | 0,1 | 3,4", "7,8 | 0,1 | 3,4 | 7,8"],
    ("partial", False, True): [
        "0,1 2 | 3,4 5,6 | 7,8 9,10 | 0,1 2",
        "3,4 5,6 | 7,8 9,10 | 0,1 2 | 3,4 5,6",
        "7,8 9,10 | 0,1 2 | 3,4 5,6 | 7,8 9,10",
    ],
    ("fill", True, False): [
        "0,1 2,0 | 1,2 0,1 | 2,0 1,2 | 0,1 2,0",
        "3,4 5,6 | 3,4 5,6 | 3,4 5,6 | 3,4 5,6",
        "7,8 9,10 | 7,8 9,10 | 7,8 9,10 | 7,8 9,10",
    ],
    ("drop", True, False): ["0,1 | 1,2 | 2,0 | 0,1", "3,4 | 3,4 | 3,4 | 3,4", "7,8 | 7,8 | 7,8 | 7,8"],
    ("partial", True, False): [
        "0,1 2 | 1,2 0 | 2,0 1 | 0,1 2",
        "3,4 5,6 | 3,4 5,6 | 3,4 5,6 | 3,4 5,6",
        "7,8 9,10 | 7,8 9,10 | 7,8 9,10 | 7,8 9,10",
    ],
    ("fill", True, True): [
        "0,1 2,2 | 0,1 2,2 | 0,1 2,2 | 0,1 2,2",
        "3,4 5,6 | 3,4 5,6 | 3,4 5,6 | 3,4 5,6",
        "7,8 9,10 | 7,8 9,10 | 7,8 9,10 | 7,8 9,10",
    ],
    ("drop", True, True): ["0,1 | 0,1 | 0,1 | 0,1", "3,4 | 3,4 | 3,4 | 3,4", "7,8 | 7,8 | 7,8 | 7,8"],
    ("partial", True, True): [
        "0,1 2 | 0,1 2 | 0,1 2 | 0,1 2",
        "3,4 5,6 | 3,4 5,6 | 3,4 5,6 | 3,4 5,6",
        "7,8 9,10 | 7,8 9,10 | 7,8 9,10 | 7,8 9,10",
    ],
}


def dalis(text):
    """Epochs, batches and records of a text of `DALIS`."""
    return [[[int(record) for record in batch.split(",")] for batch in epoch.split()] for epoch in text.split("|")]


def shards_of(case, shard):
    """The shards of a case, as a reader with this shard has them."""
    return Shards(case["n"], case["num_shards"], shard, case["stick_to_shard"], case["pad_last_batch"])


def records_of(shards, runs):
    """The records of an unshuffled reader."""
    starts = [shard * shards.records // shards.count for shard in range(shards.count)]
    return [
        starts[shards.of_epoch(run.epoch)] + run.first + (0 if run.is_padding else at)
        for run in runs
        for at in range(run.count)
    ]


def walked(shards, count, batch_size, epochs):
    """For each shard, the records of the batches of so many epochs."""
    readings = [Reading(each) for each in shards]
    found = [[[] for _ in range(epochs)] for _ in shards]
    for epoch in range(epochs):
        while not count.is_over:
            batches = [records_of(each, reading.batch(batch_size)) for each, reading in zip(shards, readings)]
            shown = count.advance()
            for number, places in enumerate(shown or []):
                found[number][epoch].append(batches[number][:places])
        count.begin_next()
    return found


@has_vectors
@pytest.mark.parametrize("together", [False, True], ids=["a process for each shard", "all shards in one iterator"])
def test_rule_13_batches_of_all_epochs_are_those_of_dali(together):
    compared = 0
    for case in CASES:
        every = [shards_of(case, shard) for shard in range(case["num_shards"])]
        policy = LastBatchPolicy.of(case["last_batch_policy"])
        for shards in [every] if together else [[each] for each in every]:
            count = ReaderCount(shards, case["batch_size"], policy)
            if "error" in case:
                assert count.drops_next(), case
                continue
            theirs = {each["shard"]: each for each in case["shards"]}
            found = walked(shards, count, case["batch_size"], case["epochs"])
            for each, ours in zip(shards, found):
                assert ours == theirs[each.shard_id]["epochs"], (case, each)
                assert each.meta() == theirs[each.shard_id]["reader_meta"]
                compared += len(ours)
    assert compared > 700


@pytest.mark.parametrize("together", [False, True], ids=["a process for each shard", "all shards in one iterator"])
@pytest.mark.parametrize(("policy", "stick", "pad"), DALIS)
def test_rule_13_three_uneven_shards_have_dalis_batches(policy, stick, pad, together):
    every = [Shards(11, 3, shard, stick, pad) for shard in range(3)]
    theirs = [dalis(text) for text in DALIS[policy, stick, pad]]
    groups = [every] if together else [[each] for each in every]
    found = [walked(shards, ReaderCount(shards, 2, LastBatchPolicy.of(policy)), 2, 4) for shards in groups]
    assert [each for group in found for each in group] == theirs


def test_drop_leaves_whole_batches_of_padding_to_the_next_epoch():
    # From DALI's source. None of its own results has this case.
    # The larger shard has a fifth record, so the reader of the smaller one adds a batch. The iterator ends before it.
    shards = [Shards(9, 2, shard, stick=False, pad=True) for shard in range(2)]
    found = walked(shards, ReaderCount(shards, 4, LastBatchPolicy.DROP), 4, 4)
    assert found[0] == [[[0, 1, 2, 3]], [[3, 3, 3, 3]], [[4, 5, 6, 7]], [[8, 8, 8, 8]]]
    assert found[1] == [[[4, 5, 6, 7]], [[8, 8, 8, 8]], [[0, 1, 2, 3]], [[3, 3, 3, 3]]]


def test_an_epoch_that_was_read_ahead_is_left_out():
    shards = [Shards(3, 1, 0, stick=False, pad=False)]
    count = ReaderCount(shards, 16, LastBatchPolicy.FILL)
    found = walked(shards, count, 16, 2)
    assert found[0] == [[[at % 3 for at in range(16)]], [[(16 + at) % 3 for at in range(16)]]]
    assert count.size == 16


@pytest.mark.parametrize(
    ("policy", "padded", "last", "following"),
    [
        ("PARTIAL", True, [6], [0, 1]),
        ("PARTIAL", False, [6], [1, 2]),
        ("FILL", True, [6, 6], [0, 1]),
        ("FILL", False, [6, 0], [1, 2]),
        ("DROP", True, [4, 5], [0, 1]),
        ("DROP", False, [4, 5], [1, 2]),
    ],
)
def test_a_given_size_ends_epochs_as_dalis_documentation_says(policy, padded, last, following):
    shards = [Shards(7, 1, 0, stick=False, pad=padded)]
    count = SizeCount(7, 1, 2, LastBatchPolicy[policy], padded=padded)
    first, second = walked(shards, count, 2, 2)[0]
    assert (first[-1], second[0]) == (last, following)


def test_a_size_of_all_pipelines_leaves_out_the_last_of_them():
    count = SizeCount(9, 3, 2, LastBatchPolicy.PARTIAL, padded=True)
    assert len(count) == 2
    assert [count.advance(), count.advance(), count.is_over] == [[2, 2, 2], [2, 1], True]


@needs_daemon
@has_vectors
@pytest.mark.usefixtures("binary")
@pytest.mark.parametrize(("records", "batch_size"), [(10, 4), (11, 2), (12, 3), (100, 8), (9, 16)])
def test_rule_13_the_daemon_delivers_what_dali_returned(readers, records, batch_size):
    cases = [case for case in CASES if (case["n"], case["batch_size"]) == (records, batch_size)]
    assert len(cases) >= 12
    for case in cases:
        pipelines = [
            pipeline_of(
                readers(
                    records,
                    shard_id=shard,
                    num_shards=case["num_shards"],
                    stick_to_shard=case["stick_to_shard"],
                    pad_last_batch=case["pad_last_batch"],
                ),
                batch_size,
            )
            for shard in range(case["num_shards"])
        ]
        arguments = {"reader_name": "Reader", "last_batch_policy": case["last_batch_policy"]}
        if "error" in case:
            with pytest.raises(forebay.SettingsError, match="with DROP no epoch has a batch"):
                DALIClassificationIterator(pipelines, **arguments)
            continue
        iterator = DALIClassificationIterator(pipelines, **arguments)
        for epoch in range(case["epochs"]):
            theirs = [shard["epochs"][epoch] for shard in case["shards"]]
            ours = [[numbers(output) for output in outputs] for outputs in iterator]
            assert ours == [list(step) for step in zip(*theirs)], (case, epoch)
            if case["last_batch_policy"] != "drop":
                assert len(iterator) == len(ours)
            iterator.reset()
        iterator.close()


@needs_daemon
@pytest.mark.usefixtures("binary")
@pytest.mark.parametrize(("policy", "stick", "pad"), DALIS)
def test_rule_13_the_daemon_delivers_dalis_batches_of_three_uneven_shards(readers, policy, stick, pad):
    pipelines = [
        pipeline_of(readers(11, shard_id=shard, num_shards=3, stick_to_shard=stick, pad_last_batch=pad), 2)
        for shard in range(3)
    ]
    iterator = DALIClassificationIterator(pipelines, reader_name="Reader", last_batch_policy=policy)
    # A step has a batch of each shard.
    ours = [[[numbers(output) for output in outputs] for outputs in iterator] for _ in range(4)]
    iterator.close()
    theirs = [dalis(text) for text in DALIS[policy, stick, pad]]
    assert ours == [[list(step) for step in zip(*epoch)] for epoch in zip(*theirs)]


@needs_daemon
@pytest.mark.usefixtures("binary")
def test_without_a_size_the_iterator_has_no_end(readers):
    iterator = DALIClassificationIterator(pipeline_of(readers(3), 2))
    assert [numbers(next(iterator)[0]) for _ in range(4)] == [[0, 1], [2, 0], [1, 2], [0, 1]]
    assert iterator.report() == []
    with pytest.raises(TypeError, match="has no end"):
        len(iterator)
    iterator.close()


@needs_daemon
@pytest.mark.usefixtures("binary")
@pytest.mark.parametrize("how", ["random_shuffle", "shuffle_after_epoch"])
def test_shuffled_shards_have_each_record_once_though_each_rank_has_its_own_seed(readers, how):
    pipelines = [
        pipeline_of(
            readers(12, shard_id=rank, num_shards=2, seed=12 + rank, pad_last_batch=True, **{how: True}), 3, seed=rank
        )
        for rank in range(2)
    ]
    iterator = DALIClassificationIterator(pipelines, reader_name="Reader", auto_reset="yes")
    epochs = [[number for outputs in iterator for each in outputs for number in numbers(each)] for _ in range(2)]
    assert [sorted(epoch) for epoch in epochs] == [list(range(12))] * 2
    assert epochs[0] != epochs[1]
    assert list(range(12)) not in epochs
    iterator.close()


@needs_daemon
@pytest.mark.usefixtures("binary")
def test_a_bad_record_ends_the_iterator_or_is_replaced_in_its_place(readers):
    bad = readers(8).samples[5][0]
    Path(bad).write_bytes(b"P6 no picture")
    pipeline = pipeline_of(readers(8), 4)
    with pytest.raises(forebay.RecordError, match="00005"):
        list(DALIClassificationIterator(pipeline, reader_name="Reader"))
    pipeline.close()
    iterator = DALIClassificationIterator(pipeline_of(readers(8), 4, on_error="replace"), reader_name="Reader")
    assert [numbers(outputs[0]) for outputs in iterator] == [[0, 1, 2, 3], [4, 4, 6, 7]]
    iterator.close()


@needs_daemon
@pytest.mark.usefixtures("binary")
def test_bad_records_that_nothing_replaces_end_the_iterator(readers):
    # A lease has four batches.
    for path, _ in readers(8).samples[:4]:
        Path(path).write_bytes(b"P6 no picture")
    iterator = DALIClassificationIterator(
        pipeline_of(readers(8), 1, on_error="replace"), reader_name="Reader", prepare_first_batch=False
    )
    for _ in range(2):
        with pytest.raises(forebay.Error, match="could not be replaced, because all records near it are bad"):
            next(iterator)
    iterator.close()


@needs_daemon
@pytest.mark.usefixtures("binary")
def test_the_example_of_the_documentation_runs(pictures):
    page = (ROOT / "docs" / "dali.md").read_text()
    code = page.split("```python\n")[1].split("```")[0]
    folder = pictures(20, classes=2)
    assert "/data/train" in code
    steps = []
    names = {"step": lambda images, labels: steps.append((len(images), labels)), "EPOCHS": 2}
    exec(code.replace("/data/train", str(folder)), names)
    # 20 pictures are no full batch of the example.
    assert [places for places, _ in steps] == [20, 20]
    names["train"].close()


@needs_daemon
@pytest.mark.usefixtures("binary")
def test_a_shard_to_which_a_shuffled_reader_sticks_is_a_part_of_each_epochs_order(readers):
    # DALI's has the same files in all epochs. docs/dali.md says so.
    pipelines = [
        pipeline_of(readers(12, shard_id=rank, num_shards=2, random_shuffle=True, stick_to_shard=True), 3)
        for rank in range(2)
    ]
    iterator = DALIClassificationIterator(pipelines, reader_name="Reader")
    epochs = [list(zip(*([numbers(each) for each in outputs] for outputs in iterator))) for _ in range(3)]
    iterator.close()
    shards = [[frozenset(number for batch in shard for number in batch) for shard in epoch] for epoch in epochs]
    assert [sorted(first | second) for first, second in shards] == [list(range(12))] * 3
    assert len({first for first, _ in shards}) > 1
