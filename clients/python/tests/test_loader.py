"""A Loader with its private daemon: what a user with a folder sees."""

import copy
import json
import math
import pickle
import threading
from collections import Counter

import forebay
import numpy as np
import pytest
from forebay import transforms
from numpy.testing import assert_array_equal
from processes import alive, private_daemons, wait_until

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]


def own(batch):
    return batch.records[batch.mask].tolist()


def test_pictures_labels_records_and_classes_of_class_folders(pictures):
    folder = pictures(10, classes=2)
    with forebay.Loader(folder, batch_size=4, size=8) as loader:
        assert (len(loader), loader.classes) == (3, ["class-0", "class-1"])
        batch = loader.next()
        assert (batch.images.shape, batch.images.dtype, batch.epoch) == ((4, 8, 8, 3), np.uint8, 0)
        for place, record in enumerate(batch.records):
            assert_array_equal(batch.images[place], np.full((8, 8, 3), [record, 100, 200]))
            assert batch.labels[place] == (record >= 5)
            assert loader.path(record).endswith(f"{record:05}.ppm")
        del batch


@pytest.mark.parametrize(("policy", "batches"), [("partial", 3), ("fill", 3), ("drop", 2)])
def test_rule_13_the_length_is_the_number_of_batches_that_come(pictures, policy, batches):
    with forebay.Loader(pictures(10), batch_size=4, size=8, epochs=2, last_batch_policy=policy) as loader:
        assert [len(loader), *(sum(1 for _ in loader) for _ in range(2))] == [batches] * 3


def test_loaders_of_one_folder_share_what_is_kept_in_memory(pictures):
    folder = pictures(10)
    cache = {"keep": "decoded", "memory": "1mb"}
    with forebay.Loader(folder, batch_size=4, size=8, cache=cache, shuffle=True) as first:
        assert sum(batch.valid for batch in first) == 10
        for file in folder.iterdir():
            file.write_bytes(bytes(file.stat().st_size))
        with forebay.Loader(folder, batch_size=5, size=8, cache=cache) as second:
            for batch in second:
                assert_array_equal(batch.images[:, 0, 0, 0], batch.records)
    with pytest.raises(forebay.SettingsError, match="encoded") as refused:
        forebay.Loader(folder, batch_size=4, size=8, cache={"memory": "1mb", "disk": "1gb"})
    assert "cache.keep" in str(refused.value)
    assert "cache.disk" in str(refused.value)


def test_transforms_dtype_and_layout(pictures):
    steps = [
        transforms.Resize((8, 8)),
        transforms.Pad((10, 12), fill=9),
        transforms.Normalize(mean=[0.5, 0.5, 0.5], std=[0.5, 0.5, 0.5]),
    ]
    with forebay.Loader(pictures(2), batch_size=2, transform=steps, dtype="float32", layout="NCHW") as loader:
        images = loader.next().images
        assert (images.shape, images.dtype) == ((2, 3, 10, 12), np.float32)
        assert images[0, 1, 0, 0] == pytest.approx((9 / 255 - 0.5) / 0.5, abs=1e-6)
        assert images[0, 1, 5, 6] == pytest.approx((100 / 255 - 0.5) / 0.5, abs=1e-6)


def test_numpy_has_the_bits_of_bfloat16(pictures):
    with forebay.Loader(pictures(2), batch_size=2, size=8, dtype="bfloat16") as loader:
        batch = loader.next()
        twin = batch.copy()
        assert (batch.dtype, twin.dtype, batch.images.dtype) == ("bfloat16", "bfloat16", np.uint16)
        exact = np.array([[number, 100, 200] for number in range(2)], np.float32) / np.float32(255)
        # bfloat16 is the upper half of single precision, rounded. No value here is halfway between two.
        rounded = (exact.view(np.uint32) + 0x8000) >> 16
        assert (batch.images[:, 0, 0] == rounded).all()


def test_matching_torch_changes_resizes_and_what_torch_has_not_is_refused(jpegs):
    def first(**settings):
        with forebay.Loader(jpegs, batch_size=12, epochs=1, **settings) as loader:
            return loader.next().copy().images.astype(int)

    pillow, torch = first(size=48), first(size=48, match="torch")
    assert 0 < abs(pillow - torch).max() <= 2
    assert (pillow == first(size=48, match="pillow")).all()
    with pytest.raises(forebay.SettingsError, match=r'match = "torch".*"bicubic"'):
        first(transform=[transforms.Resize((8, 8), interpolation="lanczos3")], match="torch")


def test_settings_of_how_pictures_are_decoded(pictures):
    with forebay.Loader(pictures(2), batch_size=2, size=8, reducing_gap=2.0, adjust_orientation=False) as loader:
        assert loader.next().images.shape == (2, 8, 8, 3)
    with pytest.raises(forebay.SettingsError, match=r"reducing_gap: is 0\.5; give a number from 1\.0 up"):
        forebay.Loader(pictures(2), batch_size=2, size=8, reducing_gap=0.5)


def test_files_and_flat_folders_have_no_labels(pictures):
    folder = pictures(5)
    files = sorted(folder.iterdir(), reverse=True)
    with forebay.Loader(files, batch_size=5, size=8) as loader:
        batch = loader.next()
        assert batch.labels.tolist() == [-1] * 5
        assert [loader.path(record) for record in batch.records] == [str(file) for file in files]
        del batch


@pytest.mark.parametrize("root", [False, True])
def test_pairs_of_path_and_label_have_their_labels(pictures, root):
    folder = pictures(3)
    names = sorted(file.name for file in folder.iterdir())
    path = (lambda name: name) if root else (lambda name: folder / name)

    def labels(given, **settings):
        samples = [(path(name), label) for name, label in zip(names, given)]
        source = forebay.Source(samples, root=folder) if root else samples
        with forebay.Loader(source, batch_size=3, size=8, **settings) as loader:
            batch = loader.next()
            assert [loader.path(record) for record in batch.records] == [str(folder / name) for name in names]
            return batch.copy().labels.tolist(), loader.classes

    assert labels([7, -1, 7]) == ([7, -1, 7], [])
    assert labels(["dog", "cat", "dog"]) == ([1, 0, 1], ["cat", "dog"])
    assert labels([10, 9, 10], targets=forebay.Targets(labels="text")) == ([0, 1, 0], ["10", "9"])
    with pytest.raises(forebay.DatasetError, match=r'"cat" is a text, but line 1 has an integer'):
        labels([0, "cat", 1])


@pytest.mark.parametrize(("policy", "shown"), [("partial", [4, 4, 2]), ("fill", [4, 4, 4]), ("drop", [4, 4])])
def test_rule_06_the_last_batch_by_its_policy(pictures, policy, shown):
    with forebay.Loader(pictures(10), batch_size=4, size=8, epochs=1, last_batch_policy=policy) as loader:
        lengths, valid, padded = [], [], []
        for batch in loader:
            lengths.append(len(batch.images))
            valid.append(batch.valid)
            padded.append(len(batch.padded.images))
        assert lengths == shown
        assert sum(valid) == (8 if policy == "drop" else 10)
        assert set(padded) == {4}
        (audit,) = loader.audit()
        assert (audit.delivered, audit.dropped) == ((8, 2) if policy == "drop" else (10, 0))
        assert audit.adds_up is True


def test_rule_10_every_for_is_one_epoch_and_after_the_last_comes_nothing(pictures):
    with forebay.Loader(pictures(10), batch_size=3, size=8, shuffle=True, epochs=3) as loader:
        epochs = [[record for batch in loader for record in own(batch)] for _ in range(4)]
    assert [sorted(epoch) for epoch in epochs] == [list(range(10))] * 3 + [[]]
    assert len({tuple(epoch) for epoch in epochs[:3]}) > 1


def test_rule_10_leaving_a_for_early_goes_on_in_the_same_epoch(pictures):
    with forebay.Loader(pictures(12), batch_size=4, size=8, epochs=1) as loader:
        for batch in loader:
            first = own(batch)
            break
        rest = [record for batch in loader for record in own(batch)]
        assert first + rest == list(range(12))


def test_rule_10_an_exception_does_not_ack_and_reject_gives_back(pictures):
    with forebay.Loader(pictures(8), batch_size=4, size=8, epochs=1) as loader:
        try:
            for batch in loader:
                raise LookupError(batch.records[0])
        except LookupError:
            batch.reject()
        with pytest.raises(forebay.Error, match="already acknowledged"):
            batch.reject()
        assert sorted(record for batch in loader for record in own(batch)) == list(range(8))


def test_rule_10_reset_lists_the_rest_as_abandoned(pictures):
    with forebay.Loader(pictures(12), batch_size=4, size=8, epochs=2) as loader:
        loader.next()
        loader.reset()
        assert [record for batch in loader for record in own(batch)] == list(range(12))
        first, second = loader.audit()
        assert (first.delivered, first.abandoned, first.adds_up) == (4, 8, True)
        assert (second.delivered, second.adds_up) == (12, True)


@pytest.mark.parametrize("epochs", [2, None])
def test_rule_10_reset_behind_the_last_batch_abandons_nothing(pictures, epochs):
    with forebay.Loader(pictures(12), batch_size=4, size=8, epochs=epochs) as loader:
        for _ in range(3):
            loader.next()
        loader.reset()
        loader.reset()
        batch = loader.next()
        assert (batch.epoch, own(batch)) == (1, [0, 1, 2, 3])
        first = loader.audit()[0]
        assert (first.delivered, first.abandoned, first.adds_up) == (12, 0, True)


def test_rule_13_shards_have_an_exact_length_and_rotate(pictures):
    folder = pictures(10)
    seen = []
    for shard_id in range(2):
        with forebay.Loader(
            folder, batch_size=2, size=8, epochs=2, sharding=forebay.Shard(shard_id, 2), last_batch_policy="fill"
        ) as loader:
            epochs = [[batch.records.tolist() for batch in loader] for _ in range(2)]
            assert [len(epoch) for epoch in epochs] == [len(loader)] * 2
            seen.append([[record for batch in epoch for record in batch] for epoch in epochs])
    # The last record is repeated, and the shards rotate with the epoch.
    assert seen == [
        [[0, 1, 2, 3, 4, 4], [5, 6, 7, 8, 9, 9]],
        [[5, 6, 7, 8, 9, 9], [0, 1, 2, 3, 4, 4]],
    ]


def test_rule_14_views_are_read_only_and_stay_as_they_are(pictures):
    with forebay.Loader(pictures(20), batch_size=2, size=8, epochs=1) as loader:
        kept = loader.next().images
        with pytest.raises(ValueError, match="read-only"):
            kept[0] = 1
        before = kept.copy()
        copies = [loader.next().copy() for _ in range(9)]
        assert_array_equal(kept, before)
        copies[0].images[:] = 7
        assert [int(copy.records[0]) for copy in copies] == list(range(2, 20, 2))
    assert_array_equal(kept, before)


def test_rule_14_keeping_every_view_is_an_error_that_names_copy(pictures):
    with forebay.Loader(pictures(40), batch_size=2, size=8) as loader:
        with pytest.raises(forebay.SlotsHeld, match=r"batch\.copy\(\)"):
            [batch.images for batch in loader]
        assert loader.next().valid == 2


def test_rule_14_the_last_batch_stays_usable_and_older_ones_do_not_hold_up_a_loop(pictures):
    with forebay.Loader(pictures(12), batch_size=2, size=8, epochs=1) as loader:
        batches = list(loader)
        assert own(batches[-1]) == [10, 11]
        with pytest.raises(forebay.ClosedError, match=r"batch\.copy\(\)"):
            _ = batches[0].images


@pytest.mark.parametrize("shuffle", [False, True, "grains"])
def test_rule_22_and_23_a_state_goes_on_where_it_was_taken(pictures, shuffle):
    folder = pictures(20)
    settings = {"batch_size": 4, "size": 8, "shuffle": shuffle, "seed": 7, "epochs": 2}
    with forebay.Loader(folder, **settings) as loader:
        before = own(loader.next()) + own(loader.next())
        state = loader.state_dict()
        gone_further = own(loader.next())
        assert set(gone_further).isdisjoint(before)
    assert len(json.dumps(state)) < 2000
    state = pickle.loads(pickle.dumps(json.loads(json.dumps(state))))
    with forebay.Loader(folder, **settings) as loader:
        loader.load_state_dict(state)
        rest = [record for batch in loader for record in own(batch)]
        assert sorted(before + rest) == list(range(20))
        assert sorted(record for batch in loader for record in own(batch)) == list(range(20))
        assert all(audit.adds_up for audit in loader.audit())


def test_rule_56_where_each_record_is_read_by_itself_grains_of_one_record_are_shuffled(pictures):
    folder = pictures(12)

    def order(**settings):
        with forebay.Loader(folder, batch_size=4, size=8, seed=3, epochs=1, **settings) as loader:
            return [record for batch in loader for record in own(batch)]

    assert order(shuffle="grains") == order(shuffle="grains", shuffle_window=2) == order(shuffle=True) != order()


def test_rule_56_other_words_for_shuffle_are_refused(pictures):
    with pytest.raises(forebay.SettingsError, match='shuffle: is "shards"; give true, false or "grains"'):
        forebay.Loader(pictures(4), batch_size=4, size=8, shuffle="shards")
    with pytest.raises(forebay.SettingsError, match='shuffle: is "shard"; give "grains", as it is called now'):
        forebay.Loader(pictures(4), batch_size=4, size=8, shuffle="shard")
    with pytest.raises(forebay.SettingsError, match='shuffle_window: has an effect only with shuffle = "grains"'):
        forebay.Loader(pictures(4), batch_size=4, size=8, shuffle=True, shuffle_window=4)


def test_rule_23_a_loader_goes_back_within_its_own_run(pictures):
    with forebay.Loader(pictures(12), batch_size=4, size=8, epochs=1) as loader:
        state = loader.state_dict()
        loader.next()
        loader.next()
        loader.load_state_dict(state)
        assert [record for batch in loader for record in own(batch)] == list(range(12))


def test_rule_23_a_state_of_another_order_is_refused(pictures):
    folder = pictures(12)
    with forebay.Loader(folder, batch_size=4, size=8, shuffle=True, seed=1) as loader:
        state = loader.state_dict()
    with forebay.Loader(folder, batch_size=4, size=8, shuffle=True, seed=2) as loader:
        with pytest.raises(forebay.Error, match="seed"):
            loader.load_state_dict(state)
        with pytest.raises(forebay.SettingsError, match="version"):
            loader.load_state_dict({})
        with pytest.raises(forebay.SettingsError, match="damaged"):
            loader.load_state_dict({**state, "snapshot": "?"})
        for no_state in (None, [], "state", 3):
            with pytest.raises(forebay.SettingsError, match=r"that Loader\.state_dict\(\) returned"):
                loader.load_state_dict(no_state)
        for damage in ({"epoch": -1}, {"cursor": 2**64}, {"epoch": 1.5}, {"cursor": None}, {"epoch": True}):
            with pytest.raises(forebay.SettingsError, match="not a count"):
                loader.load_state_dict({**state, **damage})
        with pytest.raises(forebay.SettingsError, match="this state was changed: it says epoch 7"):
            loader.load_state_dict({**state, "epoch": 7})


def test_rule_26_all_loaders_of_a_process_share_one_daemon_which_goes_with_the_last(pictures):
    folder = pictures(8)
    first = forebay.Loader(folder, batch_size=4, size=8)
    second = forebay.Loader(folder, batch_size=2, size=8)
    (daemon,) = private_daemons()
    assert (own(first.next()), own(second.next())) == ([0, 1, 2, 3], [0, 1])
    first.close()
    assert own(second.next()) == [2, 3]
    second.close()
    wait_until(lambda: not alive(daemon))
    assert private_daemons() == []


def test_a_closed_loader_says_so_and_kept_arrays_stay(pictures):
    loader = forebay.Loader(pictures(8), batch_size=4, size=8)
    batch = loader.next()
    images = batch.images
    loader.close()
    loader.close()
    assert images[1, 0, 0, 0] == 1
    with pytest.raises(forebay.ClosedError):
        loader.next()
    with pytest.raises(forebay.ClosedError, match="copy"):
        _ = batch.images


def test_records_over_many_epochs_are_counted_once_each(pictures):
    with forebay.Loader(pictures(37), batch_size=5, size=8, shuffle=True, epochs=5) as loader:
        seen = Counter((batch.epoch, record) for _ in range(5) for batch in loader for record in own(batch))
        assert set(seen.values()) == {1}
        assert len(seen) == 5 * 37
        assert [audit.adds_up for audit in loader.audit()] == [True] * 5


def test_a_timeout_may_be_without_end_and_what_cannot_be_meant_is_refused_by_name(pictures):
    with forebay.Loader(pictures(8), batch_size=4, size=8, epochs=1) as loader:
        for wrong in (math.nan, -1.0, -math.inf):
            with pytest.raises(forebay.SettingsError, match="timeout="):
                loader.next(timeout=wrong)
        assert own(loader.next(timeout=math.inf)) == [0, 1, 2, 3]
        assert own(loader.next(timeout=1e300)) == [4, 5, 6, 7]
        assert loader.next(timeout=None) is None


@pytest.mark.parametrize("duplicate", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_loader_is_neither_pickled_nor_copied_and_says_why(pictures, duplicate):
    refused = pytest.raises(TypeError, match=r"bound to the process.*state_dict")
    with forebay.Loader(pictures(4), batch_size=4, size=8) as loader, refused:
        duplicate(loader)


def test_two_loaders_in_two_threads_each_get_every_record(pictures):
    folder, seen = pictures(40), [[], []]

    def read(records):
        with forebay.Loader(folder, batch_size=3, size=8, epochs=2, shuffle=True) as loader:
            for _ in range(2):
                records += [record for batch in loader for record in own(batch)]

    threads = [threading.Thread(target=read, args=(records,)) for records in seen]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [sorted(records) for records in seen] == [sorted([*range(40)] * 2)] * 2


def test_the_body_s_exception_passes_through_and_closes_the_loader(pictures):
    passed = pytest.raises(LookupError, match="mine")
    with passed, forebay.Loader(pictures(8), batch_size=4, size=8) as loader:
        loader.next()
        raise LookupError("mine")
    for use in (loader.next, loader.state_dict, loader.audit, loader.reset, lambda: list(loader)):
        with pytest.raises(forebay.ClosedError):
            use()
    assert private_daemons() == []
