"""Draws docs/pictures/transforms.png: a made-up landscape under each operation of forebay.transforms.functional.

`make gallery` runs it. It needs Pillow, and the wheel in .venv.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from forebay.transforms import functional as f
from PIL import Image, ImageDraw, ImageFont

FILE = Path(__file__).resolve().parent.parent / "docs" / "pictures" / "transforms.png"
WIDTH, HEIGHT, COLUMNS, LABEL = 144, 108, 5, 18


def landscape() -> np.ndarray:
    """A sky with a sun, hills, and a house."""
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH].astype(float)
    random = np.random.default_rng(5)
    down = (y / HEIGHT)[..., None]
    picture = (1 - down) * (90, 140, 215) + down * (235, 205, 170)
    picture[np.hypot(x - 112, y - 24) < 12] = (255, 225, 120)
    for base, height, period, colour in [(62, 12, 47, (95, 120, 105)), (80, 9, 31, (60, 100, 55))]:
        picture[y > base + height * np.sin(x / period * math.tau)] = colour
    picture[(abs(x - 45) < 16) & (y > 66) & (y < 92)] = (190, 70, 50)
    picture[(y > 50) & (y <= 66) & (abs(x - 45) < (y - 48) * 1.2)] = (90, 40, 45)
    picture[(abs(x - 45) < 4) & (y > 78) & (y < 92)] = (245, 240, 220)
    picture += random.normal(0, 1.5, picture.shape)
    return picture.clip(0, 255).astype(np.uint8)


def fitted(image: np.ndarray) -> np.ndarray:
    """A picture of another size, as large as its place allows, on white."""
    return f.letterbox(image, (HEIGHT, WIDTH), fill=255)


CORNERS = [[0, 0], [WIDTH - 1, 0], [WIDTH - 1, HEIGHT - 1], [0, HEIGHT - 1]]

# What stands under each picture, and how it is made.
OPERATIONS = {
    "original": lambda image: image,
    "adjust_brightness 1.5": lambda image: f.adjust_brightness(image, 1.5),
    "adjust_contrast 2": lambda image: f.adjust_contrast(image, 2),
    "adjust_saturation 2.5": lambda image: f.adjust_saturation(image, 2.5),
    "adjust_hue 0.25": lambda image: f.adjust_hue(image, 0.25),
    "adjust_hsv": lambda image: f.adjust_hsv(image, -0.1, 1.6, 0.8),
    "adjust_sharpness 4": lambda image: f.adjust_sharpness(image, 4),
    "rgb_to_grayscale": f.rgb_to_grayscale,
    "solarize 128": lambda image: f.solarize(image, 128),
    "posterize 2": lambda image: f.posterize(image, 2),
    "invert": f.invert,
    "autocontrast": lambda image: f.autocontrast(f.adjust_contrast(image, 0.4)),
    "equalize": f.equalize,
    "gaussian_blur 9": lambda image: f.gaussian_blur(image, 9, 3.0),
    "erase": lambda image: f.erase(image, 30, 70, 40, 50, (124, 116, 104)),
    "rotate 20": lambda image: f.rotate(image, 20, "bilinear"),
    "rotate 20, expand": lambda image: fitted(f.rotate(image, 20, "bilinear", expand=True)),
    "perspective": lambda image: f.perspective(image, CORNERS, [[30, 10], [130, 0], [143, 100], [10, 90]]),
    "affine, shear 20": lambda image: f.affine(image, 0, (0, 0), 1, (20, 0), "bilinear"),
    "affine, translate": lambda image: f.affine(image, 0, (30, -12), 1, (0, 0)),
    "affine, scale 0.6": lambda image: f.affine(image, 10, (0, 0), 0.6, (0, 0), "bicubic", 128),
    "affine_matrix": lambda image: f.affine_matrix(image, (1, 0.3, -20, 0, 1, 0), "bilinear", (124, 116, 104)),
    "solarize_add 110": lambda image: f.solarize_add(image, 110),
    "pillow_gaussian_blur 2": lambda image: f.pillow_gaussian_blur(image, 2),
    "horizontal_flip": f.horizontal_flip,
    "vertical_flip": f.vertical_flip,
    "resize": lambda image: fitted(f.resize(image, (60, 140))),
    "crop": lambda image: fitted(f.crop(image, 40, 10, 60, 80)),
    "center_crop": lambda image: fitted(f.center_crop(image, (90, 160))),
    "letterbox": lambda image: fitted(f.letterbox(image, 108)),
    "pad, edge": lambda image: fitted(f.pad(image, 20, padding_mode="edge")),
    "pad, reflect": lambda image: fitted(f.pad(image, 20, padding_mode="reflect")),
    "pad, symmetric": lambda image: fitted(f.pad(image, 20, padding_mode="symmetric")),
}


def main() -> None:
    """Writes the sheet."""
    used = {name.split(",")[0].split(" ")[0] for name in OPERATIONS} - {"original"}
    assert used == set(f.__all__), f"the gallery lacks {set(f.__all__) - used}"
    rows = math.ceil(len(OPERATIONS) / COLUMNS)
    sheet = Image.new("RGB", (COLUMNS * (WIDTH + 6) + 6, rows * (HEIGHT + LABEL + 6) + 6), "white")
    write, font = ImageDraw.Draw(sheet), ImageFont.load_default(11)
    image = landscape()
    for number, (name, made) in enumerate(OPERATIONS.items()):
        left, top = 6 + number % COLUMNS * (WIDTH + 6), 6 + number // COLUMNS * (HEIGHT + LABEL + 6)
        sheet.paste(Image.fromarray(made(image)), (left, top))
        write.text((left, top + HEIGHT + 2), name, "black", font)
    sheet.quantize(255, dither=Image.Dither.NONE).save(FILE, optimize=True)
    print(f"{FILE}: {len(OPERATIONS)} pictures")


if __name__ == "__main__":
    main()
