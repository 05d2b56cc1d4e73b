"""Batches as a `tf.data.Dataset`. Skipped if TensorFlow is not installed."""

import gc
import json
import types

import forebay
import numpy as np
import pytest
from coordinators import complete
from forebay import DataShardService

tf = pytest.importorskip("tensorflow", reason="TensorFlow is not installed; `make test-tf` installs it")
import forebay.sharding.tf as shards  # noqa: E402 - it imports TensorFlow
import forebay.tf  # noqa: E402

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]


def start_of(tensor):
    """Address of a tensor's first byte."""
    return np.asarray(memoryview(tensor)).__array_interface__["data"][0]


def is_within(rings, tensor):
    """Whether a tensor is memory of one of these rings."""
    return any(0 <= start_of(tensor) - at < size for at, size in rings)


# The first test: TensorFlow keeps generators as long as the process lives, and with them the daemon of the Loaders that
# datasets open. A later test would find one without this driver.
@pytest.mark.usefixtures("gpu")
def test_pixels_in_a_gpu_are_refused(pictures):
    with forebay.Loader(pictures(4), batch_size=4, size=8, placement="gpu:0") as loader:  # noqa: SIM117 - one raises
        with pytest.raises(forebay.SettingsError, match='placement="host"'):
            forebay.tf.dataset(loader)


def test_each_iteration_is_an_epoch_with_every_record(pictures):
    with forebay.Loader(pictures(10, classes=2), batch_size=4, size=8, shuffle=True, epochs=2) as loader:
        dataset = forebay.tf.dataset(loader, elements=("images", "labels", "records"))
        for _ in range(2):
            seen = []
            for images, labels, records in dataset:
                assert images.dtype == tf.uint8
                np.testing.assert_array_equal(images[:, 0, 0, 0], records)
                np.testing.assert_array_equal(labels, records.numpy() // 5)
                seen += records.numpy().tolist()
            assert sorted(seen) == list(range(10))
        assert [epoch.adds_up for epoch in loader.audit()][:2] == [True, True]


@pytest.mark.parametrize(("policy", "places"), [("drop", 4), ("fill", 4), ("partial", None)])
def test_shapes_are_static_but_for_a_last_batch_that_may_be_smaller(pictures, policy, places):
    settings = {"batch_size": 4, "size": 8, "epochs": 1, "last_batch_policy": policy}
    for layout, axes in (("NHWC", (8, 8, 3)), ("NCHW", (3, 8, 8))):
        dataset = forebay.tf.dataset(pictures(6), dtype=tf.float16, layout=layout, **settings)
        images, labels = dataset.element_spec
        assert (images.shape.as_list(), images.dtype) == ([places, *axes], tf.float16)
        assert (labels.shape.as_list(), labels.dtype) == ([places], tf.int64)
        last = {"drop": [4], "fill": [4, 4], "partial": [4, 2]}[policy]
        assert [len(labels) for _, labels in dataset] == last


@pytest.mark.parametrize("copy", [True, False])
@pytest.mark.parametrize(("layout", "axes"), [("NHWC", [None, None, 3]), ("NCHW", [3, None, None])])
def test_rule_64_each_batch_of_a_bucket_has_its_own_height_and_width(sized, layout, axes, copy):
    sized = sized()
    with sized.loader(shuffle=True, layout=layout) as loader:
        expected = [batch.copy() for batch in loader]
    with sized.loader(shuffle=True, layout=layout) as loader:
        dataset = forebay.tf.dataset(loader, elements=("images", "sizes", "crop"), copy=copy)
        assert dataset.element_spec[0].shape.as_list() == [None, *axes]
        assert dataset.element_spec[1].shape.as_list() == [None, 2]
        found = 0
        for batch, (images, sizes, crop) in zip(expected, dataset):
            np.testing.assert_array_equal(images, batch.images)
            np.testing.assert_array_equal(sizes, batch.sizes)
            np.testing.assert_array_equal(crop, batch.crop)
            del images
            found += 1
        assert found == len(expected) == len(loader)
        assert len({batch.images.shape for batch in expected}) == 3


def test_rule_14_a_view_is_the_rings_memory_and_a_copy_is_not(pictures):
    with forebay.Loader(pictures(40), batch_size=4, size=8, epochs=3) as loader:
        rings = [ring.slots for ring in loader._feed.session.rings()]
        # A variable keeps each batch until the next one is there.
        for copy in (False, True, False):
            records = []
            for images, numbers in forebay.tf.dataset(loader, elements=("images", "records"), copy=copy):
                assert is_within(rings, images) != copy
                records += numbers.numpy().tolist()
            assert sorted(records) == list(range(40))
        del images, numbers
        gc.collect()


def test_rule_14_tensorflow_writes_to_no_view(pictures):
    # TensorFlow reuses the memory of a tensor that nothing else reads. A write to the ring would end the process.
    with forebay.Loader(pictures(40), batch_size=4, size=8, dtype="float32", epochs=1) as loader:
        dataset = forebay.tf.dataset(loader, elements=["images"], copy=False)
        assert sum(len(images) for images in dataset.map(tf.nn.relu)) == 40


def test_copies_may_be_drawn_ahead_and_kept(pictures):
    dataset = forebay.tf.dataset(pictures(40), elements=["records"], batch_size=4, size=8, epochs=1)
    kept = list(dataset.prefetch(5))
    assert sorted(np.concatenate(kept)) == list(range(40))


def test_bfloat16_is_tensorflows(pictures):
    for copy in (True, False):
        with forebay.Loader(pictures(4), batch_size=4, size=8, epochs=1, dtype=tf.bfloat16) as loader:
            images = next(iter(forebay.tf.dataset(loader, elements=["images"], copy=copy)))
            colours = np.array([[number, 100, 200] for number in range(4)], np.float32) / 255
            assert images.dtype == tf.bfloat16
            np.testing.assert_array_equal(images[:, 0, 0], tf.cast(colours, tf.bfloat16))


def test_columns_with_lists_are_ragged_tensors(annotated):
    settings = {"batch_size": 2, "transform": forebay.transforms.Resize((8, 8)), "epochs": 1}
    dataset = forebay.tf.dataset(annotated, elements=["records", "boxes"], as_dict=True, **settings)
    assert dataset.element_spec["boxes"].shape.as_list() == [None, None, 4]
    found = {}
    for batch in dataset:
        found.update(zip(batch["records"].numpy().tolist(), batch["boxes"].row_lengths().numpy().tolist()))
    assert found == {0: 0, 1: 1, 2: 2, 3: 0, 4: 3}


@pytest.mark.parametrize("copy", [True, False])
def test_a_column_with_lists_has_the_same_rows_as_that_of_numpy(annotated, copy):
    settings = {"batch_size": 2, "transform": forebay.transforms.Resize((8, 8)), "epochs": 1}
    with forebay.Loader(annotated, **settings) as loader:
        arrays = [(batch.boxes.copy(), batch["classes"].copy()) for batch in loader]
    batches = list(forebay.tf.dataset(annotated, elements=["boxes", "classes"], copy=copy, **settings))
    assert len(batches) == len(arrays) == 3
    for expected, found in zip(arrays, batches):
        for array, column in zip(expected, found):
            assert (int(column.nrows()), column.to_list()) == (len(array), array.tolist())
            assert [column[place].numpy().tolist() for place in range(len(array))] == array.tolist()
            np.testing.assert_array_equal(column.flat_values, array.values)
            (splits,) = column.nested_row_splits
            np.testing.assert_array_equal(splits, array.offsets[0])


def test_texts_are_read_as_the_table_of_columns_says(pictures):
    folder, captions = pictures(4), ["a cat", "", "Ä", "two\nlines"]
    lines = [{"file_name": f"{number:05}.ppm", "caption": text} for number, text in enumerate(captions)]
    (folder / "metadata.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    settings = {"batch_size": 4, "size": 8, "epochs": 1, "columns": ["caption"]}
    with forebay.Loader(folder, **settings) as loader:
        assert next(iter(loader)).caption.text() == captions
    (column,) = forebay.tf.dataset(folder, elements=["caption"], **settings)
    assert [bytes(row).decode() for row in column.numpy()] == captions


def test_keras_fits_and_weighs_repeated_places_with_nothing(pictures):
    keras = tf.keras
    model = keras.Sequential([keras.layers.Rescaling(1 / 255), keras.layers.Flatten(), keras.layers.Dense(2)])
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    settings = {"batch_size": 4, "size": 8, "shuffle": True, "last_batch_policy": "fill"}
    with forebay.Loader(pictures(10, classes=2), **settings) as loader:
        history = model.fit(forebay.tf.dataset(loader, elements=("images", "labels", "mask")), epochs=2, verbose=0)
        assert len(history.history["loss"]) == 2
        assert [epoch.delivered for epoch in loader.audit()][:2] == [10, 10]


def test_input_pipelines_read_shards_and_a_strategy_takes_no_batch_away(pictures):
    folder = pictures(12)
    seen = []
    for number in range(2):
        context = types.SimpleNamespace(num_input_pipelines=2, input_pipeline_id=number)
        dataset = forebay.tf.dataset(
            folder, elements=["records"], batch_size=2, size=8, epochs=1, input_context=context
        )
        seen += np.concatenate(list(dataset)).tolist()
    assert sorted(seen) == list(range(12))
    strategy = tf.distribute.MirroredStrategy(["cpu:0"])
    whole = forebay.tf.dataset(folder, elements=["records"], batch_size=4, size=8, epochs=1, last_batch_policy="drop")
    assert sorted(np.concatenate(list(strategy.experimental_distribute_dataset(whole)))) == list(range(12))


def test_a_strategy_gives_each_input_pipeline_its_dataset(pictures):
    strategy = tf.distribute.MirroredStrategy(["cpu:0"])
    with forebay.Loader(pictures(12), batch_size=4, size=8, epochs=1, last_batch_policy="drop") as loader:
        own = strategy.distribute_datasets_from_function(
            lambda context: forebay.tf.dataset(loader, elements=["records"], input_context=context)
        )
        assert sorted(np.concatenate(list(own))) == list(range(12))


def test_what_cannot_be_is_refused_with_the_way_out(pictures):
    folder = pictures(4)
    with forebay.Loader(folder, batch_size=4, size=8) as loader:
        with pytest.raises(forebay.SettingsError, match="'boxes' is not a column; the columns are images, labels"):
            forebay.tf.dataset(loader, elements=["boxes"])
        with pytest.raises(forebay.SettingsError, match="it is empty"):
            forebay.tf.dataset(loader, elements=[])
        with pytest.raises(forebay.SettingsError, match=r"give a tuple of names, such as \('images',\)"):
            forebay.tf.dataset(loader, elements="images")
        with pytest.raises(forebay.SettingsError, match="batch_size: the Loader has its settings already"):
            forebay.tf.dataset(loader, batch_size=2)
        context = types.SimpleNamespace(num_input_pipelines=2, input_pipeline_id=1)
        with pytest.raises(forebay.SettingsError, match="sharding: the Loader has its settings already"):
            forebay.tf.dataset(loader, input_context=context)


def read(shard):
    """The records of a shard, as a reader of rows would give them."""
    return ({"row": record} for record in shard.records)


def test_keras_reports_each_batch_of_a_dataset_of_shards(client, coordinator):
    reader = client(26, kind=DataShardService, batch_size=4, num_epochs=2, num_minibatches_per_shard=2)
    rows = shards.dataset(reader, read, {"row": tf.TensorSpec((), tf.int64)})
    found = []
    callback = shards.ReportCallback(reader)
    # As `fit()` does it: TensorFlow has read further records when a batch is reported.
    for number, element in enumerate(rows.batch(4).prefetch(1)):
        found += element["row"].numpy().tolist()
        callback.on_train_batch_end(number)
    assert sorted(found) == sorted([*range(26), *range(26)])
    assert complete(coordinator.audit(), 26)


def test_a_session_reports_each_run(client, coordinator):
    reader = client(10, batch_size=5)
    with tf.Graph().as_default():
        rows = shards.dataset(reader, read, {"row": tf.TensorSpec((), tf.int64)}).batch(5)
        batch = tf.compat.v1.data.make_one_shot_iterator(rows).get_next()["row"]
        with tf.compat.v1.train.MonitoredSession(hooks=[shards.ReportHook(reader)]) as session:
            found = [session.run(batch).tolist() for _ in range(2)]
    assert found == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]
    assert complete(coordinator.audit(), 10)
