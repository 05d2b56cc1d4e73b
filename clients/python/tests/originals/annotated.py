"""Folders of pictures with annotations beside them: plain folders, COCO, Pascal VOC and YOLO."""

import json
from pathlib import Path

from originals.dataset import SIDE, Dataset, Format


def write_folder(folder: Path, pictures: list[bytes], _labels: list[int]) -> Dataset:
    for number, picture in enumerate(pictures):
        (folder / f"{number:06}.png").write_bytes(picture)
    return Dataset(str(folder))


def write_coco(folder: Path, pictures: list[bytes], labels: list[int]) -> Dataset:
    """Records are in the order of image ids, and each picture has as many boxes as its label says."""
    (folder / "images").mkdir()
    images, annotations = [], []
    for number, (picture, label) in enumerate(zip(pictures, labels)):
        name = f"{number:012}.png"
        (folder / "images" / name).write_bytes(picture)
        images.append({"id": 100 + number, "file_name": name, "width": SIDE, "height": SIDE})
        for place in range(label):
            box = [place, place / 2, place + 1.5, 2]
            annotations.append(
                {
                    "id": len(annotations) + 1,
                    "image_id": 100 + number,
                    "category_id": 10 * (1 + place % 3),
                    "bbox": box,
                    "area": box[2] * box[3],
                    "iscrowd": 0,
                    "segmentation": [[place, 0, place + 1.5, 0, place + 1.5, 2]],
                }
            )
    categories = [{"id": 10 * (1 + number), "name": f"kind {number}"} for number in range(3)]
    document = {"images": images, "annotations": annotations, "categories": categories}
    (folder / "instances.json").write_text(json.dumps(document))
    return Dataset(f"coco:{folder}/instances.json?root={folder}/images")


def write_voc(folder: Path, pictures: list[bytes], labels: list[int]) -> Dataset:
    for name in ("Annotations", "JPEGImages", "ImageSets/Main"):
        (folder / name).mkdir(parents=True)
    names = [f"{number:06}" for number in range(len(pictures))]
    for name, picture, label in zip(names, pictures, labels):
        # VOC names JPEG files. What the file is, its content says.
        (folder / "JPEGImages" / f"{name}.jpg").write_bytes(picture)
        objects = "".join(
            f"<object><name>kind {place % 3}</name><bndbox><xmin>{place + 1}</xmin><ymin>1</ymin>"
            f"<xmax>{place + 3}</xmax><ymax>4</ymax></bndbox></object>"
            for place in range(label)
        )
        text = f"<annotation><filename>{name}.jpg</filename>{objects}</annotation>"
        (folder / "Annotations" / f"{name}.xml").write_text(text)
    (folder / "ImageSets/Main/train.txt").write_text("".join(f"{name}\n" for name in names))
    return Dataset(f"voc:{folder}?set=train")


def write_yolo(folder: Path, pictures: list[bytes], labels: list[int]) -> Dataset:
    for name in ("images/train", "labels/train"):
        (folder / name).mkdir(parents=True)
    for number, (picture, label) in enumerate(zip(pictures, labels)):
        (folder / f"images/train/{number:06}.png").write_bytes(picture)
        lines = "".join(f"{place % 3} 0.5 0.5 0.25 {0.1 * (place + 1):.1f}\n" for place in range(label))
        (folder / f"labels/train/{number:06}.txt").write_text(lines)
    names = "".join(f"  {number}: kind {number}\n" for number in range(3))
    (folder / "data.yaml").write_text(f"path: {folder}\ntrain: images/train\nnames:\n{names}")
    return Dataset(f"yolo:{folder}/data.yaml?set=train")


FORMATS = [
    Format("folder", (), write_folder, labels=False),
    Format("coco", (), write_coco, labels=False),
    Format("voc", (), write_voc, labels=False),
    Format("yolo", (), write_yolo, labels=False),
]
