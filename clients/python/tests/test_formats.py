"""Odd files of TIFF, GIF, BMP and PNM: their pixels are Pillow's, which reads the same bytes."""

import io
import struct

import forebay.image
import numpy as np
import pytest
from PIL import Image

WIDE, HIGH = 29, 19
RNG = np.random.default_rng(8)


def noise(*shape: int, most: int = 255, kind: str = "u1") -> np.ndarray:
    return RNG.integers(0, most + 1, shape).astype(kind)


def pillow(data: bytes) -> np.ndarray:
    """Pillow's pixels: transparent parts on black, and the upper byte of 16-bit gray."""
    picture = Image.open(io.BytesIO(data))
    picture.load()
    if picture.mode.startswith("I"):
        values = np.asarray(picture).astype(np.int64)
        return np.repeat((values >> 8).astype(np.uint8)[..., None], 3, axis=2)
    if picture.mode in ("RGBA", "LA") or "transparency" in picture.info:
        picture = picture.convert("RGBA")
        black = Image.new("RGBA", picture.size, (0, 0, 0, 255))
        black.alpha_composite(picture)
        picture = black
    return np.asarray(picture.convert("RGB"))


# --- TIFF


def tiff(
    parts: list[bytes], fields: dict[int, tuple[str, list[int]]], *, tiled: bool = False, order: str = "<"
) -> bytes:
    """A file of these strips or tiles and fields."""
    out = bytearray((b"II*\0" if order == "<" else b"MM\0*") + bytes(4))
    offsets, lengths = [], []
    for part in parts:
        offsets.append(len(out))
        lengths.append(len(part))
        out += part + bytes(len(part) % 2)
    fields = dict(fields)
    fields[324 if tiled else 273] = ("I", offsets)
    fields[325 if tiled else 279] = ("I", lengths)
    entries = b""
    for tag, (kind, values) in sorted(fields.items()):
        data = struct.pack(f"{order}{len(values)}{kind}", *values)
        if len(data) > 4:
            data, at = struct.pack(order + "I", len(out)), data
            out += at
        entries += struct.pack(order + "HHI", tag, {"H": 3, "I": 4}[kind], len(values)) + data.ljust(4, b"\0")
    out[4:8] = struct.pack(order + "I", len(out))
    return bytes(out) + struct.pack(order + "H", len(fields)) + entries + bytes(4)


def fields(bits: list[int], interpretation: int, **more: list[int]) -> dict[int, tuple[str, list[int]]]:
    named = {
        "compression": 259,
        "fill_order": 266,
        "planar": 284,
        "map": 320,
        "extra": 338,
        "tile_wide": 322,
        "tile_high": 323,
    }
    made = {
        256: ("H", [WIDE]),
        257: ("H", [HIGH]),
        258: ("H", bits),
        259: ("H", [1]),
        262: ("H", [interpretation]),
        277: ("H", [len(bits)]),
        278: ("H", [HIGH]),
    }
    return made | {named[name]: ("H", values) for name, values in more.items()}


def tiffs() -> dict[str, bytes]:
    made = {}
    for order in "<>":
        wide = order + "u2"
        rgba = noise(HIGH, WIDE, 4)
        multiplied = rgba.copy()
        multiplied[..., :3] = multiplied[..., :3].astype(int) * multiplied[..., 3:] // 255
        multiplied[0, :4] = [[200, 90, 40, 0], [200, 90, 40, 9], [0, 0, 0, 0], [255, 255, 255, 255]]
        for name, extra, values in (
            ("multiplied", [1], multiplied),
            ("alpha", [2], rgba),
            ("a fourth band", [0], rgba),
            ("no word of the fourth", None, rgba),
        ):
            more = {} if extra is None else {"extra": extra}
            made[f"{name} {order}"] = tiff([values.tobytes()], fields([8] * 4, 2, **more), order=order)
            values = (values.astype(int) * 257).astype(wide)
            made[f"{name} 16 {order}"] = tiff([values.tobytes()], fields([16] * 4, 2, **more), order=order)
        five = noise(HIGH, WIDE, 5)
        made[f"inks {order}"] = tiff([rgba.tobytes()], fields([8] * 4, 5), order=order)
        made[f"inks and more {order}"] = tiff([five.tobytes()], fields([8] * 5, 5, extra=[0]), order=order)
        inks = noise(HIGH, WIDE, 4, most=65535, kind=wide)
        made[f"inks 16 {order}"] = tiff([inks.tobytes()], fields([16] * 4, 5), order=order)
        palette = [int(value) for value in noise(768, most=65535, kind="u2")]
        for fill_order in (1, 2):

            def stored(data: bytes, fill_order: int = fill_order) -> bytes:
                return data if fill_order == 1 else bytes(int(f"{byte:08b}"[::-1], 2) for byte in data)

            for interpretation in (0, 1):
                bits = np.packbits(noise(HIGH, WIDE, most=1), axis=1).tobytes()
                name = f"one bit {interpretation} {fill_order} {order}"
                made[name] = tiff([stored(bits)], fields([1], interpretation, fill_order=[fill_order]), order=order)
            for name, bits, interpretation, more in (
                ("gray", [8], 1, {}),
                ("colours", [8] * 3, 2, {}),
                ("palette", [8], 3, {"map": palette}),
            ):
                data = stored(noise(HIGH, WIDE, len(bits)).tobytes())
                described = fields(bits, interpretation, fill_order=[fill_order], **more)
                made[f"{name} {fill_order} {order}"] = tiff([data], described, order=order)
                # In two strips.
                half = len(data) // HIGH * 10
                described[278] = ("H", [10])
                made[f"{name} strips {fill_order} {order}"] = tiff([data[:half], data[half:]], described, order=order)
    return made


def test_tiffs_have_the_pixels_of_pillow():
    for name, data in tiffs().items():
        expected, found = pillow(data), forebay.image.decode(data)
        assert np.array_equal(found, expected), name


@pytest.mark.parametrize("bands", [3, 4])
def test_a_tiff_of_tiles_of_one_channel_each_is_refused_by_name(bands):
    tiles = [noise(16, 16).tobytes() for _ in range(bands * 4)]
    described = fields([8] * bands, 2, planar=[2], tile_wide=[16], tile_high=[16])
    with pytest.raises(forebay.PictureError, match="tiles of one channel each"):
        forebay.image.decode(tiff(tiles, described, tiled=True))


@pytest.mark.parametrize("mode", ["RGB", "L", "CMYK", "RGBA"])
def test_jpeg_in_a_tiff_is_within_2_of_pillow(mode):
    smooth = Image.fromarray(noise(7, 9, 3)).resize((120, 90), Image.Resampling.BICUBIC).convert(mode)
    out = io.BytesIO()
    smooth.save(out, "TIFF", compression="jpeg")
    difference = np.abs(forebay.image.decode(out.getvalue()).astype(int) - pillow(out.getvalue()))
    assert difference.max() <= 2


# --- GIF


def gif(
    screen: tuple[int, int],
    at: tuple[int, int],
    frame: tuple[int, int],
    *,
    clear: int | None = None,
    local: bool = False,
) -> bytes:
    picture = Image.fromarray(noise(frame[1], frame[0], most=15), "P")
    picture.putpalette([int(value) for value in noise(48)])
    out = io.BytesIO()
    picture.save(out, "GIF", interlace=False)
    data = bytearray(out.getvalue())
    table = 3 * (2 << (data[10] & 7))
    data[6:10] = struct.pack("<HH", *screen)
    data[11] = 2  # The background colour, which has no effect.
    begin = data.index(b",", 13 + table)
    data[begin + 1 : begin + 5] = struct.pack("<HH", *at)
    if local:
        flags = data[10] & 7
        colours = bytes(noise(table))
        data[begin + 9] = 0x80 | flags
        data[begin + 10 : begin + 10] = colours
    if clear is not None:
        data[begin:begin] = bytes([0x21, 0xF9, 4, 1, 0, 0, clear, 0])
    return bytes(data)


@pytest.mark.parametrize("clear", [None, 0, 5])
@pytest.mark.parametrize("local", [False, True])
def test_a_frame_of_a_gif_is_on_its_screen_where_pillow_has_it(clear, local):
    for screen, at, frame in (
        ((22, 17), (0, 0), (22, 17)),
        ((43, 31), (6, 3), (22, 17)),
        ((43, 31), (30, 3), (22, 17)),
        ((43, 31), (6, 20), (22, 17)),
        ((43, 31), (42, 30), (22, 17)),
        ((9, 11), (0, 0), (22, 17)),
        ((9, 11), (14, 12), (22, 17)),
        ((0, 0), (0, 0), (22, 17)),
    ):
        data = gif(screen, at, frame, clear=clear, local=local)
        expected, found = pillow(data), forebay.image.decode(data)
        assert found.shape == expected.shape, (screen, at, frame)
        assert np.array_equal(found, expected), (screen, at, frame)


# --- BMP


def bmp(
    bits: int,
    data: bytes,
    size: tuple[int, int],
    *,
    compression: int = 0,
    palette: bytes = b"",
    masks: bytes = b"",
    head: int = 40,
) -> bytes:
    fixed = struct.pack("<IiiHHIIiiII", head, *size, 1, bits, compression, len(data), 0, 0, len(palette) // 4, 0)
    fixed += masks.ljust(head - 40, b"\0") if head > 40 else masks
    at = 14 + len(fixed) + len(palette)
    return b"BM" + struct.pack("<IHHI", at + len(data), 0, 0, at) + fixed + palette + data


@pytest.mark.parametrize("size", [(WIDE, HIGH), (WIDE, -HIGH), (8, 3)])
def test_bmps_of_16_bits_have_the_pixels_of_pillow(size):
    five, six = struct.pack("<III", 0x7C00, 0x3E0, 0x1F), struct.pack("<III", 0xF800, 0x7E0, 0x1F)
    data = noise(abs(size[1]), size[0] + size[0] % 2, most=65535, kind="<u2").tobytes()
    for picture in (
        bmp(16, data, size),
        bmp(16, data, size, compression=3, masks=five),
        bmp(16, data, size, compression=3, masks=six),
        bmp(16, data, size, compression=3, masks=five + struct.pack("<I", 0x8000), head=108),
    ):
        assert np.array_equal(forebay.image.decode(picture), pillow(picture))


def runs(width: int, height: int, *, half: bool) -> bytes:
    """Rows of runs, plain indices, ends of lines that come early, and places that are passed over."""
    out = b""
    most = 255 if half else 31
    for row in range(height):
        kind = row % 4
        if kind == 0:
            out += bytes([width, int(noise(1, most=most)[0])]) + b"\0\0"
        elif kind == 1:
            plain = width - 3 - width % 2
            values = noise((plain + 1) // 2 if half else plain, most=most).tobytes()
            out += bytes([0, plain]) + values + bytes(len(values) % 2) + bytes([1, 3]) + b"\0\0"
        elif kind == 2:
            out += bytes([4, 7]) + b"\0\0"
        else:
            # To the right, and into the row above: only the end of the line says where it ends.
            out += bytes([2, 9, 0, 2, 3, 0, width - 6, 17]) + b"\0\0"
    return out + b"\0\1"


@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("size", [(21, 9), (16, 4), (30, 13)])
def test_pixels_that_run_lengths_leave_out_are_those_of_pillow(size, half):
    palette = b"".join(bytes(noise(3)) + b"\0" for _ in range(16 if half else 32))
    data = runs(*size, half=half)
    picture = bmp(4 if half else 8, data, size, compression=2 if half else 1, palette=palette)
    assert np.array_equal(forebay.image.decode(picture), pillow(picture))
    # To the next rows in one step: rows 1 and 2 are left out.
    width, height = size
    data = bytes([5, 3, 0, 2, 2, 2, width - 7, 8]) + b"\0\0" + bytes([width, 1, 0, 0]) * (height - 3) + b"\0\1"
    picture = bmp(4 if half else 8, data, size, compression=2 if half else 1, palette=palette)
    assert np.array_equal(forebay.image.decode(picture), pillow(picture))


def test_run_lengths_that_end_early_are_filled_at_their_sign_and_truncated_without_it():
    palette = bytes([1, 2, 3, 0, 9, 8, 7, 0])
    for end, good in ((b"\0\1", True), (b"", False)):
        picture = bmp(8, bytes([3, 1]) + b"\0\0" + end, (4, 3), compression=1, palette=palette)
        if good:
            expected = np.full((3, 4, 3), [3, 2, 1])
            expected[2, :3] = [7, 8, 9]
            assert np.array_equal(forebay.image.decode(picture), expected)
        else:
            with pytest.raises(forebay.PictureError, match="truncated"):
                forebay.image.decode(picture)


# --- PNM


@pytest.mark.parametrize("most", [1, 2, 77, 200, 254, 255, 256, 1000, 4095, 40000, 65534, 65535])
def test_pnms_of_any_greatest_value_have_the_pixels_of_pillow(most):
    for magic, shape in (
        (b"P5", (HIGH, WIDE)),
        (b"P6", (HIGH, WIDE, 3)),
        (b"P2", (HIGH, WIDE)),
        (b"P3", (HIGH, WIDE, 3)),
    ):
        values = noise(*shape, most=most, kind=">u2" if most > 255 else "u1")
        head = b"%s\n# a comment\n%d %d\n%d\n" % (magic, WIDE, HIGH, most)
        plain = b" ".join(b"%d" % value for value in values.ravel().tolist())
        data = head + (values.tobytes() if magic in (b"P5", b"P6") else plain)
        assert np.array_equal(forebay.image.decode(data), pillow(data)), magic
