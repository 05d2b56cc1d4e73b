"""The epochs of `forebay.dali`'s iterators: where loops begin and end, what `report()` says, and exceptions."""

from pathlib import Path

import forebay
import numpy as np
import pytest
from dali_readers import numbers, pipeline_of
from forebay.dali import DALIClassificationIterator, DALIGenericIterator
from forebay.dali.reading import Reading
from forebay.dali.report import Showing

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]


def test_the_report_says_what_was_repeated_borrowed_and_dropped(readers):
    def reports(reader, batch_size, policy):
        pipeline = pipeline_of(reader, batch_size)
        iterator = DALIClassificationIterator(pipeline, reader_name="Reader", last_batch_policy=policy, auto_reset=True)
        shown = [[number for outputs in iterator for number in numbers(outputs[0])] for _ in range(2)]
        found = [tuple(report) for report in iterator.report()]
        audit = pipeline.loader.audit()
        iterator.close()
        return shown, found, audit

    shown, found, audit = reports(readers(10), 4, "FILL")
    assert shown == [[*range(10), 0, 1], [*range(2, 10)]]
    assert found == [(0, 0, 0, 12, (0, 1), (0, 1), ()), (1, 0, 0, 8, (), (), ())]
    assert audit[0].delivered == 10
    _, found, _ = reports(readers(10), 4, "PARTIAL")
    assert found == [(0, 0, 0, 10, (), (), (0, 1)), (1, 0, 0, 10, (), (0, 1), (2, 3))]
    _, found, _ = reports(readers(10, pad_last_batch=True), 4, "FILL")
    assert found == [(0, 0, 0, 12, (9, 9), (), ()), (1, 0, 0, 12, (9, 9), (), ())]
    _, found, _ = reports(readers(11, shard_id=0, num_shards=3), 2, "FILL")
    assert found == [(0, 0, 0, 4, (), (3,), ()), (1, 0, 1, 4, (), (7,), ())]
    _, found, _ = reports(readers(11, shard_id=0, num_shards=3, pad_last_batch=True), 2, "DROP")
    assert found == [(0, 0, 0, 2, (), (), (2,)), (1, 0, 1, 2, (), (), (5, 6))]


def test_the_iterator_stops_until_it_is_reset(readers, caplog):
    iterator = DALIGenericIterator(pipeline_of(readers(6), 4), ["data", "number"], reader_name="Reader")
    assert (iterator.batch_size, iterator.size, len(iterator)) == (4, 8, 2)
    assert iter(iterator) is iterator
    iterator.reset()
    assert "does nothing before the end of the epoch" in caplog.text
    assert [numbers(outputs[0], "number") for outputs in iterator] == [[0, 1, 2, 3], [4, 5, 0, 1]]
    for _ in range(2):
        with pytest.raises(StopIteration):
            iterator.next()
    iterator.reset()
    assert numbers(iterator.next()[0], "number") == [2, 3, 4, 5]
    iterator.close()


def test_a_loop_by_len_and_reset_leaves_out_the_batch_that_drop_drops(readers):
    pipeline = pipeline_of(readers(10), 4)
    iterator = DALIClassificationIterator(pipeline, reader_name="Reader", last_batch_policy="drop")
    shown = []
    for _ in range(3):
        shown.append([numbers(next(iterator)[0]) for _ in range(len(iterator))])
        iterator.reset()
    assert shown == [[[0, 1, 2, 3], [4, 5, 6, 7]], [[2, 3, 4, 5], [6, 7, 8, 9]], [[4, 5, 6, 7], [8, 9, 0, 1]]]
    iterator.close()


@pytest.mark.parametrize(("policy", "last"), [("fill", [[8, 9, 0, 1]]), ("drop", [])])
def test_after_an_exception_the_iterator_goes_on_where_it_was(readers, monkeypatch, policy, last):
    iterator = DALIClassificationIterator(
        pipeline_of(readers(10), 4), reader_name="Reader", last_batch_policy=policy, prepare_first_batch=False
    )
    pipeline = iterator._pipelines[0]
    draw, failing = pipeline.loader.next, [True, False] * 10

    def next_batch():
        if failing.pop():
            return draw()
        raise KeyboardInterrupt

    monkeypatch.setattr(pipeline.loader, "next", next_batch)
    shown = []
    for _ in range(30):
        try:
            shown.append(numbers(next(iterator)[0]))
        except KeyboardInterrupt:
            continue
        except StopIteration:
            break
    assert shown == [[0, 1, 2, 3], [4, 5, 6, 7], *last]
    monkeypatch.undo()
    iterator.reset()
    assert numbers(next(iterator)[0]) == [2, 3, 4, 5]
    iterator.close()


def loops(iterator, count, between=lambda: None):
    """The records of the batches of so many `for` loops."""
    found = []
    for _ in range(count):
        found.append([numbers(outputs[0]) for outputs in iterator])
        between()
    iterator.close()
    return found


@pytest.mark.parametrize(
    ("policy", "epochs"),
    [
        ("FILL", [[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 0, 1]], [[2, 3, 4, 5], [6, 7, 8, 9]]]),
        ("PARTIAL", [[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]], [[2, 3, 4, 5], [6, 7, 8, 9], [0, 1]]]),
        ("DROP", [[[0, 1, 2, 3], [4, 5, 6, 7]], [[2, 3, 4, 5], [6, 7, 8, 9]]]),
    ],
)
@pytest.mark.parametrize("first", [True, False], ids=["the first batch is drawn ahead", "no batch is drawn ahead"])
def test_each_for_is_an_epoch_with_reset_and_without(readers, policy, epochs, first):
    def iterator(**arguments):
        pipeline = pipeline_of(readers(10), 4)
        return DALIClassificationIterator(
            pipeline, reader_name="Reader", last_batch_policy=policy, prepare_first_batch=first, **arguments
        )

    assert loops(iterator(), 2) == epochs
    resets = iterator()
    assert loops(resets, 2, resets.reset) == epochs
    assert loops(iterator(auto_reset=True), 2) == epochs


def test_an_epoch_of_one_batch_that_was_drawn_ahead_is_shown(readers):
    for arguments in ({}, {"auto_reset": True}):
        iterator = DALIClassificationIterator(pipeline_of(readers(4), 4), reader_name="Reader", **arguments)
        assert loops(iterator, 3) == [[[0, 1, 2, 3]]] * 3


def test_a_for_in_the_middle_of_an_epoch_goes_on_with_it(readers):
    iterator = DALIClassificationIterator(pipeline_of(readers(10), 4), reader_name="Reader")
    for outputs in iterator:
        assert numbers(outputs[0]) == [0, 1, 2, 3]
        break
    assert loops(iterator, 2) == [[[4, 5, 6, 7], [8, 9, 0, 1]], [[2, 3, 4, 5], [6, 7, 8, 9]]]


def test_a_for_after_a_loop_by_len_does_not_begin_with_the_batch_that_drop_drops(readers):
    iterator = DALIClassificationIterator(pipeline_of(readers(10), 4), reader_name="Reader", last_batch_policy="drop")
    assert [numbers(next(iterator)[0]) for _ in range(len(iterator))] == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert loops(iterator, 1) == [[[2, 3, 4, 5], [6, 7, 8, 9]]]


def test_a_report_of_shuffled_epochs_has_the_records_that_were_shown_again(readers):
    pipeline = pipeline_of(readers(10, random_shuffle=True, seed=3), 4)
    iterator = DALIClassificationIterator(pipeline, reader_name="Reader")
    shown = [number for outputs in iterator for number in numbers(outputs[0])]
    (report,) = iterator.report()
    iterator.close()
    assert sorted(set(shown)) == list(range(10))
    assert (report.shown, report.borrowed, report.dropped) == (12, tuple(shown[10:]), ())
    # The last two are the first of the next epoch's order, and all records were shown before.
    assert report.repeated == tuple(shown[10:])


def test_padding_is_a_repetition_only_if_its_record_was_shown_before(readers):
    pipelines = [pipeline_of(readers(9, shard_id=shard, num_shards=2, pad_last_batch=True), 4) for shard in range(2)]
    iterator = DALIClassificationIterator(pipelines, reader_name="Reader", last_batch_policy="DROP")
    epochs = [[numbers(output) for outputs in iterator for output in outputs] for _ in range(2)]
    found = [tuple(report) for report in iterator.report()]
    iterator.close()
    assert epochs == [[[0, 1, 2, 3], [4, 5, 6, 7]], [[3, 3, 3, 3], [8, 8, 8, 8]]]
    assert found == [
        (0, 0, 0, 4, (), (), ()),
        (0, 1, 1, 4, (), (), ()),
        (1, 0, 0, 4, (3, 3, 3), (), ()),
        (1, 1, 1, 4, (8, 8, 8), (), ()),
    ]


def test_a_report_has_the_copy_in_place_of_a_bad_record(readers):
    Path(readers(8).samples[5][0]).write_bytes(b"P6 no picture")
    iterator = DALIClassificationIterator(pipeline_of(readers(8), 4, on_error="replace"), reader_name="Reader")
    assert [numbers(outputs[0]) for outputs in iterator] == [[0, 1, 2, 3], [4, 4, 6, 7]]
    assert [tuple(report) for report in iterator.report()] == [(0, 0, 0, 8, (4,), (), ())]
    iterator.close()


def test_an_epoch_without_a_batch_has_no_report(readers):
    pipelines = [pipeline_of(readers(12, shard_id=shard, num_shards=3), 4) for shard in range(3)]
    iterator = DALIClassificationIterator(pipelines, reader_name="Reader", prepare_first_batch=False)
    assert iterator.report() == []
    for epoch in range(2):
        assert len(list(iterator)) == 1
        iterator.reset()
        assert [(each.epoch, each.pipeline, each.shard_id) for each in iterator.report()[-3:]] == [
            (epoch, at, (at + epoch) % 3) for at in range(3)
        ]
        assert len(iterator.report()) == 3 * (epoch + 1)
    iterator.close()


def test_a_batch_that_is_added_again_changes_no_report(readers):
    shards = readers(10).shards
    reading, once, twice = Reading(shards), Showing(0, 0, shards), Showing(0, 0, shards)
    for number in (1, 2, 3):
        runs = reading.batch(4)
        records = [(number * 4 - 4 + place) % 10 for place in range(4)]
        for showing, times in ((once, 1), (twice, 2)):
            for _ in range(times):
                showing.add(number, runs, np.array(records), 4)
    assert once.made() == twice.made()
    assert once.made()[0].repeated == (0, 1)


def interrupted(*_, **__):
    raise KeyboardInterrupt


def test_an_iterator_goes_on_after_one_that_an_exception_ended_before_its_first_batch(readers, monkeypatch):
    pipeline = pipeline_of(readers(10), 4)
    pipeline.build()
    with monkeypatch.context() as during:
        during.setattr(pipeline.loader, "next", interrupted)
        for policy in ("FILL", "PARTIAL"):
            with pytest.raises(KeyboardInterrupt):
                DALIClassificationIterator(pipeline, reader_name="Reader", last_batch_policy=policy)
    iterator = DALIClassificationIterator(pipeline, reader_name="Reader", last_batch_policy="PARTIAL")
    assert loops(iterator, 1) == [[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]]


def test_an_iterator_goes_on_within_a_batch_or_says_why_not(readers, monkeypatch):
    def stopped_within_the_third_batch():
        pipeline = pipeline_of(readers(10), 4)
        iterator = DALIClassificationIterator(pipeline, reader_name="Reader")
        assert [numbers(next(iterator)[0]) for _ in range(2)] == [[0, 1, 2, 3], [4, 5, 6, 7]]
        draw, left = pipeline.loader.next, [None]
        monkeypatch.setattr(pipeline.loader, "next", lambda: draw() if left and not left.pop() else interrupted())
        with pytest.raises(KeyboardInterrupt):
            next(iterator)
        monkeypatch.undo()
        return pipeline

    pipeline = stopped_within_the_third_batch()
    assert numbers(next(DALIClassificationIterator(pipeline, reader_name="Reader"))[0]) == [8, 9, 0, 1]
    pipeline.close()
    pipeline = stopped_within_the_third_batch()
    with pytest.raises(forebay.Error, match="stopped within a batch: go on with it, or make a new Pipeline"):
        DALIClassificationIterator(pipeline, size=2, last_batch_policy="PARTIAL")
    pipeline.close()


def test_an_exception_between_two_pipelines_loses_no_sample(readers, monkeypatch):
    pipelines = [pipeline_of(readers(12, shard_id=shard, num_shards=2), 2) for shard in range(2)]
    iterator = DALIClassificationIterator(pipelines, reader_name="Reader", prepare_first_batch=False)
    failing = [(pipelines[1], "filling"), (pipelines[1].reader.shards.__class__, "size"), (Showing, "add")]
    shown = []
    for place, name in [*failing, (None, None)]:
        with monkeypatch.context() as during:
            if place is not None:
                during.setattr(place, name, interrupted)
                with pytest.raises(KeyboardInterrupt):
                    next(iterator)
        if place is None or name == "add":
            shown.append([numbers(output) for output in next(iterator)])
    shown += [[numbers(output) for output in outputs] for outputs in iterator]
    assert shown == [[[0, 1], [6, 7]], [[2, 3], [8, 9]], [[4, 5], [10, 11]]]
    assert [(each.shown, each.repeated, each.dropped) for each in iterator.report()] == [(6, (), ())] * 2
    iterator.close()


@pytest.mark.parametrize("use", ["next", "reset"])
def test_a_loader_that_was_used_elsewhere_ends_the_iterator(readers, use):
    pipeline = pipeline_of(readers(8), 4)
    iterator = DALIClassificationIterator(pipeline, reader_name="Reader", auto_reset=True)
    getattr(pipeline.loader, use)()
    with pytest.raises(forebay.Error, match=r"was used elsewhere.* make a new Pipeline"):
        list(iterator) + list(iterator)
    iterator.close()
