"""The pictures of the torture test: each has the number of its record, random bytes, and the checksum of both."""

import random
import struct
import zlib

SIDE = 8
# Bytes of a picture.
LENGTH = SIDE * SIDE * 3


def payload(number: int) -> bytes:
    """The pixels of a record."""
    head = struct.pack("<Q", number) + random.Random(number).randbytes(LENGTH - 12)
    return head + struct.pack("<I", zlib.crc32(head))


def is_of(pixels: bytes, number: int) -> bool:
    """Whether pixels are a whole payload, and that of this record."""
    head, (checksum,) = pixels[:-4], struct.unpack("<I", pixels[-4:])
    return len(pixels) == LENGTH and checksum == zlib.crc32(head) and head[:8] == struct.pack("<Q", number)


def write_pictures(folder, count):
    """Makes a folder of so many pictures. Their order is that of the records."""
    folder.mkdir()
    for number in range(count):
        write_picture(folder, number)
    return folder


def write_picture(folder, number, length=LENGTH):
    """Adds a picture to a folder. It is bad if it has fewer bytes."""
    (folder / f"{number:05}.ppm").write_bytes(b"P6 %d %d 255\n" % (SIDE, SIDE) + payload(number)[:length])
