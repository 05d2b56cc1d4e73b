"""Pictures are turned as Pillow's `exif_transpose` turns them: by EXIF, and by XMP where EXIF says nothing."""

import io
import struct
import zlib

import forebay.image
import numpy as np
import pytest
from PIL import Image, ImageOps

STORED = Image.fromarray(np.random.default_rng(4).integers(0, 256, (21, 34, 3), dtype=np.uint8))
NUMBERS = range(10)


def tiff(number: int, *, order: str = "<", kind: str = "H") -> bytes:
    """EXIF with one field, the orientation."""
    kinds = {"H": 3, "I": 4, "h": 8, "i": 9, "f": 11, "B": 1}
    value = struct.pack(order + kind, number).ljust(4, b"\0")
    head = b"II*\0" if order == "<" else b"MM\0*"
    return head + struct.pack(order + "IHHHI", 8, 1, 0x112, kinds[kind], 1) + value + bytes(4)


def xmp(number: int, *, element: bool = False) -> bytes:
    inner = f"<tiff:Orientation>{number}</tiff:Orientation>" if element else ""
    attribute = "" if element else f'tiff:Orientation="{number}"'
    text = f'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:Description {attribute}>{inner}</rdf:Description></x:xmpmeta>'
    return text.encode()


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(*chunks: bytes, behind: bool = False) -> bytes:
    """A PNG with these chunks before its pixels, or behind them."""
    out = io.BytesIO()
    STORED.save(out, "PNG")
    whole = out.getvalue()
    at = whole.index(b"IEND" if behind else b"IDAT") - 4
    return whole[:at] + b"".join(chunks) + whole[at:]


def profile(exif: bytes) -> bytes:
    digits = exif.hex()
    lines = "\n".join(digits[i : i + 72] for i in range(0, len(digits), 72))
    return f"\nexif\n{len(exif):8}\n{lines}\n".encode()


def saved(kind: str, **options) -> bytes:
    out = io.BytesIO()
    if kind == "WEBP":
        options["lossless"] = True
    STORED.save(out, kind, **options)
    return out.getvalue()


def turned_tiff(number: int, *, long: bool, big: bool) -> bytes:
    """A TIFF by hand, in both orders of bytes: Pillow writes only one."""
    order = ">" if big else "<"
    width, height = STORED.size
    pixels = STORED.tobytes()
    fields = [
        (256, "H", width),
        (257, "H", height),
        (258, "H", 8),
        (262, "H", 2),
        (273, "I", 8),
        (274, "I" if long else "H", number),
        (277, "H", 3),
        (278, "H", height),
        (279, "I", len(pixels)),
    ]
    bits = 8 + len(pixels)
    at = bits + 6
    entries = struct.pack(order + "H", len(fields))
    for tag, kind, value in fields:
        count = 3 if tag == 258 else 1
        packed = struct.pack(order + "I", bits) if tag == 258 else struct.pack(order + kind, value).ljust(4, b"\0")
        entries += struct.pack(order + "HHI", tag, 4 if kind == "I" else 3, count) + packed
    head = (b"MM\0*" if big else b"II*\0") + struct.pack(order + "I", at)
    return head + pixels + struct.pack(order + "HHH", 8, 8, 8) + entries + bytes(4)


def files(number: int) -> dict[str, bytes]:
    made = {}
    for order in "<>":
        for kind in "HIhifB":
            exif = tiff(number, order=order, kind=kind)
            name = f"{kind}, {order}"
            for head in (b"", b"Exif\0\0"):
                made[f"PNG eXIf {name} {head!r}"] = png(chunk(b"eXIf", head + exif))
                made[f"WebP {name} {head!r}"] = saved("WEBP", exif=head + exif)
                text = b"Raw profile type exif\0" + profile(head + exif)
                made[f"PNG raw profile {name} {head!r}"] = png(chunk(b"tEXt", text))
            made[f"JPEG {name}"] = saved("JPEG", exif=b"Exif\0\0" + exif)
        made[f"TIFF {order}"] = turned_tiff(number, long=False, big=order == ">")
        made[f"TIFF LONG {order}"] = turned_tiff(number, long=True, big=order == ">")
    exif = tiff(number)
    packed = b"Raw profile type exif\0\0" + zlib.compress(profile(b"Exif\0\0" + exif))
    made["PNG packed raw profile"] = png(chunk(b"zTXt", packed))
    made["PNG eXIf behind its pixels"] = png(chunk(b"eXIf", exif), behind=True)
    made["PNG exif as a text"] = png(chunk(b"tEXt", b"exif\0Exif\0\0" + exif))
    made["PNG eXIf twice"] = png(chunk(b"eXIf", tiff(2)), chunk(b"eXIf", exif))
    for element in (False, True):
        text = xmp(number, element=element)
        plain = chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + text)
        made[f"PNG XMP {element}"] = png(plain)
        made[f"PNG packed XMP {element}"] = png(chunk(b"iTXt", b"XML:com.adobe.xmp\0\1\0en\0x\0" + zlib.compress(text)))
        made[f"JPEG XMP {element}"] = saved("JPEG", xmp=text)
        made[f"WebP XMP {element}"] = saved("WEBP", xmp=text)
        made[f"TIFF XMP {element}"] = saved("TIFF", tiffinfo={700: text})
        # What EXIF says counts, also if it is no orientation.
        made[f"JPEG both {element}"] = saved("JPEG", xmp=text, exif=b"Exif\0\0" + tiff(6))
        made[f"WebP both {element}"] = saved("WEBP", xmp=text, exif=tiff(1))
        made[f"PNG both {element}"] = png(plain, chunk(b"eXIf", tiff(9)))
        made[f"TIFF both {element}"] = saved("TIFF", tiffinfo={700: text, 274: 3})
    return made


@pytest.mark.parametrize("number", NUMBERS)
def test_pictures_are_turned_as_pillow_turns_them(number):
    for name, data in files(number).items():
        expected = np.asarray(ImageOps.exif_transpose(Image.open(io.BytesIO(data))).convert("RGB"))
        found = forebay.image.decode(data)
        assert np.array_equal(found, expected), f"{name}, {number}"
        header = forebay.image.probe(data)
        assert (header.height, header.width) == expected.shape[:2], name


def test_every_form_turns_where_a_number_is_given():
    turned = {name: forebay.image.decode(data).shape[:2] for name, data in files(6).items()}
    stored = STORED.size[::-1]
    as_stored = {name for name, shape in turned.items() if shape == stored}
    # Bytes are no number for Pillow, and EXIF comes before XMP.
    expected = {name for name in turned if ("B, " in name) or (" both " in name and not name.startswith("JPEG"))}
    assert as_stored == expected
