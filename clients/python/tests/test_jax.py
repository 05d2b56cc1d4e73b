"""Batches as arrays of JAX, whose CPU plays four devices. Skipped if JAX is not installed."""

import json
import os
import re
from pathlib import Path

import forebay
import numpy as np
import pytest

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=4")
jax = pytest.importorskip("jax", reason="JAX is not installed; `make test-jax` installs it")
import forebay.jax  # noqa: E402 - it imports JAX
from forebay import frameworks  # noqa: E402 - after it was looked whether JAX is there
from forebay.aligned import aligned_copy  # noqa: E402 - the same
from jax import numpy as jnp  # noqa: E402 - the same
from processes import free_port  # noqa: E402 - the same

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]


def is_within(rings, array):
    """Whether an array is memory of one of these rings."""
    return any(0 <= array.unsafe_buffer_pointer() - at < size for at, size in rings)


def test_each_loop_is_an_epoch_with_every_record(pictures):
    with forebay.jax.batches(
        pictures(10, classes=2),
        elements=("images", "labels", "records"),
        batch_size=4,
        size=8,
        shuffle=True,
        epochs=2,
    ) as loader:
        for _ in range(2):
            seen = []
            for images, labels, records in loader:
                assert all(isinstance(each, jax.Array) for each in (images, labels, records))
                assert (images.dtype, labels.dtype) == (jnp.uint8, jnp.int32)
                np.testing.assert_array_equal(images[:, 0, 0, 0], records)
                np.testing.assert_array_equal(labels, records // 5)
                seen += records.tolist()
            assert sorted(seen) == list(range(10))
        assert [epoch.adds_up for epoch in loader.audit()][:2] == [True, True]


def test_a_batch_is_spread_over_the_devices_of_the_process(pictures):
    assert jax.local_device_count() == 4, "this file sets XLA_FLAGS before JAX is imported"
    sharding = forebay.jax.data_sharding()
    settings = {"batch_size": 8, "size": 8, "epochs": 1, "last_batch_policy": "drop"}
    with forebay.jax.batches(pictures(24), sharding=sharding, as_dict=True, **settings) as loader:
        batches = list(loader)
    assert len(batches) == 3
    for number, batch in enumerate(batches):
        assert batch["images"].sharding == sharding
        parts = sorted(batch["images"].addressable_shards, key=lambda part: part.index[0].start)
        assert [part.device for part in parts] == jax.local_devices()
        colours = [np.asarray(part.data)[:, 0, 0, 0].tolist() for part in parts]
        assert colours == [[number * 8 + part * 2, number * 8 + part * 2 + 1] for part in range(4)]
        # A computation over all devices.
        assert int(jax.jit(lambda images: images[:, 0, 0, 0].astype(int).sum())(batch["images"])) == sum(
            range(number * 8, number * 8 + 8)
        )


def test_rule_64_each_batch_has_arrays_of_its_own_bucket_also_over_several_devices(sized):
    sized = sized()
    columns = ("images", "planned", "sizes", "shown", "crop")
    with sized.loader(shuffle=True) as loader:
        expected = [{name: batch[name].copy() for name in columns} for batch in loader]
    for sharding, copy in ((None, False), (None, True), (forebay.jax.data_sharding(), True)):
        with sized.loader(shuffle=True) as loader:
            given = {"elements": columns, "as_dict": True, "sharding": sharding, "copy": copy}
            shapes = set()
            for number, batch in enumerate(forebay.jax.batches(loader, **given)):
                for name, column in expected[number].items():
                    np.testing.assert_array_equal(batch[name], column)
                shapes.add(batch["images"].shape)
                if sharding is not None:
                    assert {part.data.shape[0] for part in batch["images"].addressable_shards} == {1}
                del batch
            assert len(shapes) == 3
            assert number + 1 == len(expected) == len(loader)


def test_rule_64_devices_that_cannot_always_share_the_pictures_of_a_bucket_are_refused(sized):
    sized = sized()
    sharding, pixels = forebay.jax.data_sharding(), {"rule": ["12x18", "8x8"], "pixels": 2000, "leftovers": "repeat"}
    settings = {"sharding": sharding, "buckets": pixels, "epochs": 1}
    with pytest.raises(forebay.SettingsError, match="give divisor = 4 or a multiple"):
        forebay.jax.batches(sized.source, **settings)
    with forebay.jax.batches(sized.source, **settings | {"buckets": {**pixels, "divisor": 4}}) as loader:
        assert {images.shape for images, _ in loader} == {(8, 12, 18, 3), (28, 8, 8, 3)}
    with sized.loader(batch_size=3) as loader, pytest.raises(forebay.SettingsError, match="batch_size=3 does not fit"):
        forebay.jax.batches(loader, sharding=sharding)


def test_a_device_may_be_named_and_a_replicated_batch_needs_no_equal_parts(pictures):
    folder = pictures(6)
    settings = {"batch_size": 4, "size": 8, "epochs": 1, "elements": ["records"]}
    third = jax.local_devices()[2]
    with forebay.jax.batches(folder, sharding=third, **settings) as loader:
        found = list(loader)
    assert [array.devices() for array in found] == [{third}] * 2
    everywhere = jax.sharding.NamedSharding(forebay.jax.data_sharding().mesh, jax.sharding.PartitionSpec())
    with forebay.jax.batches(folder, sharding=everywhere, **settings) as loader:
        found = list(loader)
    assert [(len(array), len(array.devices())) for array in found] == [(4, 4), (2, 4)]


def test_rule_14_a_view_is_the_rings_memory_and_a_copy_is_not(pictures):
    with forebay.Loader(pictures(40), batch_size=4, size=8, epochs=3) as loader:
        rings = [ring.slots for ring in loader._feed.session.rings()]
        for copy in (False, True, False):
            records = []
            for images, numbers in forebay.jax.batches(loader, elements=("images", "records"), copy=copy):
                assert is_within(rings, images) != copy
                np.testing.assert_array_equal(images[:, 0, 0, 0], numbers)
                records += numbers.tolist()
            assert sorted(records) == list(range(40))
        del images, numbers


def test_a_batch_too_many_without_a_copy_is_told_with_the_way_out(pictures):
    with forebay.jax.batches(pictures(40), batch_size=4, size=8, epochs=1, copy=False) as loader:
        kept = [loader.next() for _ in range(2)]
        with pytest.raises(forebay.SlotsHeld, match=r"jax\.block_until_ready.* Or set copy=True"):
            loader.next()
        del kept[0]
        images, _ = loader.next()
        assert images[:, 0, 0, 0].tolist() == [8, 9, 10, 11]
        del kept, images


def test_jax_uses_an_aligned_copy_as_it_is(pictures, monkeypatch):
    copies = []
    monkeypatch.setattr(forebay.jax, "aligned_copy", lambda array: copies.append(aligned_copy(array)) or copies[-1])
    with forebay.jax.batches(pictures(4), batch_size=4, size=8, epochs=1) as loader:
        images, _ = loader.next()
    assert images.unsafe_buffer_pointer() == copies[0].ctypes.data


def test_copies_may_be_kept(pictures):
    with forebay.jax.batches(pictures(40), batch_size=4, size=8, epochs=1) as loader:
        kept = [images for images, _ in loader]
    np.testing.assert_array_equal(np.concatenate(kept)[:, 0, 0, 0], range(40))


@pytest.mark.parametrize("copy", [True, False])
def test_rule_14_a_donated_batch_is_not_written_in_the_ring(pictures, copy):
    # A write to the ring would end the process.
    step = jax.jit(lambda images: images + 1, donate_argnums=0)
    with forebay.jax.batches(pictures(40), batch_size=4, size=8, epochs=2, copy=copy) as loader:
        for _ in range(2):
            donated, first = [], []
            for images, _ in loader:
                first.append(int(step(images)[0, 0, 0, 0]))
                donated.append(images.is_deleted())
            assert first == list(range(1, 41, 4))
            assert donated == [True] * 10


def test_bfloat16_is_jaxs(pictures):
    for copy in (True, False):
        with forebay.jax.batches(
            pictures(4), elements=["images"], batch_size=4, size=8, epochs=1, dtype=jnp.bfloat16, copy=copy
        ) as loader:
            (images,) = list(loader)
        colours = np.array([[number, 100, 200] for number in range(4)], np.float32) / 255
        assert images.dtype == jnp.bfloat16
        np.testing.assert_array_equal(images[:, 0, 0], colours.astype(jnp.bfloat16))


def test_a_copy_is_passed_on_by_dlpack(pictures):
    with forebay.Loader(pictures(4), batch_size=4, size=8, epochs=1) as loader:
        images = jax.dlpack.from_dlpack(loader.next().copy().images)
    assert images[:, 0, 0, 0].tolist() == [0, 1, 2, 3]


def test_the_example_of_the_documentation_runs(pictures):
    page = (Path(__file__).resolve().parents[3] / "docs" / "jax.md").read_text()
    code = page.split("```python\n")[1].split("```")[0]
    folder = pictures(8)
    assert "/data/train" in code
    assert "batch_size=256" in code
    names = {"EPOCHS": 2, "state": 0, "step": lambda state, images, labels: state + len(images) + len(labels)}
    exec(code.replace("/data/train", str(folder)).replace("batch_size=256", "batch_size=4"), names)
    names["train"].close()
    assert names["state"] == 2 * 2 * 8


def test_a_state_goes_on_where_it_was(pictures):
    settings = {"elements": ["records"], "batch_size": 4, "size": 8, "epochs": 1, "shuffle": True}
    with forebay.jax.batches(pictures(20), **settings) as loader:
        before = [loader.next().tolist() for _ in range(2)]
        state = loader.state_dict()
        rest = [records.tolist() for records in loader]
    with forebay.jax.batches(pictures(20), **settings) as loader:
        loader.load_state_dict(state)
        assert [records.tolist() for records in loader] == rest
    assert sorted(number for batch in before + rest for number in batch) == list(range(20))


def test_ranks_are_those_of_an_initialised_jax_distributed(monkeypatch):
    assert frameworks.ranks() is None
    monkeypatch.setattr(jax.distributed, "is_initialized", lambda: True)
    assert frameworks.ranks() == (0, 1, "jax.distributed")


def test_each_process_of_a_job_holds_its_part_of_a_global_batch(pictures, trainer):
    folder = pictures(16)
    port = free_port()
    code = """
        import jax
        jax.distributed.initialize(f"127.0.0.1:{port}", num_processes=2, process_id=int(number))
        import forebay.jax
        try:
            forebay.jax.batches(folder, batch_size=4, size=8)
        except forebay.SettingsError as error:
            assert "jax.distributed" in str(error), error
        else:
            raise AssertionError("every process would read everything")
        settings = dict(batch_size=4, size=8, epochs=1, last_batch_policy="drop")
        shard = forebay.Shard(jax.process_index(), jax.process_count())
        unequal = forebay.Shard(jax.process_index(), jax.process_count(), pad_last_batch=False)
        wanted = dict(elements=["records"], sharding=forebay.jax.data_sharding(jax.devices()))
        try:
            forebay.jax.batches(forebay.Loader(folder, sharding=unequal, **settings), **wanted)
        except forebay.SettingsError as error:
            assert "wait for the others for ever" in str(error), error
        else:
            raise AssertionError("a process with fewer batches would wait for ever")
        loader = forebay.jax.batches(forebay.Loader(folder, sharding=shard, **settings), **wanted)
        for records in loader:
            parts = sorted(records.addressable_shards, key=lambda part: part.index[0].start)
            held = {part.index[0].start: part.data.tolist() for part in parts}
            print(json.dumps([records.shape, held]), flush=True)
        loader.close()
    """
    processes = [trainer(code, number=number, port=port, folder=folder) for number in range(2)]
    found = [[json.loads(line) for line in process.stdout] for process in processes]
    assert [process.wait() for process in processes] == [0, 0]
    # Each process has four devices, and the batch of both has eight places.
    for number in range(2):
        start = number * 8
        assert found[number] == [
            [[8], {str(number * 4 + part): [start + step * 4 + part] for part in range(4)}] for step in range(2)
        ]


def test_what_cannot_be_is_refused_with_the_way_out(pictures, annotated):
    folder = pictures(8)
    several = {"sharding": forebay.jax.data_sharding(), "batch_size": 4, "size": 8}
    with forebay.Loader(folder, batch_size=4, size=8) as loader:
        with pytest.raises(forebay.SettingsError, match="'boxes' is not a column; the columns are images, labels"):
            forebay.jax.batches(loader, elements=["boxes"])
        with pytest.raises(forebay.SettingsError, match="it is empty"):
            forebay.jax.batches(loader, elements=[])
        with pytest.raises(forebay.SettingsError, match=re.escape("give a tuple of names, such as ('images',)")):
            forebay.jax.batches(loader, elements="images")
        with pytest.raises(forebay.SettingsError, match="batch_size: the Loader has its settings already"):
            forebay.jax.batches(loader, batch_size=2)
    with pytest.raises(forebay.SettingsError, match='give "drop" or "fill"'):
        forebay.jax.batches(folder, **several)
    with pytest.raises(forebay.SettingsError, match="batch_size=6 does not fit the sharding"):
        forebay.jax.batches(folder, **{**several, "batch_size": 6, "last_batch_policy": "drop"})
    lists = {"elements": ["boxes"], "transform": forebay.transforms.Resize((8, 8)), "last_batch_policy": "drop"}
    with pytest.raises(forebay.SettingsError, match="'boxes' has a list for each place"):
        forebay.jax.batches(annotated, batch_size=4, sharding=forebay.jax.data_sharding(), **lists)


@pytest.mark.parametrize("copy", [True, False])
def test_a_column_with_lists_is_used_as_that_of_numpy_is(annotated, copy):
    settings = {"batch_size": 2, "transform": forebay.transforms.Resize((8, 8)), "epochs": 1}
    with forebay.Loader(annotated, **settings) as loader:
        arrays = [(batch.boxes.copy(), batch["classes"].copy()) for batch in loader]
    with forebay.Loader(annotated, **settings) as loader:
        columns = [
            [(column.tolist(), len(column), column.lengths.tolist(), repr(column)) for column in batch]
            for batch in forebay.jax.batches(loader, elements=["boxes", "classes"], copy=copy)
        ]
    assert len(columns) == 3
    for expected, found in zip(arrays, columns):
        for array, (rows, places, lengths, shown) in zip(expected, found):
            assert (rows, places, lengths) == (array.tolist(), len(array), array.lengths.tolist())
            assert "forebay.jax.JaxRagged" in shown


def test_a_column_with_lists_is_an_argument_of_a_compiled_function():
    letters = jax.numpy.frombuffer("aÄ".encode(), jax.numpy.uint8)
    column = forebay.jax.JaxRagged(letters, (jax.numpy.array([0, 1, 3]),))
    assert column.text() == ["a", "Ä"]
    moved = jax.jit(lambda column: jax.tree.map(lambda part: part + 0, column))(column)
    assert (type(moved), moved.text()) == (forebay.jax.JaxRagged, ["a", "Ä"])


@pytest.mark.parametrize("sharding", [jax.sharding.PartitionSpec("batch"), "gpu", 0])
def test_what_is_no_sharding_is_refused_before_the_loader_is_opened(monkeypatch, sharding):
    monkeypatch.setattr(forebay.elements, "Loader", None)
    with pytest.raises(forebay.SettingsError, match=r"give a device or a jax\.sharding\.Sharding, such as"):
        forebay.jax.batches("/data/train", sharding=sharding, batch_size=4, size=8)


def test_a_loader_that_was_opened_is_closed_after_any_exception(monkeypatch, pictures):
    opened = []

    class Noted(forebay.Loader):
        def __init__(self, *arguments, **settings):
            super().__init__(*arguments, **settings)
            opened.append(self)

    def fails(*_, **__):
        raise RuntimeError("no backend")

    monkeypatch.setattr(forebay.elements, "Loader", Noted)
    monkeypatch.setattr(forebay.jax, "_Conversion", fails)
    with pytest.raises(RuntimeError, match="no backend"):
        forebay.jax.batches(pictures(4), batch_size=4, size=8)
    (loader,) = opened
    with pytest.raises(forebay.ClosedError):
        loader.next()


@pytest.mark.usefixtures("gpu")
def test_pixels_in_a_gpu_are_refused(pictures):
    with forebay.Loader(pictures(4), batch_size=4, size=8, placement="gpu:0") as loader:  # noqa: SIM117 - one raises
        with pytest.raises(forebay.SettingsError, match='placement="host"'):
            forebay.jax.batches(loader)
