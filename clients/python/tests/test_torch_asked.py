"""Columns that a DataLoader was asked for, and columns with lists as tensors. Skipped if PyTorch is not installed."""

import copy
import json
import pickle

import forebay
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed; `make test-torch` installs it")
from forebay.torch import DataLoader, TorchRagged  # noqa: E402 - it imports PyTorch
from forebay.torch.asked import asked_columns  # noqa: E402 - the same

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]

CAPTIONS = ["a cat", "", "zwei Äpfel", "x"]
WHOLE = {"transform": forebay.transforms.Resize((8, 8))}


@pytest.fixture
def captioned(pictures):
    """Four pictures with texts and numbers in a table beside them."""
    folder = pictures(len(CAPTIONS))
    lines = [
        json.dumps({"file_name": f"{number:05}.ppm", "label": number % 2, "caption": text, "score": number / 2})
        for number, text in enumerate(CAPTIONS)
    ]
    (folder / "metadata.jsonl").write_text("\n".join(lines))
    return folder


def test_a_column_with_lists_is_used_as_that_of_numpy_is(captioned):
    settings = {"batch_size": 3, "targets": forebay.Targets(columns={"caption": "caption"}), "epochs": 1, **WHOLE}
    with forebay.Loader(captioned, **settings) as loader:
        arrays = [(list(batch.caption.text()), batch.caption.copy()) for batch in loader]
    with forebay.Loader(captioned, **settings) as loader:
        tensors = [batch.caption for batch in loader.torch()]
    assert [texts for texts, _ in arrays] == [CAPTIONS[:3], CAPTIONS[3:]]
    for (texts, array), tensor in zip(arrays, tensors):
        assert (len(tensor), tensor.text(), tensor.tolist()) == (len(array), texts, array.tolist())
        assert tensor.lengths.tolist() == array.lengths.tolist()
        assert [row.tolist() for row in tensor] == [row.tolist() for row in array]
        assert torch.equal(tensor[-1], torch.from_numpy(array[-1]))
        assert repr(tensor) == repr(array).replace("forebay.Ragged", "forebay.torch.TorchRagged")
        assert tensor[1:].text() == texts[1:]


def test_lists_of_lists_of_tensors_are_cut_moved_and_pickled():
    values, offsets = torch.arange(12).reshape(6, 2), (torch.tensor([0, 2, 3]), torch.tensor([0, 1, 4, 6]))
    nested = TorchRagged(values, offsets)
    assert nested.tolist() == [[[[0, 1]], [[2, 3], [4, 5], [6, 7]]], [[[8, 9], [10, 11]]]]
    assert nested[1].tolist() == [[[8, 9], [10, 11]]]
    assert nested[1:].offsets[0].tolist() == [0, 1]
    with pytest.raises(IndexError, match="place 2 of 2"):
        nested[2]
    for twin in (nested.to("cpu"), copy.deepcopy(nested), pickle.loads(pickle.dumps(nested))):
        assert (type(twin), twin.tolist()) == (TorchRagged, nested.tolist())
    with pytest.raises(TypeError, match="uint8"):
        nested.text()


@pytest.mark.parametrize("columns", [["caption", "score"], {"caption": "caption", "score": "score"}])
def test_a_data_loader_gives_the_columns_that_it_was_asked_for(captioned, columns):
    loader = DataLoader(captioned, batch_size=2, targets=forebay.Targets(columns=columns), **WHOLE)
    batches = list(loader)
    assert [len(batch) for batch in batches] == [4, 4]
    assert [text for _, _, captions, _ in batches for text in captions.text()] == CAPTIONS
    assert torch.cat([scores for *_, scores in batches]).tolist() == [0.0, 0.5, 1.0, 1.5]
    assert torch.cat([labels for _, labels, *_ in batches]).tolist() == [0, 1, 0, 1]
    loader.close()
    targets = forebay.Targets(columns=["caption"])
    rows = DataLoader(captioned, batch_size=4, targets=targets, collate_fn=lambda rows: rows, **WHOLE)
    (batch,) = rows
    assert [bytes(caption.tolist()).decode() for _, _, caption in batch] == CAPTIONS
    rows.close()


def test_views_and_mixing_are_asked_for_and_what_a_dataset_has_by_itself_is_not(pictures, annotated):
    view = {"small": [forebay.transforms.Resize((4, 4))]}
    loader = DataLoader(
        pictures(4, name="plain"), batch_size=4, views=view, mixing=forebay.transforms.MixUp(), size=8, dtype="float32"
    )
    ((images, labels, small, mixed, weights),) = loader
    assert (images.shape[2:], small.shape[2:]) == ((8, 8), (4, 4))
    assert labels.shape == mixed.shape == weights.shape
    loader.close()
    boxes = DataLoader(annotated, batch_size=5, **WHOLE)
    assert [len(batch) for batch in boxes] == [2]
    boxes.close()


def test_the_order_is_that_of_the_settings():
    asked = {"columns": {"images": "jpg", "b": "x", "labels": "y", "a": "z"}, "masks": {"m": "M"}, "views": {"v": []}}
    assert asked_columns({**asked, "mixing": object()}) == ("b", "a", "m", "v", "mixed_labels", "mix")
    assert asked_columns({"recipe": {"name": "dinov2", "local_crops_number": 2}}) == ("global_2", "local_0", "local_1")
    assert asked_columns({"recipe": "torchvision_eval", "columns": None}) == ()
    assert asked_columns({"recipe": {"name": "none such"}}) == ()


def test_a_recipe_takes_the_place_of_an_image_folders_transform(jpegs):
    datasets = pytest.importorskip("torchvision.datasets", reason="torchvision is not installed")
    v1 = pytest.importorskip("torchvision.transforms")
    for transform in (None, v1.Lambda(abs), v1.Compose([v1.Resize((8, 8)), v1.ToTensor()])):
        recipe = {"name": "torchvision_eval", "size": 16, "resize_size": 20}
        loader = DataLoader(datasets.ImageFolder(jpegs, transform), batch_size=12, recipe=recipe)
        ((images, labels),) = loader
        assert (images.shape, images.dtype, labels.shape) == ((12, 3, 16, 16), torch.float32, (12,))
        loader.close()
    given = v1.Compose([v1.Resize((8, 8)), v1.ToTensor()])
    loader = DataLoader(jpegs, batch_size=12, transform=given)
    ((images, _),) = loader
    assert (images.shape, images.dtype) == ((12, 3, 8, 8), torch.float32)
    loader.close()


def test_pictures_of_an_image_folder_are_as_they_are_stored_and_those_of_a_folder_are_turned(tmp_path):
    datasets = pytest.importorskip("torchvision.datasets", reason="torchvision is not installed")
    v1 = pytest.importorskip("torchvision.transforms")
    from PIL import Image

    folder = tmp_path / "turned" / "class"
    folder.mkdir(parents=True)
    picture = Image.new("RGB", (16, 8))
    picture.paste((255, 255, 255), (0, 0, 8, 8))
    exif = Image.Exif()
    exif[0x0112] = 3
    picture.save(folder / "0.png", exif=exif)

    def left_half(source, transform=None, **settings):
        transform = transform or forebay.transforms.Resize((8, 16))
        loader = DataLoader(source, batch_size=1, transform=transform, **settings)
        ((images, _),) = loader
        loader.close()
        return int(images[0, 0, 4, 4])

    dataset = datasets.ImageFolder(tmp_path / "turned")
    assert (left_half(dataset), left_half(tmp_path / "turned")) == (255, 0)
    theirs = v1.Compose([v1.Resize((8, 16)), v1.PILToTensor()])
    assert (left_half(dataset, theirs), left_half(tmp_path / "turned", theirs)) == (255, 0)
    assert left_half(dataset, adjust_orientation=True) == 0
    assert left_half(tmp_path / "turned", adjust_orientation=False) == 255
