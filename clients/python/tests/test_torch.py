"""Batches as tensors. Skipped if PyTorch is not installed."""

import json
import logging
import types
from typing import ClassVar

import forebay
import numpy as np
import pytest
from forebay.dtype import signed

torch = pytest.importorskip("torch", reason="PyTorch is not installed; `make test-torch` installs it")
pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]


def test_rule_14_tensors_are_copies_that_may_be_kept_and_written(pictures):
    with forebay.Loader(pictures(20), batch_size=4, size=8, epochs=1) as loader:
        batches = list(loader.torch())
    assert len(batches) == len(loader.torch()) == 5
    assert torch.cat([batch.records for batch in batches]).tolist() == list(range(20))
    batches[0].images.zero_()
    assert batches[1].images[0, 0, 0].tolist() == [4, 100, 200]
    assert (batches[0].labels.dtype, batches[0].valid) == (torch.int64, 4)


def test_what_a_subclass_of_loader_overrides_is_used(pictures):
    closed = []

    class Mine(forebay.Loader):
        def state_dict(self):
            return {"mine": super().state_dict()}

        def close(self):
            closed.append(True)
            super().close()

    with Mine(pictures(4), batch_size=4, size=8).torch() as tensors:
        assert list(tensors.state_dict()) == ["mine"]
    assert closed == [True]


@pytest.mark.filterwarnings("error")
def test_rule_14_views_share_the_rings_memory(pictures):
    with forebay.Loader(pictures(8), batch_size=4, size=8, epochs=1, dtype="float16") as loader:
        (ring,) = loader._feed.session.rings()
        start, length = ring.slots
        for batch in loader.torch(copy=False):
            assert batch.images.dtype == torch.float16
            for tensor in (batch.images, batch.labels, batch.records, batch.mask):
                assert start <= tensor.data_ptr() < start + length
    with forebay.Loader(pictures(8), batch_size=4, size=8, epochs=1) as loader:
        (ring,) = loader._feed.session.rings()
        start, length = ring.slots
        for batch in loader.torch():
            assert not start <= batch.images.data_ptr() < start + length, "a copy is no view"


@pytest.mark.parametrize("copy", [True, False])
def test_a_batch_of_named_columns_unpacks_as_them(annotated, copy):
    with forebay.Loader(annotated, batch_size=2, size=8, epochs=1) as loader:
        whole = loader.torch().next()
        loader.reset()
        assert repr(loader.torch()) == f"<forebay.torch.TorchLoader of {loader!r}>"
    with forebay.Loader(annotated, batch_size=2, size=8, epochs=1) as loader:
        images, labels = loader.torch(elements=("images", "labels"), copy=copy).next()
        assert torch.equal(images, whole.images)
        assert torch.equal(labels, whole.labels)
        del images, labels
        for refused, words in ((("boxen",), "'boxen' is not a column"), ((), "it is empty"), ("images", "a tuple of")):
            with pytest.raises(forebay.SettingsError, match=words):
                loader.torch(elements=refused)
    with forebay.Loader(annotated, batch_size=2, size=8, epochs=1) as loader:
        soft = loader.torch(elements=["labels", "boxes"], as_dict=True, num_classes=2).next()
        assert list(soft) == ["labels", "boxes"]
        assert soft["labels"].shape == (2, 2)
        assert torch.equal(soft["boxes"].values, whole.boxes.values)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("arguments", [{}, {"copy": False}, {"device": "cpu"}])
def test_bfloat16_is_pytorchs_on_every_way(pictures, arguments):
    for dtype in ["bfloat16", torch.bfloat16]:
        with forebay.Loader(pictures(4), batch_size=4, size=8, epochs=1, dtype=dtype) as loader:
            images = loader.torch(**arguments).next().images
            colours = torch.tensor([[number, 100, 200] for number in range(4)]) / 255.0
            assert images.dtype == torch.bfloat16
            assert torch.equal(images[:, 0, 0], colours.to(torch.bfloat16))


@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize("copy", [True, False])
def test_bfloat16_comes_from_a_gpu_ring_as_it_is_named(pictures, copy):
    with forebay.Loader(pictures(4), batch_size=4, size=8, placement="gpu:0", dtype="bfloat16") as loader:
        images = loader.torch(copy=copy, device="cpu").next().images
        assert images.dtype == torch.bfloat16
        assert images[:, 0, 0, 0].tolist() == (torch.arange(4) / 255.0).to(torch.bfloat16).tolist()


def test_rule_14_a_view_keeps_its_memory(pictures):
    with forebay.Loader(pictures(40), batch_size=4, size=8, epochs=1) as loader:
        views = loader.torch(copy=False)
        kept = views.next().images
        assert [views.next().valid for _ in range(9)] == [4] * 9
        assert kept[:, 0, 0, 0].tolist() == [0, 1, 2, 3]


def test_rule_14_a_view_of_a_page_locked_ring_holds_its_slot_until_copies_that_nobody_waits_for_are_done(gpu, pictures):
    with forebay.Loader(pictures(40), batch_size=4, size=8, epochs=1) as loader:
        loader.pin()
        views = loader.torch(copy=False)
        batch = views.next()
        gpu.set(BusyDefault=1)
        del batch
        loader._feed.let_go(keep=0)
        loader._feed.releases.look()
        assert loader._feed.session.viewed() == 1
        gpu.set(BusyDefault=0)
        assert [batch.records[0].item() for batch in views] == list(range(4, 40, 4))


class Mark:
    """A `torch.cuda.Event` for machines without a GPU."""

    made: ClassVar[list] = []

    def __init__(self):
        self.stream = None
        self.waited = False
        Mark.made.append(self)

    def record(self, stream):
        self.stream = stream

    def query(self):
        return False

    def synchronize(self):
        self.waited = True


def test_rule_14_a_slot_goes_back_when_the_copies_to_another_device_are_done(pictures, monkeypatch):
    monkeypatch.setattr(torch.cuda, "Event", Mark)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: f"stream of {device}")
    Mark.made.clear()
    with forebay.Loader(pictures(20), batch_size=4, size=8, epochs=1) as loader:
        for batch in loader.torch(device="meta"):
            assert (batch.images.device.type, batch.labels.device.type) == ("meta", "meta")
            assert not Mark.made[-1].waited
        assert [mark.stream for mark in Mark.made] == ["stream of meta"] * 5
        assert [mark.waited for mark in Mark.made] == [True] * 4 + [False]
    assert Mark.made[-1].waited, "close() waits for the last"


class OnGpu:
    """A tensor on a GPU, for machines without one."""

    def __init__(self, array, device, moves):
        self.array, self.device, self.moves = array, torch.device(device), moves

    def to(self, device, non_blocking=False):
        self.moves.append((str(self.device), str(device), non_blocking))
        return OnGpu(self.array, device, self.moves)

    def clone(self):
        return self.to(self.device)


@pytest.mark.parametrize(("current", "asked", "expected"), [(1, None, 1), (None, None, 0), (1, "cuda:0", 0)])
def test_tensors_of_a_gpu_ring_are_on_the_gpu_that_this_process_uses(
    gpu, pictures, monkeypatch, caplog, current, asked, expected
):
    gpu.set(Gpus=2)
    gpu.set_for_daemons(Gpus=2)
    moves = []
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: current is not None)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: current)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda _: types.SimpleNamespace(cuda_stream=0))
    monkeypatch.setattr(torch.cuda, "Event", Mark)
    monkeypatch.setattr(torch, "as_tensor", lambda array, device: OnGpu(array, device, moves))
    monkeypatch.setattr("forebay.torch.tensors._viewed", lambda array: OnGpu(array, "cpu", moves))
    with forebay.Loader(pictures(8), batch_size=4, size=8, epochs=1, placement="gpu:0") as loader:
        with caplog.at_level(logging.WARNING, "forebay"):
            batches = [batch.images.device for batch in loader.torch(device=asked)]
        assert batches == [torch.device("cuda", expected)] * 2
    assert moves[0] == ("cuda:0", f"cuda:{expected}", expected == 1), (
        "by a clone on the ring's GPU, else from GPU to GPU"
    )
    crosses = f"the batches are on cuda:0, and each of them is copied to cuda:{expected}"
    assert caplog.text.count(crosses) == (expected != 0)


def test_everything_else_is_the_loader_s_own(pictures):
    names = {name for name in dir(forebay.Loader) if not name.startswith("_")} - {"torch"}
    with forebay.Loader(pictures(12, classes=2), batch_size=4, size=8, epochs=2).torch() as tensors:
        assert names <= set(dir(tensors))
        assert (tensors.classes, tensors.path(0)) == (tensors.loader.classes, tensors.loader.path(0))
        state = tensors.state_dict()
        tensors.next()
        tensors.load_state_dict(state)
        assert sum(batch.valid for batch in tensors) == 12
        tensors.next()
        tensors.reset()
        assert [audit.abandoned for audit in tensors.audit()] == [0, 8]
        assert tensors.quarantine == []
    with pytest.raises(forebay.ClosedError):
        tensors.next()


def test_pytorch_s_own_dataloader_takes_it_in_this_process(pictures):
    class Stream(torch.utils.data.IterableDataset):
        def __iter__(self):
            return iter(loader.torch())

    with forebay.Loader(pictures(12), batch_size=4, size=8, epochs=1) as loader:
        batches = list(torch.utils.data.DataLoader(Stream(), batch_size=None))
        assert [batch.valid for batch in batches] == [4, 4, 4]
        assert torch.cat([batch.records for batch in batches]).tolist() == list(range(12))
        assert all(batch.mask.all() and len([*batch]) == 2 for batch in batches)


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_resizes_match_those_of_a_uint8_tensor_on_a_gpu_within_one_level(tmp_path, mode):
    random = np.random.default_rng(7)
    apart = []
    for width, height, to in [(300, 200, (96, 80)), (61, 47, (150, 140)), (400, 31, (31, 97)), (90, 90, (90, 45))]:
        # Noise over a ramp has sharp and smooth parts.
        ramp = np.linspace(0, 255, width)[None, :, None] * np.array([1.0, 0.5, 0.8])
        rgb = np.clip(ramp + random.normal(0, 50, (height, width, 3)), 0, 255).astype(np.uint8)
        folder = tmp_path / f"{width}"
        folder.mkdir()
        (folder / "one.ppm").write_bytes(b"P6 %d %d 255\n" % (width, height) + rgb.tobytes())
        steps = [forebay.transforms.Resize(to, interpolation=mode)]
        with forebay.Loader(folder, batch_size=1, transform=steps, epochs=1, match="torch") as loader:
            ours = loader.torch().next().images[0].permute(2, 0, 1).int()
        planes = torch.from_numpy(rgb).permute(2, 0, 1)[None].float()
        theirs = torch.nn.functional.interpolate(planes, to, mode=mode, align_corners=False, antialias=True)
        apart.append((ours - theirs[0].clamp(0, 255).round().int()).abs().flatten())
    apart = torch.cat(apart)
    print(f"{int((apart > 0).sum())} of {apart.numel()} values are 1 of 255 apart")
    assert apart.max() <= 1
    assert (apart > 0).float().mean() < 0.01


@pytest.fixture
def boxes(pictures):
    """Three pictures, of which the second has two boxes and the third has one."""
    folder = pictures(3)
    images = [{"id": number, "file_name": f"{number:05}.ppm"} for number in range(3)]
    annotations = [
        {"id": number, "image_id": image, "category_id": 1, "bbox": [number, 0, 1, 1]}
        for number, image in enumerate([1, 1, 2])
    ]
    file = folder.parent / "boxes.json"
    categories = [{"id": 1, "name": "cat"}]
    file.write_text(json.dumps({"images": images, "annotations": annotations, "categories": categories}))
    return f"coco:{file}?root={folder}"


def test_rule_45_further_columns_are_attributes_and_keys(boxes):
    with forebay.Loader(
        boxes, batch_size=3, size=8, targets=forebay.Targets(columns=["boxes", "classes"]), epochs=2
    ) as loader:
        (batch,) = loader.torch()
        assert (list(batch.columns), list(batch.validity)) == (["boxes", "classes"], ["boxes", "classes"])
        assert batch["classes"].offsets[0].tolist() == [0, 0, 2, 3]
        assert (batch["boxes"] is batch.boxes, batch["mask"] is batch.mask, "boxes" in batch) == (True, True, True)
        assert tuple(batch.boxes.values.shape) == (3, 4)
        assert [len(part) for part in batch.boxes.nested().unbind()] == [0, 2, 1]
        with pytest.raises(AttributeError, match=r"no column 'boxen'; its columns are images, .*, boxes, classes"):
            _ = batch.boxen
        with pytest.raises(KeyError, match=r"no column 'boxen'; its columns are images, .*, boxes, classes"):
            batch["boxen"]
        (entries,) = loader.torch(as_dict=True)
        always = ["images", "labels", "records", "mask"]
        assert list(entries) == [*always, "boxes", "classes", "valid", "epoch", "validity"]
        assert entries["validity"]["boxes"].tolist() == [True] * 3
        assert (entries["valid"], entries["classes"].values.tolist()) == (3, [0, 0, 0])


def test_rule_45_the_validity_of_a_column_tells_a_missing_value_from_0(pictures):
    folder = pictures(3)
    (folder / "train.csv").write_text("path,weight\n00000.ppm,0.0\n00001.ppm,\n00002.ppm,1.5\n")
    settings = {"batch_size": 3, "size": 8, "targets": forebay.Targets(columns={"weight": "weight"}), "epochs": 2}
    with forebay.Loader(folder / "train.csv", **settings) as loader:
        (batch,) = loader.torch()
        assert batch.weight.tolist() == [0.0, 0.0, 1.5]
        assert (batch.validity["weight"].dtype, batch.validity["weight"].tolist()) == (torch.bool, [True, False, True])
        batch.validity["weight"].zero_()
        (entries,) = loader.torch(as_dict=True)
        assert entries["validity"]["weight"].tolist() == [True, False, True]


def test_a_column_whose_name_cannot_be_an_attribute_is_a_key(boxes):
    columns = {"class": "classes", "to": "boxes"}
    with forebay.Loader(boxes, batch_size=3, size=8, targets=forebay.Targets(columns=columns), epochs=1) as loader:
        (batch,) = loader.torch()
    assert batch["class"].values.tolist() == [0, 0, 0]
    assert tuple(batch.to("cpu")["to"].values.shape) == (3, 4), "the attribute is the method"


def test_unsigned_numbers_keep_their_values():
    column = torch.from_numpy(signed(np.array([1, 65535], np.uint16)))
    assert (column.dtype, column.tolist()) == (torch.int32, [1, 65535])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("arguments", [{}, {"copy": False}, {"device": "cpu"}, {"as_dict": True}])
def test_rule_50_soft_labels_are_those_of_both_pictures(pictures, arguments):
    mixing = forebay.transforms.MixUp(0.5)
    with forebay.Loader(pictures(8, classes=2), batch_size=4, size=8, epochs=1, mixing=mixing) as loader:
        batch = loader.torch(num_classes=3, label_smoothing=0.3, **arguments).next()
    other = torch.nn.functional.one_hot(batch["mixed_labels"], 3)
    assert batch["labels"].dtype == torch.float32
    assert torch.allclose(batch["labels"].sum(1), torch.ones(4))
    weight = batch["mix"][:, None]
    # The labels of the first four pictures are 0.
    expected = 0.7 * (weight * torch.tensor([1, 0, 0]) + (1 - weight) * other) + 0.1
    assert torch.allclose(batch["labels"], expected)


def test_rule_50_labels_are_smoothed_only_if_they_are_soft(pictures):
    loader = forebay.Loader(pictures(4), batch_size=4, size=8)
    with loader, pytest.raises(forebay.SettingsError, match="give num_classes too"):
        loader.torch(label_smoothing=0.1)


@pytest.mark.parametrize("copy", [True, False])
def test_rule_48_a_view_of_bfloat16_is_pytorch_s(pictures, copy):
    views = {"small": {"size": 4, "dtype": "bfloat16"}}
    with forebay.Loader(pictures(4), batch_size=4, size=8, epochs=1, views=views) as loader:
        batch = loader.torch(copy=copy).next()
        assert (batch.images.dtype, batch.small.dtype) == (torch.uint8, torch.bfloat16)
        colours = torch.tensor([[number, 100, 200] for number in range(4)]) / 255.0
        assert torch.equal(batch.small[:, 0, 0], colours.to(torch.bfloat16))
