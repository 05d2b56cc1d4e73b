"""What is seen where a picture is transparent: a colour, or what the file has there."""

import io

import numpy as np
import pytest
from forebay import image
from PIL import Image


def test_what_is_transparent_shows_the_fill():
    file = io.BytesIO()
    Image.fromarray(np.zeros((4, 4, 4), np.uint8)).save(file, "PNG")
    assert image.decode(file.getvalue(), fill=(9, 200, 31))[2, 3].tolist() == [9, 200, 31]


@pytest.mark.parametrize(
    ("mode", "form", "options"),
    [
        ("RGBA", "PNG", {}),
        ("LA", "PNG", {}),
        ("P", "PNG", {"transparency": 3}),
        ("RGB", "PNG", {"transparency": (12, 34, 56)}),
        ("RGBA", "WEBP", {"lossless": True, "exact": True}),
        ("RGBA", "WEBP", {"quality": 60}),
        ("P", "GIF", {"transparency": 3}),
        ("RGBA", "TIFF", {}),
    ],
)
def test_without_alpha_a_picture_is_pillows_conversion(mode, form, options):
    opaque = np.random.default_rng(4).integers(0, 256, (90, 130, 3), np.uint8)
    alpha = np.tile(np.linspace(0, 255, 130).astype(np.uint8), (90, 1))
    opaque[5:20, 5:20] = (12, 34, 56)
    picture = Image.fromarray(opaque)
    if mode in ("RGBA", "LA"):
        picture = picture.convert(mode)
        picture.putalpha(Image.fromarray(alpha))
    elif mode == "P":
        picture = picture.quantize(60)
    file = io.BytesIO()
    picture.save(file, form, **options)
    expected = np.asarray(Image.open(file).convert("RGB"))
    assert np.array_equal(image.decode(file.getvalue(), fill="drop"), expected)
    laid = image.decode(file.getvalue(), fill=(255, 0, 255))
    assert not np.array_equal(laid, expected), "something is transparent"
