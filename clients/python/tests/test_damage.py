"""Damaged JPEGs: what Pillow refuses is refused, and what it opens is opened, unless it has no end marker (rule 29)."""

import io
import random

import forebay.image
import numpy as np
import pytest
from PIL import Image


def pillow(data: bytes) -> np.ndarray | None:
    try:
        return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))
    except Exception:
        return None


def ours(data: bytes) -> tuple[np.ndarray | None, str]:
    try:
        return forebay.image.decode(data), ""
    except Exception as error:
        return None, str(error)


def pictures() -> list[bytes]:
    """One of every kind that libjpeg's decoder takes in another way."""
    rng = np.random.default_rng(3)
    colours = Image.fromarray(rng.integers(0, 256, (9, 13, 3), dtype=np.uint8)).resize(
        (104, 72), Image.Resampling.BICUBIC
    )
    kinds = [
        (colours, {"subsampling": "4:2:0"}),
        (colours, {"subsampling": "4:4:4", "restart_marker_blocks": 5}),
        (colours, {"subsampling": "4:2:2", "restart_marker_rows": 1}),
        (colours, {"progressive": True}),
        (colours.convert("L"), {"restart_marker_blocks": 3}),
        (colours.convert("CMYK"), {}),
    ]
    written = []
    for picture, options in kinds:
        out = io.BytesIO()
        picture.save(out, "JPEG", quality=80, **options)
        written.append(out.getvalue())
    return written


@pytest.mark.parametrize("kind", range(6))
def test_rule_29_damaged_jpegs_are_bad_where_pillow_refuses_them(kind):
    whole = pictures()[kind]
    data_begins = whole.index(b"\xff\xda")
    draw = random.Random(kind)
    good = bad = 0
    for number in range(1500):
        damaged = bytearray(whole)
        # Markers of all kinds in the data, and bytes of segments and of data that are others.
        for _ in range(draw.choice((1, 1, 2, 5))):
            at = draw.randrange(2 if number % 3 == 0 else data_begins, len(damaged) - 3)
            damaged[at] = draw.choice((0xFF, 0xFF, draw.randrange(256)))
            if number % 2:
                damaged[at + 1] = draw.randrange(256)
        theirs = pillow(bytes(damaged))
        got, reason = ours(bytes(damaged))
        if theirs is None:
            assert got is None, f"kind {kind}, number {number}: Pillow refuses it"
            bad += 1
        elif got is None:
            assert "truncated" in reason, f"kind {kind}, number {number}: Pillow opens it, but: {reason}"
        else:
            assert np.array_equal(got, theirs), f"kind {kind}, number {number}"
            good += 1
    assert good > 200, (good, bad)
    assert bad > 50, (good, bad)
