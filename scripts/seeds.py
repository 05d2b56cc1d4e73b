"""Writes seeds for the fuzz targets that read datasets. Usage: seeds.py FOLDER [DATA].

Each format's original library writes a small dataset. Its files become seeds, behind the bytes that choose the format
in a target. DATA is a folder with genuine datasets of other people. Their small files become seeds too.
"""

from __future__ import annotations

import json
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "clients" / "python" / "tests")]
import test  # noqa: E402 - the folder is known now

sys.path.append(str(test.libraries("originals")))
from originals import FORMATS, some_pictures  # noqa: E402

LARGEST = 64_000  # bytes, which is what the fuzzer makes at most

# Which file of a format goes to which targets, and the bytes in front of it.
PLACES: dict[str, list[tuple[str, str, list[bytes]]]] = {
    "webdataset": [("*.tar", "archive", [b"\0", b"\1", b"\x08"])],
    "webdataset with masks": [("*.tar", "archive", [b"\0", b"\x08"])],
    "tar": [("*.tar", "archive", [b"\2", b"\3"])],
    "mds": [("*.mds", "archive", [b"\4", b"\5"])],
    "zip": [("*.zip", "archive", [b"\6", b"\7"])],
    "tfrecord": [("*.tfrecord", "framed", [b"\0\0", b"\0\1", b"\0\x80"])],
    "recordio": [("*.recordio", "framed", [b"\3\0", b"\3\2"])],
    "parquet": [("*.parquet", "tables", [b""])],
    "parquet of deltas in brotli": [("*.parquet", "tables", [b""])],
    "parquet of deltas in gzip": [("*.parquet", "tables", [b""])],
    "arrow": [("*.arrow", "tables", [b""])],
    "feather with lz4": [("*.feather", "tables", [b""])],
    "arrow with zstd": [("*.arrow", "tables", [b""])],
    "coco": [("*.json", "annotations", [b"\0"])],
    "voc": [("Annotations/*.xml", "annotations", [b"\1"])],
    "yolo": [("labels/train/*.txt", "annotations", [b"\2"]), ("*.yaml", "annotations", [b"\3"])],
    "csv": [("*.csv", "annotations", [b"\4"])],
}

# The same for genuine datasets, below DATA.
GENUINE: list[tuple[str, str, list[bytes]]] = [
    ("coco_tiny/annotations/*.json", "annotations", [b"\0"]),
    ("voc_raccoon/annotations/raccoon-1?.xml", "annotations", [b"\1"]),
    ("voc_raccoon/data/*.csv", "annotations", [b"\4"]),
    ("webdataset/testdata/*.tar", "archive", [b"\0", b"\2"]),
    ("recordio/elasticdl*", "framed", [b"\3\0", b"\3\1"]),
    ("tfrecord_raccoon/data/*.record", "framed", [b"\0\0", b"\0\x40"]),
    ("generated/recordio/*empty_records*", "framed", [b"\3\0"]),
]


def main(folder: Path, data: Path | None) -> None:
    """Writes all seeds."""
    pictures, labels = some_pictures(5)
    for each in FORMATS:
        with tempfile.TemporaryDirectory() as place:
            try:
                each.write(Path(place), pictures, labels)
            except ImportError as error:
                print(f"no seeds of {each}: {error}")
                continue
            for number, (pattern, target, heads) in enumerate(PLACES.get(str(each), [])):
                keep(Path(place), pattern, folder / target, heads, f"{each}-{number}")
            if str(each) == "mxnet":
                index, file = (Path(place) / f"train.{end}" for end in ("idx", "rec"))
                for flags in (b"\0", b"\x40"):
                    write(folder / "framed", f"mxnet-{flags.hex()}", b"\2" + flags + file.read_bytes())
                parts = b"".join(struct.pack("<H", part.stat().st_size) + part.read_bytes() for part in (index, file))
                write(folder / "framed", "mxnet-index", b"\2\2" + parts)
            if str(each) == "mds":
                described(Path(place), folder / "archive")
    for version in ("oldgnu", "0.0", "0.1", "1.0"):
        sparse(folder / "archive", version)
    example = b"\n\x1b\n\x19\n\x0dimage/encoded\x12\x08\n\x06\n\x04abcd"
    write(folder / "framed", "example", b"\1\0" + struct.pack("<H", len(example)) + example)
    write(folder / "framed", "chunk", b"\4\4\2" + struct.pack("<I", 3) + b"abc" + struct.pack("<I", 0))
    for line in ('{"file_name": "a.jpg", "a": [1, 2, 3, 4], "b": "x"}\n', '{"file_name": "a.jpg", "a": null}\n'):
        write(folder / "annotations", f"lines-{len(line)}", b"\5" + line.encode())
    for number, (pattern, target, heads) in enumerate(GENUINE if data else []):
        keep(data, pattern, folder / target, heads, f"genuine-{number}")


def described(place: Path, folder: Path) -> None:
    """Writes each shard of a dataset in MDS behind an index of this shard alone, which has the target's name for it."""
    index = json.loads((place / "index.json").read_text())
    for number, shard in enumerate(index["shards"]):
        content = (place / shard["raw_data"]["basename"]).read_bytes()
        shard["raw_data"]["basename"] = "archive"
        text = json.dumps({**index, "shards": [shard]}).encode()
        for head in (b"\x0c", b"\x14"):
            write(folder, f"mds-index-{number}-{head.hex()}", head + struct.pack("<H", len(text)) + text + content)


def sparse(folder: Path, version: str) -> None:
    """Writes a tar with a picture that is stored without its holes."""
    with tempfile.TemporaryDirectory() as place:
        with open(Path(place) / "1.jpg", "wb") as file:
            for piece in range(6):
                file.seek(piece << 16)
                file.write(bytes([piece + 1]) * 3000)
        style = ["--format=oldgnu"] if version == "oldgnu" else ["--format=pax", f"--sparse-version={version}"]
        tar = ["tar", *style, "--sparse", "-cf", "sparse.tar", "1.jpg"]
        try:
            subprocess.run(tar, cwd=place, check=True)
        except FileNotFoundError:
            print("no seeds of sparse files: the program tar is absent")
            return
        for way, head in enumerate((b"\0", b"\2")):
            write(folder, f"sparse-{version}-{way}", head + (Path(place) / "sparse.tar").read_bytes())


def keep(place: Path, pattern: str, folder: Path, heads: list[bytes], name: str) -> None:
    """Writes the files of a pattern, cut to what the fuzzer takes."""
    for number, file in enumerate(sorted(place.glob(pattern))):
        for way, head in enumerate(heads):
            write(folder, f"{name}-{number}-{way}", head + file.read_bytes()[:LARGEST])


def write(folder: Path, name: str, content: bytes) -> None:
    """Writes a seed."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None)
