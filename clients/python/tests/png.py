"""Writes masks as PNG with the standard library, so that tests need no imaging package."""

import struct
import zlib
from pathlib import Path

import numpy as np


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def write_png(path: Path, numbers: np.ndarray, *, palette: bool = False) -> None:
    """Writes `(height, width)` as grey of 8 or 16 bits or with a palette, and `(height, width, 3)` as colours."""
    height, width = numbers.shape[:2]
    bits = 8 * numbers.dtype.itemsize
    colours = 2 if numbers.ndim == 3 else 3 if palette else 0
    rows = numbers.astype(numbers.dtype.newbyteorder(">")).reshape(height, -1)
    lines = b"".join(b"\0" + row.tobytes() for row in rows)
    table = _chunk(b"PLTE", bytes(range(256)) * 3) if palette else b""
    head = _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, bits, colours, 0, 0, 0))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + head + table + _chunk(b"IDAT", zlib.compress(lines)) + _chunk(b"IEND", b""))
