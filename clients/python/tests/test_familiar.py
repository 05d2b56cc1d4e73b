"""What people know of other loaders: a Loader has it under the same name, or says what to give instead."""

import forebay
import numpy as np
import pytest

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]


def test_a_loader_says_what_it_reads_and_where_it_is(pictures):
    folder = pictures(10, classes=2)
    with forebay.Loader(folder, batch_size=4, size=8, epochs=2) as loader:
        assert (loader.batch_size, loader.epoch) == (4, 0)
        assert loader.class_to_idx == {"class-0": 0, "class-1": 1}
        assert repr(loader) == f"<forebay.Loader of {str(folder)!r} batch_size=4 batches=3>"
        assert [loader.epoch for _ in loader] == [0, 0, 0]
        assert loader.epoch == 1
        assert len(list(loader)) == 3
        assert loader.epoch == 2
    assert repr(loader).startswith("<forebay.Loader of"), "also of one that is closed"
    with forebay.Loader([folder, folder], batch_size=4, size=8) as both:
        assert f"'{folder} and 1 more'" in repr(both)


def test_labels_that_are_numbers_have_no_classes(pictures):
    with forebay.Loader(pictures(4), batch_size=4, size=8) as loader:
        assert loader.class_to_idx == {}


def test_a_start_at_an_epoch_without_a_state_has_the_order_of_that_epoch(pictures):
    folder = pictures(20)
    settings = {"batch_size": 8, "size": 8, "shuffle": True, "seed": 3, "epochs": 4}
    with forebay.Loader(folder, **settings) as loader:
        orders = [[batch.records.tolist() for batch in loader] for _ in range(4)]
    with forebay.Loader(folder, **settings) as loader:
        loader.set_epoch(2)
        assert loader.epoch == 2
        assert loader.next().records.tolist() == orders[2][0]
        loader.set_epoch(2)
        assert [batch.records.tolist() for batch in loader] == orders[2][1:], "it was there already"
        assert [batch.records.tolist() for batch in loader] == orders[3]
        loader.set_epoch(0)
        assert [batch.records.tolist() for batch in loader] == orders[0], "it goes back too"
        with pytest.raises(forebay.SettingsError, match="epoch=-1: give 0 or more"):
            loader.set_epoch(-1)


@pytest.mark.parametrize("policy", ["drop", "DROP", "Drop", forebay.LastBatchPolicy.DROP])
def test_a_last_batch_policy_is_one_of_an_enum_or_a_name_in_any_case(pictures, policy):
    with forebay.Loader(pictures(10), batch_size=4, size=8, epochs=1, last_batch_policy=policy) as loader:
        assert [batch.valid for batch in loader] == [4, 4]


def test_a_last_batch_policy_that_does_not_exist_is_refused_with_those_that_do(pictures):
    with pytest.raises(forebay.SettingsError, match=r'last_batch_policy: .*"pad".*"partial"'):
        forebay.Loader(pictures(4), batch_size=4, size=8, last_batch_policy="pad")
    with pytest.raises(forebay.SettingsError, match="last_batch_policy"):
        forebay.Loader(pictures(4), batch_size=4, size=8, last_batch_policy=7)


def test_rule_14_writable_batches_are_the_callers_own(pictures):
    with forebay.Loader(pictures(40), batch_size=4, size=8, epochs=1, writable=True) as loader:
        (ring,) = loader._feed.session.rings()
        start, length = ring.slots
        kept = list(loader)
        for batch in kept:
            address = batch.images.__array_interface__["data"][0]
            assert not start <= address < start + length
            assert (batch.images[:, 0, 0, 0] == batch.records).all()
            batch.images[:] = 0
            batch.labels[:] = -1
        assert (len(kept), loader._feed.session.viewed()) == (10, 0), "no slot is kept in use"
    assert np.concatenate([batch.records for batch in kept]).tolist() == list(range(40))


@pytest.mark.parametrize(
    ("name", "value", "instead"),
    [
        ("num_workers", 8, "num_threads"),
        ("drop_last", True, 'last_batch_policy="drop"'),
        ("sampler", None, r"shuffle and sharding=Shard\(shard_id, num_shards\), or use forebay\.torch\.DataLoader"),
        ("collate_fn", len, "call your function with each batch"),
        ("file_root", "/data", "source, the first argument"),
    ],
)
def test_an_argument_of_another_library_is_refused_with_the_one_to_give(pictures, name, value, instead):
    with pytest.raises(TypeError, match=f"no argument '{name}': give .*{instead}"):
        forebay.Loader(pictures(4), batch_size=4, size=8, **{name: value})


def test_pin_memory_without_a_driver_warns_and_goes_on(pictures, monkeypatch):
    monkeypatch.setenv("FOREBAY_CUDA_DRIVER", "/nowhere/libcuda.so.1")
    with pytest.warns(UserWarning, match=r"pin_memory=True has no effect: .*cannot be opened") as warned:
        loader = forebay.Loader(pictures(4), batch_size=4, size=8, epochs=1, pin_memory=True)
    assert warned[0].filename == __file__
    with loader:
        assert sum(batch.valid for batch in loader) == 4
