"""Boxes and masks against `torchvision.transforms.v2`. Skipped if torchvision is not installed."""

import json
import os
from pathlib import Path

import forebay
import numpy as np
import pytest
from forebay import transforms
from png import write_png

torch = pytest.importorskip("torch", reason="PyTorch is not installed; `make test-torch` installs it")
pytest.importorskip("torchvision", reason="torchvision is not installed; `make test-torch` installs it")
from torchvision import tv_tensors  # noqa: E402 - after it was looked whether it is there
from torchvision.transforms import v2  # noqa: E402

pytestmark = [pytest.mark.daemon, pytest.mark.originals, pytest.mark.usefixtures("binary")]


def _cut(*part):
    """A part, which torchvision cuts out by a function alone: the class draws its place."""
    return v2.Lambda(lambda target: v2.functional.crop(target, *part))


# Lists without a random choice. The ratios of the crop do not fit into any picture here, so its middle is taken.
_NARROW = {"scale": (1.0, 1.0), "ratio": (0.2, 0.2001)}
LISTS = {
    "resize": ([transforms.Resize((61, 83))], [v2.Resize((61, 83))]),
    "grow": ([transforms.Resize((400, 512))], [v2.Resize((400, 512))]),
    "evaluation": ([transforms.Resize(64), transforms.CenterCrop(56)], [v2.Resize(64), v2.CenterCrop(56)]),
    "border": ([transforms.CenterCrop((300, 600))], [v2.CenterCrop((300, 600))]),
    "crop": (
        [transforms.RandomResizedCrop((70, 50), **_NARROW), transforms.RandomHorizontalFlip(1.0)],
        [v2.RandomResizedCrop((70, 50), **_NARROW), v2.RandomHorizontalFlip(1.0)],
    ),
    "padded": (
        [transforms.PadBy((3, 5, 8, 1)), transforms.Resize((90, 120))],
        [v2.Pad([3, 5, 8, 1]), v2.Resize((90, 120))],
    ),
    "rotation": (
        [transforms.RandomRotation((33, 33), "bilinear"), transforms.Resize((90, 70))],
        [v2.RandomRotation((33, 33), v2.InterpolationMode.BILINEAR), v2.Resize((90, 70))],
    ),
    "rotation about a point": (
        [transforms.RandomRotation((-40, -40), center=(20, 31)), transforms.Resize((50, 60))],
        [v2.RandomRotation((-40, -40), center=(20, 31)), v2.Resize((50, 60))],
    ),
    "affine": (
        [
            transforms.Resize((120, 100)),
            transforms.RandomAffine((17, 17), scale=(1.3, 1.3), shear=(5, 5, -8, -8)),
            transforms.RandomHorizontalFlip(1.0),
        ],
        [
            v2.Resize((120, 100)),
            v2.RandomAffine((17, 17), scale=(1.3, 1.3), shear=(5, 5, -8, -8)),
            v2.RandomHorizontalFlip(1.0),
        ],
    ),
    # No length is whole before it is cut off: torchvision calculates it in single precision.
    "large-scale jitter, smaller": (
        [transforms.ScaleJitter((220, 180), (0.403, 0.403)), transforms.Crop(0, 0, 90, 100)],
        [v2.ScaleJitter((220, 180), (0.403, 0.403)), _cut(0, 0, 90, 100)],
    ),
    "large-scale jitter, larger": (
        [
            transforms.RandomHorizontalFlip(1.0),
            transforms.ScaleJitter(190, (1.703, 1.703)),
            transforms.Crop(9, 31, 150, 170),
        ],
        [v2.RandomHorizontalFlip(1.0), v2.ScaleJitter((190, 190), (1.703, 1.703)), _cut(9, 31, 150, 170)],
    ),
    "several": (
        [
            transforms.RandomHorizontalFlip(1.0),
            transforms.Resize(97),
            transforms.CenterCrop((90, 80)),
            transforms.Resize((31, 45)),
        ],
        [v2.RandomHorizontalFlip(1.0), v2.Resize(97), v2.CenterCrop((90, 80)), v2.Resize((31, 45))],
    ),
}


def _generated(folder: Path) -> Path:
    """Pictures of many sizes with random boxes, as COCO's JSON."""
    random = np.random.default_rng(1)
    images, annotations = [], []
    for number in range(24):
        width, height = (int(side) for side in random.integers(40, 260, 2))
        pixels = random.integers(0, 256, (height, width, 3), dtype=np.uint8)
        (folder / f"{number:03}.ppm").write_bytes(b"P6 %d %d 255\n" % (width, height) + pixels.tobytes())
        images.append({"id": number, "file_name": f"{number:03}.ppm", "width": width, "height": height})
        for _ in range(5):
            left, top = random.uniform(0, width - 2), random.uniform(0, height - 2)
            box = [left, top, random.uniform(1, width - left), random.uniform(1, height - top)]
            part = {"id": len(annotations), "image_id": number, "category_id": 1, "iscrowd": 0}
            annotations.append({**part, "bbox": [round(side, 2) for side in box], "area": 1.0})
    document = {"images": images, "annotations": annotations, "categories": [{"id": 1, "name": "thing"}]}
    file = folder / "boxes.json"
    file.write_text(json.dumps(document))
    return file


def _genuine() -> Path:
    folder = Path(os.environ.get("FOREBAY_TEST_DATA", "../shared/data")) / "coco_tiny" / "annotations"
    files = sorted(folder.glob("*.json"))
    if not files:
        pytest.skip(f"there is no {folder}; FOREBAY_TEST_DATA names the folder of test data")
    return files[0]


@pytest.fixture(params=["generated", "coco"])
def dataset(request, tmp_path):
    """A JSON of COCO's form, what it says, and a folder of masks: a random number for each pixel."""
    file = _generated(tmp_path) if request.param == "generated" else _genuine()
    document = json.loads(file.read_text())
    random = np.random.default_rng(2)
    masks = {}
    for image in document["images"]:
        masks[image["id"]] = random.integers(0, 256, (image["height"], image["width"]), dtype=np.uint8)
        write_png(tmp_path / "masks" / f"{Path(image['file_name']).stem}.png", masks[image["id"]])
    return file, document, masks, tmp_path / "masks"


def _shown(boxes):
    """Boxes of which something is left. Rounding decides about thinner ones."""
    return boxes[(boxes[:, 2:] - boxes[:, :2] >= 1e-3).all(dim=1)]


@pytest.mark.parametrize("name", LISTS)
def test_rule_45_boxes_and_masks_are_those_of_torchvision(dataset, name):
    file, document, masks, folder = dataset
    ours, theirs = LISTS[name]
    images = sorted(document["images"], key=lambda image: image["id"])
    targets = forebay.Targets(columns=["boxes", "seg"], masks={"seg": str(folder)}, mask_fill=0)
    settings = {"targets": targets, "epochs": 1}
    farthest, boxes, pixels = 0.0, 0, 0
    with forebay.Loader(f"coco:{file}", batch_size=8, transform=ours, **settings) as loader:
        for batch in loader.torch():
            for place, record in enumerate(batch.records.tolist()):
                size = (images[record]["height"], images[record]["width"])
                of_image = [each for each in document["annotations"] if each["image_id"] == images[record]["id"]]
                corners = [[x, y, x + width, y + height] for x, y, width, height in (each["bbox"] for each in of_image)]
                target = {
                    "boxes": tv_tensors.BoundingBoxes(
                        torch.tensor(corners, dtype=torch.float32).reshape(-1, 4), format="XYXY", canvas_size=size
                    ),
                    "mask": tv_tensors.Mask(torch.from_numpy(masks[images[record]["id"]])[None]),
                }
                expected = v2.Compose([*theirs, v2.ClampBoundingBoxes()])(target)
                begin, end = batch.boxes.offsets[0][place : place + 2]
                found = batch.boxes.values[begin:end]
                found, wanted = _shown(found), _shown(expected["boxes"].as_subclass(torch.Tensor))
                assert found.shape == wanted.shape, f"record {record}"
                # torchvision lays a picture on a larger canvas half a pixel further to the left than its boxes.
                fits = name != "border" or (size[0] % 2, size[1] % 2) == (0, 0)
                if len(found) and fits:
                    farthest = max(farthest, (found - wanted).abs().max().item())
                assert torch.equal(batch.seg[place], expected["mask"][0].as_subclass(torch.Tensor)), f"record {record}"
                boxes, pixels = boxes + len(found), pixels + batch.seg[place].numel()
    print(f"{name}: {boxes} boxes within {farthest:.5f} pixels, {pixels} pixels of masks equal")
    assert boxes > 0
    assert farthest < 0.01
