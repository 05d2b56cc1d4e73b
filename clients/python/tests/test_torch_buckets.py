"""Batches of buckets as tensors, and a DataLoader that gives them. Skipped if PyTorch is not installed."""

from contextlib import ExitStack

import forebay
import pytest
from forebay import SettingsError
from sized import BUCKETS, RECORDS, check

torch = pytest.importorskip("torch", reason="PyTorch is not installed; `make test-torch` installs it")
from forebay.torch import DataLoader  # noqa: E402 - it imports PyTorch

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]

COLUMNS = ("planned", "sizes", "shown", "crop")


@pytest.mark.parametrize("copy", [True, False])
@pytest.mark.parametrize("layout", ["NHWC", "NCHW"])
def test_rule_64_each_batch_has_tensors_of_its_own_bucket(sized, layout, copy):
    sized = sized()
    with sized.loader(shuffle=True, seed=3, layout=layout) as loader:
        arrays = [batch.copy() for batch in loader]
    with sized.loader(shuffle=True, seed=3, layout=layout) as loader:
        shapes = set()
        for array, batch in zip(arrays, loader.torch(copy=copy)):
            shapes.add(tuple(batch.images.shape))
            assert batch.images.shape == array.images.shape
            assert batch.images.is_contiguous()
            assert (batch.images.numpy() == array.images).all()
            for name in COLUMNS:
                assert (batch[name].numpy() == array[name]).all()
                assert batch[name].dtype == (torch.int64 if name == "planned" else torch.int32)
            assert batch.shown[0].tolist() in (list(batch.images.shape[1:3]), list(batch.images.shape[2:]))
        assert len(shapes) == 3
    with sized.loader(shuffle=True, seed=3) as loader:
        dicts = list(loader.torch(as_dict=True, elements=("images", *COLUMNS)))
        assert [tuple(batch["images"].shape[1:3]) for batch in dicts] == [tuple(batch.shown[0]) for batch in arrays]
        assert [batch["planned"][0].item() for batch in dicts] == [batch.planned[0] for batch in arrays]


def test_rule_64_a_data_loader_gives_images_labels_and_the_columns_of_buckets(sized):
    sized = sized()
    with ExitStack() as stack:
        loader = DataLoader(sized.source, batch_size=4, shuffle=True, buckets=BUCKETS, seed=3, layout="NHWC")
        stack.callback(loader.close)
        expected = stack.enter_context(sized.loader(shuffle=True, seed=3))
        assert len(loader) == len(expected)
        for (images, labels, *columns), batch in zip(loader, expected):
            assert (images.numpy() == batch.images).all()
            assert labels.tolist() == [-1] * 4
            assert [column.tolist() for column in columns] == [batch[name].tolist() for name in COLUMNS]
        with pytest.warns(UserWarning, match="batches of buckets may have some"):
            assert loader.remainder == 0


def test_rule_64_random_crops_follow_manual_seed_also_without_shuffle(sized):
    sized, found = sized(), {}
    for number in (1, 2, 1):
        torch.manual_seed(number)
        loader = DataLoader(sized.source, batch_size=4, buckets={"rule": BUCKETS, "crop": "random"})
        crops = [crop.tolist() for *_, crop in loader]
        assert loader.seed == number
        loader.close()
        assert found.setdefault(number, crops) == crops
    assert found[1] != found[2]
    centred = DataLoader(sized.source, batch_size=4, buckets={"rule": BUCKETS, "crop": "center"})
    assert centred.seed == 0
    centred.close()


def test_rule_62_a_data_loader_continues_within_an_epoch_of_buckets(sized):
    sized = sized()
    settings = {"shuffle": True, "seed": 3, "buckets": {"rule": [*BUCKETS, "8x8"], "pixels": 16 * 16 * 4}}

    def numbers(batches):
        return [(tuple(images.shape), sizes.tolist()) for images, _, _, sizes, _, _ in batches]

    with ExitStack() as stack:
        loaders = [DataLoader(sized.source, **settings) for _ in range(2)]
        for loader in loaders:
            stack.callback(loader.close)
        first, second = loaders
        whole = numbers(first)
        assert len({shape for shape, _ in whole}) == 3
        iterator = iter(first)
        begun = numbers(next(iterator) for _ in range(3))
        second.load_state_dict(first.state_dict())
        rest, ends = [], []
        for batch in second:
            rest += numbers([batch])
            ends.append(second.end_of_dataloader)
        assert len(begun + rest) == len(whole)
        assert ends == [False] * (len(rest) - 1) + [True], "Accelerate learns which batch is the last one"
        assert begun + rest != whole, "the second epoch has an order of its own"
        assert numbers(iterator) == rest


@pytest.mark.parametrize("buckets", [BUCKETS, {"rule": BUCKETS, "pixels": 16 * 16 * 8}], ids=["places", "pixels"])
def test_rule_62_ranks_of_a_job_have_their_parts_of_each_step(sized, monkeypatch, buckets):
    sized = sized()
    monkeypatch.setenv("WORLD_SIZE", "2")
    settings = {"shuffle": True, "seed": 3, "buckets": buckets, "layout": "NHWC"}
    if buckets == BUCKETS:
        settings["batch_size"] = 4
    with ExitStack() as stack:
        ranks = []
        for rank in "01":
            monkeypatch.setenv("RANK", rank)
            ranks.append(DataLoader(sized.source, **settings))
            stack.callback(ranks[-1].close)
        with pytest.raises(SettingsError, match=r"batches of the same shape:\n.*forebay.Lockstep\(8\)"):
            sized.loader()
        seen = []
        for step in zip(*(rank.loader for rank in ranks)):
            assert len({(batch.images.shape, batch.planned[0]) for batch in step}) == 1
            assert step[0].images.shape[0] == 4
            for batch in step:
                check(sized, batch)
                seen += batch.records[batch.mask].tolist()
        assert sorted(seen) == list(range(RECORDS))


def test_rule_64_dropped_leftovers_are_a_setting_of_buckets(sized):
    sized = sized()
    with pytest.raises(SettingsError, match=r'drop_last: with buckets.*"leftovers": "drop"'):
        DataLoader(sized.source, batch_size=4, buckets=BUCKETS, drop_last=True)
    loader = DataLoader(sized.source, batch_size=4, buckets={"rule": BUCKETS, "leftovers": "drop"})
    try:
        batches = list(loader)
        assert len(batches) == len(loader) < RECORDS / 4
        assert all((planned == 4).all() for _, _, planned, *_ in batches)
    finally:
        loader.close()


def test_accelerate_takes_a_data_loader_of_buckets_as_it_is_and_refuses_to_share_it_again(sized):
    accelerate = pytest.importorskip("accelerate", reason="accelerate is not installed; `make test-torch` installs it")
    accelerator = accelerate.Accelerator(cpu=True)
    loader = DataLoader(sized().source, batch_size=4, buckets=BUCKETS)
    try:
        assert accelerator.prepare(loader) is loader
        with pytest.raises(SettingsError, match=r"skip_first_batches.*register_for_checkpointing"):
            next(iter(accelerate.skip_first_batches(loader, 1)))
        shapes = {images.shape[2:] for images, *_ in loader}
        assert len(shapes) == 3
    finally:
        loader.close()


def test_forebay_has_the_buckets_of_a_stream_of_a_service(service, sized):
    sized = sized()
    daemon = service(sized.folder, index=str(sized.index), buckets=BUCKETS, batch_size=4, epochs=1, layout="NCHW")
    loader = DataLoader("train", socket=daemon.socket)
    try:
        shapes = [tuple(images.shape) for images, labels in loader]
        assert {shape[2:] for shape in shapes} == {(12, 18), (18, 12), (16, 16)}
        assert len(shapes) == len(loader)
    finally:
        loader.close()
    assert forebay.Loader("train", socket=daemon.socket).next() is None
