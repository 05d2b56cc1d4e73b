"""AVIF beside Pillow, whose libavif makes colours by libyuv: its values differ a little from libavif's own."""

import io

import forebay
import numpy as np
import pytest
from forebay import image, transforms
from PIL import Image, ImageOps, features

if not features.check("avif"):
    pytest.skip("Pillow has no AVIF here", allow_module_level=True)

# By how much values may differ: those of libavif do so with and without libyuv. Gray ones are the same.
MOST = {"4:0:0": 0, "4:4:4": 2, "4:2:2": 3, "4:2:0": 3}


def picture(width, height, channels=3):
    """Waves, which differ from channel to channel, and some grain."""
    rows, columns = np.mgrid[0:height, 0:width]
    waves = [np.sin(columns / (5 + n)) * np.cos(rows / (7 - n)) for n in range(channels)]
    values = np.stack(waves, axis=2) * 100 + 128 + np.random.default_rng(3).normal(0, 4, (height, width, channels))
    return Image.fromarray(values.clip(0, 255).astype("uint8"))


def saved(made, **settings):
    """The picture as AVIF."""
    file = io.BytesIO()
    made.save(file, "AVIF", speed=8, **settings)
    return file.getvalue()


def by_pillow(data):
    """Pillow's pixels, upright."""
    return np.asarray(ImageOps.exif_transpose(Image.open(io.BytesIO(data))).convert("RGB")).astype(int)


def greatest(ours, theirs):
    """The greatest difference. libyuv makes the last column of an odd width in another way."""
    assert ours.shape == theirs.shape
    width = ours.shape[1]
    return abs(ours.astype(int) - theirs)[:, : width - width % 2].max(initial=0)


@pytest.mark.parametrize("bounds", ["full", "limited"])
@pytest.mark.parametrize("subsampling", MOST)
def test_every_form_that_pillow_writes_has_its_pixels_but_for_little(subsampling, bounds):
    for size in ((150, 101), (1, 1), (2, 3), (65, 64)):
        for quality in (30, 90):
            data = saved(picture(*size), subsampling=subsampling, range=bounds, quality=quality)
            assert greatest(image.decode(data), by_pillow(data)) <= MOST[subsampling], (size, quality)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_picture_is_turned_as_pillow_turns_it(orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    data = saved(picture(30, 20), subsampling="4:0:0", exif=exif)
    assert np.array_equal(image.decode(data), by_pillow(data))


def test_what_is_transparent_is_laid_on_the_fill_or_dropped():
    clear = picture(40, 30, 4)
    clear.putalpha(Image.linear_gradient("L").resize((40, 30)))
    data = saved(clear, subsampling="4:4:4", quality=100)
    opened = np.asarray(Image.open(io.BytesIO(data))).astype(int)
    colours, alpha = opened[..., :3], opened[..., 3:] / 255
    for fill in ((0, 0, 0), (250, 9, 80)):
        expected = np.rint(colours * alpha + np.array(fill) * (1 - alpha)).astype(int)
        assert greatest(image.decode(data, fill=fill), expected) <= 2
    assert greatest(image.decode(data, fill="drop"), colours) <= 2


@pytest.mark.daemon
@pytest.mark.usefixtures("binary")
def test_a_folder_of_avif_is_a_dataset_and_a_stream(tmp_path):
    for number in range(4):
        (tmp_path / f"{number}.avif").write_bytes(saved(picture(48 + number, 40)))
    resize = [transforms.Resize((16, 16))]
    with forebay.Loader(tmp_path, batch_size=4, transform=resize) as loader:
        batch = loader.next()
        for place, record in enumerate(batch.records):
            file = tmp_path / f"{record}.avif"
            assert np.array_equal(batch.images[place], transforms.Resize((16, 16))(image.decode(file.read_bytes())))
        del batch


def test_what_is_not_a_whole_picture_is_refused_with_a_reason():
    data = saved(picture(40, 30))
    with pytest.raises(forebay.PictureError, match="truncated"):
        image.decode(data[: len(data) // 2])
    with pytest.raises(forebay.PictureError, match="AVIF of a grid of pictures"):
        image.decode(data.replace(b"av01Color", b"gridColor", 1))
