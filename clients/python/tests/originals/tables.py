"""Tables: parquet and Arrow files of pyarrow, MosaicML's shards, and CSV."""

import csv
import json
import struct
from functools import partial
from pathlib import Path
from typing import Any

from originals.dataset import Dataset, Format

ROWS = 20  # of a row group or a batch


def as_table(pictures: list[bytes], labels: list[int]) -> Any:
    """As Hugging Face's `datasets` has pictures: a structure of bytes and path."""
    import pyarrow

    images = [{"bytes": picture, "path": None} for picture in pictures]
    kind = pyarrow.struct({"bytes": pyarrow.binary(), "path": pyarrow.string()})
    return pyarrow.table({"image": pyarrow.array(images, kind), "label": pyarrow.array(labels, pyarrow.int64())})


def rows_of(table: Any) -> list[tuple[bytes, int]]:
    return [(row["image"]["bytes"], row["label"]) for row in table.to_pylist()]


def write_parquet(folder: Path, pictures: list[bytes], labels: list[int]) -> Dataset:
    from pyarrow import parquet

    # Random pictures do not compress, and each row is used once: every page is plain.
    parquet.write_table(as_table(pictures, labels), folder / "train.parquet", row_group_size=ROWS, compression="zstd")
    return Dataset(f"parquet:{folder}/train.parquet")


def write_plain_parquet(folder: Path, pictures: list[bytes], labels: list[int]) -> Dataset:
    """As Hugging Face's `datasets` writes pictures: without compression, dictionaries and statistics."""
    from pyarrow import parquet

    table = as_table(pictures, labels)
    parquet.write_table(
        table,
        folder / "train.parquet",
        row_group_size=100,
        compression="none",
        use_dictionary=False,
        write_statistics=False,
    )
    return Dataset(f"parquet:{folder}/train.parquet")


def read_parquet(folder: Path) -> list[tuple[bytes, int]]:
    from pyarrow import parquet

    return rows_of(parquet.read_table(folder / "train.parquet"))


def write_arrow(folder: Path, pictures: list[bytes], labels: list[int]) -> Dataset:
    import pyarrow

    table = as_table(pictures, labels)
    with pyarrow.ipc.new_file(folder / "train.arrow", table.schema) as writer:
        writer.write_table(table, max_chunksize=ROWS)
    return Dataset(f"arrow:{folder}/train.arrow")


def read_arrow(folder: Path) -> list[tuple[bytes, int]]:
    import pyarrow

    with pyarrow.ipc.open_file(folder / "train.arrow") as reader:
        return rows_of(reader.read_all())


def write_compressed_parquet(folder: Path, pictures: list[bytes], labels: list[int], compression: str) -> Dataset:
    """Columns as differences, in pages that only a decoder without a limit would trust."""
    from pyarrow import parquet

    encoding = "DELTA_LENGTH_BYTE_ARRAY" if compression == "gzip" else "DELTA_BYTE_ARRAY"
    parquet.write_table(
        as_table(pictures, labels),
        folder / "train.parquet",
        row_group_size=ROWS,
        compression=compression,
        use_dictionary=False,
        column_encoding={"image.bytes": encoding, "label": "DELTA_BINARY_PACKED"},
        data_page_version="2.0" if compression == "gzip" else "1.0",
    )
    return Dataset(f"parquet:{folder}/train.parquet")


def write_feather(folder: Path, pictures: list[bytes], labels: list[int]) -> Dataset:
    """With the compression that pyarrow takes by itself."""
    from pyarrow import feather

    feather.write_feather(as_table(pictures, labels), folder / "train.feather", chunksize=ROWS)
    return Dataset(f"arrow:{folder}/train.feather")


def read_feather(folder: Path) -> list[tuple[bytes, int]]:
    from pyarrow import feather

    return rows_of(feather.read_table(folder / "train.feather"))


def write_zstd_arrow(folder: Path, pictures: list[bytes], labels: list[int]) -> Dataset:
    import pyarrow

    table = as_table(pictures, labels)
    options = pyarrow.ipc.IpcWriteOptions(compression="zstd")
    with pyarrow.ipc.new_stream(folder / "train.arrow", table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=ROWS)
    return Dataset(f"arrow:{folder}/train.arrow")


def read_arrow_stream(folder: Path) -> list[tuple[bytes, int]]:
    import pyarrow

    with pyarrow.ipc.open_stream(folder / "train.arrow") as reader:
        return rows_of(reader.read_all())


def write_mds(folder: Path, pictures: list[bytes], labels: list[int]) -> Dataset:
    """As `MDSWriter` writes it. The package itself is not installed: it asks for PyTorch."""
    shards = []
    for number, start in enumerate(range(0, len(pictures), ROWS)):
        samples = [
            struct.pack("<I", len(picture)) + picture + struct.pack("<q", label)
            for picture, label in zip(pictures[start : start + ROWS], labels[start : start + ROWS])
        ]
        head = 4 + 4 * (len(samples) + 1)
        ends = [head + sum(map(len, samples[:count])) for count in range(len(samples) + 1)]
        content = struct.pack(f"<{len(ends) + 1}I", len(samples), *ends) + b"".join(samples)
        name = f"shard.{number:05}.mds"
        (folder / name).write_bytes(content)
        shards.append(
            {
                "version": 2,
                "format": "mds",
                "samples": len(samples),
                "column_names": ["image", "label"],
                "column_encodings": ["png", "int"],
                "column_sizes": [None, 8],
                "compression": None,
                "hashes": [],
                "size_limit": 1 << 26,
                "raw_data": {"basename": name, "bytes": len(content), "hashes": {}},
                "zip_data": None,
            }
        )
    (folder / "index.json").write_text(json.dumps({"version": 2, "shards": shards}))
    return Dataset(f"mds:{folder}")


def write_csv(folder: Path, pictures: list[bytes], labels: list[int]) -> Dataset:
    with open(folder / "train.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["path", "label"])
        for number, (picture, label) in enumerate(zip(pictures, labels)):
            name = f"picture, number {number:06}.png"
            (folder / name).write_bytes(picture)
            writer.writerow([name, label])
    return Dataset(f"csv:{folder}/train.csv")


def read_csv(folder: Path) -> list[tuple[bytes, int]]:
    with open(folder / "train.csv", newline="") as file:
        return [((folder / row["path"]).read_bytes(), int(row["label"])) for row in csv.DictReader(file)]


FORMATS = [
    Format("parquet", ("pyarrow",), write_parquet, read_parquet),
    Format("parquet, plain", ("pyarrow",), write_plain_parquet, read_parquet),
    Format(
        "parquet of deltas in gzip", ("pyarrow",), partial(write_compressed_parquet, compression="gzip"), read_parquet
    ),
    Format(
        "parquet of deltas in brotli",
        ("pyarrow",),
        partial(write_compressed_parquet, compression="brotli"),
        read_parquet,
    ),
    Format("arrow", ("pyarrow",), write_arrow, read_arrow),
    Format("feather with lz4", ("pyarrow",), write_feather, read_feather),
    Format("arrow with zstd", ("pyarrow",), write_zstd_arrow, read_arrow_stream),
    Format("mds", (), write_mds),
    Format("csv", (), write_csv, read_csv),
]
