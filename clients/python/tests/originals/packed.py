"""Formats that keep many records in a file: WebDataset, TFRecord, RecordIO, MXNet, zip and plain tar."""

import io
import struct
import tarfile
import zipfile
from functools import partial
from pathlib import Path

import forebay
from PIL import Image

from originals.dataset import SIDE, Dataset, Format


def write_webdataset(folder: Path, pictures: list[bytes], labels: list[int]) -> Dataset:
    import webdataset

    pattern = str(folder / "train-%06d.tar")
    with webdataset.ShardWriter(pattern, maxcount=25, verbose=0) as writer:
        for number, (picture, label) in enumerate(zip(pictures, labels)):
            writer.write({"__key__": f"{number:06}", "png": picture, "cls": label, "txt": f"picture {number}"})
    return Dataset(f"tar:{folder}")


def read_webdataset(folder: Path) -> list[tuple[bytes, int]]:
    import webdataset

    shards = sorted(map(str, folder.glob("*.tar")))
    dataset = webdataset.WebDataset(shards, shardshuffle=False, empty_check=False)
    return [(sample["png"], int(sample["cls"])) for sample in dataset]


def write_masked_webdataset(folder: Path, pictures: list[bytes], labels: list[int]) -> Dataset:
    """Samples with a mask and an array, which are read beside the picture and its label."""
    import numpy as np
    import webdataset

    with webdataset.ShardWriter(str(folder / "train-%06d.tar"), maxcount=25, verbose=0) as writer:
        for number, (picture, label) in enumerate(zip(pictures, labels)):
            mask, array = Image.new("L", (SIDE, SIDE), label), np.full(3, label, np.float32)
            sample = {"png": picture, "cls": label, "seg.png": png_of(mask), "npy": array}
            writer.write({"__key__": f"{number:06}", **sample})
    targets = forebay.Targets(masks={"seg": "seg.png"}, columns={"images": "png", "array": "npy"})
    settings = {"targets": targets}
    return Dataset(f"tar:{folder}", settings)


def png_of(picture: Image.Image) -> bytes:
    file = io.BytesIO()
    picture.save(file, "PNG")
    return file.getvalue()


def write_tfrecord(folder: Path, pictures: list[bytes], labels: list[int]) -> Dataset:
    from tfrecord.writer import TFRecordWriter

    writer = TFRecordWriter(str(folder / "train.tfrecord"))
    for picture, label in zip(pictures, labels):
        writer.write({"image/encoded": (picture, "byte"), "image/class/label": (label, "int")})
    writer.close()
    return Dataset(f"tfrecord:{folder}/train.tfrecord")


def read_tfrecord(folder: Path) -> list[tuple[bytes, int]]:
    from tfrecord.reader import tfrecord_loader

    description = {"image/encoded": "byte", "image/class/label": "int"}
    records = tfrecord_loader(str(folder / "train.tfrecord"), None, description)
    return [(bytes(record["image/encoded"]), int(record["image/class/label"][0])) for record in records]


def write_recordio(folder: Path, pictures: list[bytes], labels: list[int]) -> Dataset:
    from recordio import File

    with File(str(folder / "train.recordio"), "w", max_chunk_size=8192) as file:
        for picture, label in zip(pictures, labels):
            file.write(struct.pack("<i", label) + picture)
    return Dataset(f"recordio:{folder}/train.recordio?payload=i32%2Bpicture")


def read_recordio(folder: Path) -> list[tuple[bytes, int]]:
    from recordio import File

    with File(str(folder / "train.recordio"), "r") as file:
        return [(record[4:], struct.unpack("<i", record[:4])[0]) for record in file]


def write_mxnet(folder: Path, pictures: list[bytes], labels: list[int]) -> Dataset:
    """As `im2rec` writes it. MXNet itself is not installed: it is large, and needs an old NumPy."""
    with open(folder / "train.rec", "wb") as file, open(folder / "train.idx", "w") as index:
        for number, (picture, label) in enumerate(zip(pictures, labels)):
            index.write(f"{number}\t{file.tell()}\n")
            record = struct.pack("<IfQQ", 0, float(label), number, 0) + picture
            padding = b"\0" * (-len(record) % 4)
            file.write(struct.pack("<II", 0xCED7230A, len(record)) + record + padding)
    return Dataset(f"mxnet:{folder}/train.rec")


def write_zip(
    folder: Path, pictures: list[bytes], _labels: list[int], compression: int = zipfile.ZIP_DEFLATED
) -> Dataset:
    with zipfile.ZipFile(folder / "train.zip", "w", compression) as archive:
        for number, picture in enumerate(pictures):
            archive.writestr(f"{number:06}.png", picture)
    return Dataset(f"zip:{folder}/train.zip")


def read_zip(folder: Path) -> list[tuple[bytes, int]]:
    with zipfile.ZipFile(folder / "train.zip") as archive:
        return [(archive.read(name), -1) for name in archive.namelist()]


def write_tar(folder: Path, pictures: list[bytes], _labels: list[int]) -> Dataset:
    with tarfile.open(folder / "train.tar", "w", format=tarfile.PAX_FORMAT) as archive:
        for number, picture in enumerate(pictures):
            member = tarfile.TarInfo(f"{'long-' * 40}{number:06}.png")
            member.size = len(picture)
            archive.addfile(member, io.BytesIO(picture))
    return Dataset(f"tar:{folder}/train.tar?members=files")


def read_tar(folder: Path) -> list[tuple[bytes, int]]:
    with tarfile.open(folder / "train.tar") as archive:
        return [(archive.extractfile(member).read(), -1) for member in archive]


FORMATS = [
    Format("webdataset", ("webdataset",), write_webdataset, read_webdataset),
    Format("webdataset with masks", ("webdataset",), write_masked_webdataset, read_webdataset),
    Format("tfrecord", ("tfrecord",), write_tfrecord, read_tfrecord),
    Format("recordio", ("recordio",), write_recordio, read_recordio),
    Format("mxnet", (), write_mxnet),
    Format("zip", (), write_zip, read_zip, labels=False),
    Format("zip, stored", (), partial(write_zip, compression=zipfile.ZIP_STORED), read_zip, labels=False),
    Format("tar", (), write_tar, read_tar, labels=False),
]
