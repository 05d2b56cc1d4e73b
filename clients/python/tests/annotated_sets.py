"""The same pictures with the same boxes in every format that can hold them, for test_targets.py.

Each writer takes a folder and the records, and returns the arguments of a Loader.
"""

import io
import json
import struct
import tarfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import forebay
import numpy as np

WIDTH, HEIGHT = 120, 80


@dataclass
class Annotated:
    """A picture as a file, its boxes (left, top, right, bottom, in pixels) and the class of each."""

    picture: bytes
    boxes: list[list[float]]
    classes: list[int]

    def sized(self) -> list[list[float]]:
        """Left, top, width and height of each box."""
        return [[left, top, right - left, bottom - top] for left, top, right, bottom in self.boxes]

    def fractions(self) -> list[list[float]]:
        """Corners in fractions of the picture's size. The sizes of test pictures make them exact in float32."""
        size = (WIDTH, HEIGHT, WIDTH, HEIGHT)
        return [[side / of for side, of in zip(box, size, strict=True)] for box in self.boxes]


Records = list[Annotated]
Arguments = dict[str, Any]


def coco(folder: Path, records: Records) -> Arguments:
    images, annotations = [], []
    for number, record in enumerate(records):
        (folder / f"{number:03}.ppm").write_bytes(record.picture)
        images.append({"id": number, "file_name": f"{number:03}.ppm", "width": WIDTH, "height": HEIGHT})
        for box, kind in zip(record.sized(), record.classes, strict=True):
            part = {"id": len(annotations), "image_id": number, "category_id": kind, "bbox": box, "iscrowd": 0}
            annotations.append(part)
    categories = [{"id": kind, "name": f"kind {kind}"} for kind in range(3)]
    file = folder / "boxes.json"
    file.write_text(json.dumps({"images": images, "annotations": annotations, "categories": categories}))
    return {"source": f"coco:{file}?root={folder}", "targets": forebay.Targets(columns=["boxes", "classes"])}


def _tar(folder: Path, records: Records, members: Callable[[Annotated], dict[str, bytes]]) -> Path:
    file = folder / "set.tar"
    with tarfile.open(file, "w") as tar:
        for number, record in enumerate(records):
            for suffix, content in {"jpg": record.picture, **members(record)}.items():
                info = tarfile.TarInfo(f"{number:03}.{suffix}")
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))
    return file


def tar_json(folder: Path, records: Records) -> Arguments:
    def members(record: Annotated) -> dict[str, bytes]:
        return {"json": json.dumps({"objects": {"bbox": record.sized(), "kind": record.classes}}).encode()}

    columns = {"boxes": "json.objects.bbox", "classes": "json.objects.kind"}
    return {
        "source": forebay.Source(f"tar:{_tar(folder, records, members)}", roles={"boxes": "xywh"}),
        "targets": forebay.Targets(columns=columns),
    }


def tar_json_objects(folder: Path, records: Records) -> Arguments:
    def members(record: Annotated) -> dict[str, bytes]:
        objects = zip(record.boxes, record.classes, strict=True)
        return {"json": json.dumps([{"corners": box, "kind": {"id": kind}} for box, kind in objects]).encode()}

    return {
        "source": forebay.Source(f"tar:{_tar(folder, records, members)}", roles={"boxes": "xyxy"}),
        "targets": forebay.Targets(columns={"boxes": "json:corners", "classes": "json:kind.id"}),
    }


def tar_npy(folder: Path, records: Records) -> Arguments:
    def npy(array: np.ndarray) -> bytes:
        file = io.BytesIO()
        np.save(file, array)
        return file.getvalue()

    def members(record: Annotated) -> dict[str, bytes]:
        boxes = np.array(record.fractions(), np.float64).reshape(-1, 4)
        centred = np.concatenate([(boxes[:, :2] + boxes[:, 2:]) / 2, boxes[:, 2:] - boxes[:, :2]], axis=1)
        return {"boxes.npy": npy(centred), "classes.npy": npy(np.array(record.classes, np.int64))}

    return {
        "source": forebay.Source(
            f"tar:{_tar(folder, records, members)}", **{"roles.boxes": "cxcywh_fractions", "roles.classes": "objects"}
        ),
        "targets": forebay.Targets(columns={"boxes": "boxes.npy", "classes": "classes.npy"}),
    }


def _table(records: Records, *, as_list: bool) -> Any:
    import pyarrow as pa

    if as_list:
        pairs = [zip(record.sized(), record.classes, strict=True) for record in records]
        objects = [[{"bbox": box, "category": kind} for box, kind in each] for each in pairs]
        kind = pa.list_(pa.struct([("bbox", pa.list_(pa.float32(), 4)), ("category", pa.int64())]))
    else:
        objects = [{"bbox": record.sized(), "category": record.classes} for record in records]
        kind = pa.struct([("bbox", pa.list_(pa.list_(pa.float64()))), ("category", pa.list_(pa.int64()))])
    return pa.table(
        {"image": [record.picture for record in records], "objects": pa.array(objects, kind)},
    )


def parquet(folder: Path, records: Records, *, as_list: bool = False) -> Arguments:
    import pyarrow.parquet as pq

    pq.write_table(_table(records, as_list=as_list), folder / "set.parquet")
    return {"source": f"parquet:{folder / 'set.parquet'}"}


def arrow(folder: Path, records: Records, *, as_list: bool = False) -> Arguments:
    import pyarrow as pa

    table = _table(records, as_list=as_list)
    with pa.ipc.new_file(folder / "set.arrow", table.schema) as writer:
        writer.write_table(table)
    columns = {"boxes": "objects.bbox", "classes": "objects.category"}
    return {"source": f"arrow:{folder / 'set.arrow'}", "targets": forebay.Targets(columns=columns)}


def _field(number: int, content: bytes) -> bytes:
    return bytes([number << 3 | 2]) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def _example(record: Annotated) -> bytes:
    def entry(name: str, kind: int, values: bytes) -> bytes:
        return _field(1, _field(1, name.encode()) + _field(2, _field(kind, values)))

    sides = zip(*record.fractions(), strict=True) if record.boxes else [()] * 4
    features = entry("image/encoded", 1, _field(1, record.picture))
    for name, side in zip(("xmin", "ymin", "xmax", "ymax"), sides, strict=True):
        features += entry(f"image/object/bbox/{name}", 2, _field(1, struct.pack(f"<{len(side)}f", *side)))
    classes = b"".join(_varint(kind) for kind in record.classes)
    features += entry("image/object/class/label", 3, _field(1, classes))
    for name, size in (("image/width", WIDTH), ("image/height", HEIGHT)):
        features += entry(name, 3, _field(1, _varint(size)))
    return _field(1, features)


def _crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def tfrecord(folder: Path, records: Records) -> Arguments:
    file = folder / "set.tfrecord"
    with file.open("wb") as out:
        for record in records:
            data = _example(record)
            length = struct.pack("<Q", len(data))
            # The sums of the data are not compared below, because they take long in Python.
            out.write(length + struct.pack("<I", _crc32c(length)) + data + bytes(4))
    return {"source": f"tfrecord:{file}?check=false"}


def recordio(folder: Path, records: Records) -> Arguments:
    examples = [_example(record) for record in records]
    payload = b"".join(struct.pack("<I", len(example)) + example for example in examples)
    header = struct.pack("<IIIII", 0x01020304, zlib.crc32(payload), 0, len(payload), len(records))
    (folder / "set.recordio").write_bytes(header + payload)
    return {"source": f"recordio:{folder / 'set.recordio'}?payload=example"}


def mxnet(folder: Path, records: Records) -> Arguments:
    out = b""
    for number, record in enumerate(records):
        labels = [4.0, 5.0, float(WIDTH), float(HEIGHT)]
        for box, kind in zip(record.fractions(), record.classes, strict=True):
            labels += [float(kind), *box]
        image = struct.pack("<IfQQ", len(labels), 0.0, number, 0) + struct.pack(f"<{len(labels)}f", *labels)
        image += record.picture
        out += struct.pack("<II", 0xCED7230A, len(image)) + image + bytes(-len(image) % 4)
    (folder / "set.rec").write_bytes(out)
    return {"source": f"mxnet:{folder / 'set.rec'}"}


def _mds(folder: Path, records: Records, columns: list[tuple[str, str]], values: list[list[bytes]]) -> str:
    samples = [b"".join(struct.pack("<I", len(value)) for value in own) + b"".join(own) for own in values]
    begin = 4 + 4 * (len(samples) + 1)
    places = begin + np.cumsum([0, *map(len, samples)])
    shard = struct.pack("<I", len(samples)) + places.astype("<u4").tobytes() + b"".join(samples)
    (folder / "shard.00000.mds").write_bytes(shard)
    about = {
        "column_names": [name for name, _ in columns],
        "column_encodings": [encoding for _, encoding in columns],
        "column_sizes": [None] * len(columns),
        "compression": None,
        "format": "mds",
        "hashes": [],
        "raw_data": {"basename": "shard.00000.mds", "bytes": len(shard), "hashes": {}},
        "samples": len(records),
        "size_limit": 1 << 26,
        "version": 2,
        "zip_data": None,
    }
    (folder / "index.json").write_text(json.dumps({"shards": [about], "version": 2}))
    return f"mds:{folder}"


def mds_json(folder: Path, records: Records) -> Arguments:
    values = [
        [record.picture, json.dumps(record.boxes).encode(), json.dumps({"kinds": record.classes}).encode()]
        for record in records
    ]
    columns = [("image", "png"), ("bbox", "json"), ("meta", "json")]
    return {
        "source": forebay.Source(_mds(folder, records, columns, values), roles={"boxes": "xyxy"}),
        "targets": forebay.Targets(columns={"boxes": "bbox", "classes": "meta:kinds"}),
    }


def mds_ndarray(folder: Path, records: Records) -> Arguments:
    def array(values: list[Any], dtype: str, shape: tuple[int, ...]) -> bytes:
        # The writer refuses arrays without values, so a picture without objects has one that shows nothing.
        return bytes([len(shape) << 2, *shape]) + np.array(values, dtype).tobytes()

    values = []
    for record in records:
        boxes, kinds = record.boxes, record.classes
        values.append([record.picture, array(boxes, "float32", (len(boxes), 4)), array(kinds, "int64", (len(kinds),))])
    columns = [("image", "png"), ("bbox", "ndarray:float32"), ("kinds", "ndarray:int64")]
    return {
        "source": forebay.Source(_mds(folder, records, columns, values), roles={"boxes": "xyxy"}),
        "targets": forebay.Targets(columns={"boxes": "bbox", "classes": "kinds"}),
    }


def python(folder: Path, records: Records) -> Arguments:
    for number, record in enumerate(records):
        (folder / f"{number}.ppm").write_bytes(record.picture)
    known = [(record.boxes, record.classes) for record in records]
    reader = folder / "reader.py"
    reader.write_text(
        f"KNOWN = {known!r}\nFOLDER = {str(folder)!r}\n\n"
        "class CustomDataReader:\n"
        "    def create_shards(self):\n        return {'a': (0, len(KNOWN))}\n\n"
        "    def columns(self):\n"
        "        return {'boxes': [boxes for boxes, _ in KNOWN], 'classes': [kinds for _, kinds in KNOWN]}\n\n"
        "    def read_records(self, task):\n"
        "        for number in range(task.shard.start, task.shard.end):\n"
        "            with open(f'{FOLDER}/{number}.ppm', 'rb') as file:\n                yield file.read()\n"
    )
    source = forebay.Source(f"python:{reader}", roles={"boxes": "xyxy"})
    return {"source": source, "targets": forebay.Targets(labels="none")}


FORMATS: dict[str, Callable[[Path, Records], Arguments]] = {
    "tar with JSON": tar_json,
    "tar with JSON of lists of objects": tar_json_objects,
    "tar with arrays": tar_npy,
    "parquet": parquet,
    "parquet with lists of structures": partial(parquet, as_list=True),
    "arrow": arrow,
    "arrow with lists of structures": partial(arrow, as_list=True),
    "tfrecord": tfrecord,
    "recordio": recordio,
    "mxnet": mxnet,
    "MDS with JSON": mds_json,
    "MDS with arrays": mds_ndarray,
    "python": python,
}
