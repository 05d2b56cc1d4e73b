"""Pictures without colours and with alpha: batches of the modes "L", "LA" and "RGBA"."""

import io
import tarfile

import forebay
import forebay.image
import numpy as np
import pytest
from forebay import reader, transforms

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]


def test_rule_68_batches_of_mode_l_have_one_channel(pictures):
    steps = [transforms.CenterCrop(8)]
    expected = [(number * 19595 + 100 * 38470 + 200 * 7471 + 0x8000) >> 16 for number in range(4)]
    with forebay.Loader(pictures(4), batch_size=4, transform=steps, mode="L", epochs=1) as loader:
        images = loader.next().images
        assert (images.shape, images.dtype) == ((4, 8, 8, 1), np.uint8)
        assert (images == np.reshape(expected, (4, 1, 1, 1))).all()
    steps.append(transforms.Normalize(mean=0.5, std=0.25))
    settings = {"dtype": "float32", "layout": "NCHW", "mode": "L", "cache": {"memory": "1mb", "keep": "decoded"}}
    with forebay.Loader(pictures(4), batch_size=4, transform=steps, epochs=2, **settings) as loader:
        for batch in loader:
            assert batch.images.shape == (4, 1, 8, 8)
            want = (np.float32(expected) / np.float32(255) - np.float32(0.5)) / np.float32(0.25)
            assert (batch.images == want[batch.records][:, None, None, None]).all()
    with pytest.raises(forebay.SettingsError, match="grayscale"):
        forebay.Loader(pictures(4), batch_size=4, transform=[transforms.Grayscale(), *steps], mode="L", dtype="float32")
    with pytest.raises(forebay.SettingsError, match='give one of "RGB", "L", "LA", "RGBA"'):
        forebay.Loader(pictures(4), batch_size=4, size=8, mode="P")


def photographs():
    """Files of several formats of one colourful picture, and Pillow's gray of each."""
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    ramps = np.stack(np.meshgrid(np.arange(24) * 9, np.arange(20) * 11), axis=2)
    photo = image.fromarray(np.dstack([ramps, 255 - ramps[..., :1]]).astype(np.uint8))
    for name in ("a.jpeg", "b.jpeg", "c.png", "d.webp", "e.tiff"):
        content = io.BytesIO()
        photo.save(content, name[2:], **({"progressive": True} if name == "b.jpeg" else {}))
        yield name, content.getvalue(), np.asarray(image.open(content).convert("L"))


def test_rule_68_files_in_a_folder_and_in_a_tar_are_pillow_s_gray(tmp_path):
    files = list(photographs())
    (tmp_path / "folder").mkdir()
    with tarfile.open(tmp_path / "all.tar", "w") as tar:
        for name, content, _ in files:
            (tmp_path / "folder" / name).write_bytes(content)
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    expected = np.stack([gray for _, _, gray in files])[..., None]
    steps = [transforms.CenterCrop((20, 24))]
    for source in (tmp_path / "folder", f"tar:{tmp_path}/all.tar"):
        with forebay.Loader(source, batch_size=len(files), transform=steps, mode="L", epochs=1) as loader:
            assert np.array_equal(loader.next().images, expected)


def test_rule_68_a_reader_of_shapes_with_one_channel_is_gray(pictures):
    gray = reader.open_files(str(pictures(2)), [(-1, 1, 8, 8), (-1,)])
    assert gray.read_next().images.shape == (1, 1, 8, 8)
    gray.close()


def transparent():
    """A colourful picture with alpha, of Pillow."""
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    rows, columns = np.mgrid[:30, :40]
    alpha = np.where(columns < 9, columns % 2 * 255, (columns * 5 + rows * 7) % 256)
    photo = np.dstack([columns * 6, rows * 8, 255 - columns * 3, alpha])
    return image.fromarray(photo.astype(np.uint8), "RGBA")


def moves(channels):
    """Transforms, and what each is in Pillow."""
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    operations = pytest.importorskip("PIL.ImageOps", reason="Pillow is not installed")
    fill = tuple(range(9, 9 + channels))
    mirrored = [transforms.RandomHorizontalFlip(p=1), transforms.ExpectSize((30, 40))]
    yield mirrored, lambda picture: picture.transpose(image.Transpose.FLIP_LEFT_RIGHT)
    yield [transforms.Crop(4, 3, 20, 50)], lambda picture: picture.crop((3, 4, 53, 24))
    padded = [transforms.PadBy([1, 2, 3, 4], fill=fill), transforms.ExpectSize((36, 44))]
    yield padded, lambda picture: operations.expand(picture, (1, 2, 3, 4), fill)
    for name, number in (("nearest", 0), ("lanczos3", 1), ("bilinear", 2), ("bicubic", 3)):
        for size in ((17, 13), (60, 71)):
            resize = [transforms.Resize(size, interpolation=name)]
            yield resize, lambda picture, size=size, number=number: picture.resize(size[::-1], number)


@pytest.mark.parametrize("mode", ["LA", "RGBA"])
def test_rule_68_batches_with_alpha_are_what_pillow_makes(tmp_path, mode):
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    picture = transparent()
    picture.save(tmp_path / "a.png")
    picture.save(tmp_path / "b.webp", lossless=True, exact=True)
    picture.save(tmp_path / "c.webp", quality=70)
    picture.save(tmp_path / "d.tiff")
    picture.convert("RGB").save(tmp_path / "e.jpeg")
    files = sorted(tmp_path.iterdir())
    opened = [image.open(file).convert(mode) for file in files]
    channels = len(mode)
    for steps, made in moves(channels):
        expected = np.stack([np.asarray(made(picture)) for picture in opened])
        with forebay.Loader(tmp_path, batch_size=len(files), transform=steps, mode=mode, epochs=1) as loader:
            images = loader.next().images
            assert images.shape[-1] == channels
            assert np.array_equal(images, expected), steps
    for file, picture in zip(files, opened):
        assert np.array_equal(forebay.image.decode(file, mode=mode), np.asarray(picture))
        part = forebay.image.decode(file, (5, 6, 25, 26), size=(9, 7), interpolation="bicubic", mode=mode)
        assert np.array_equal(part, np.asarray(picture.crop((5, 6, 25, 26)).resize((7, 9), 3)))


def test_rule_68_alpha_is_kept_decoded_and_normalised_by_its_own_numbers(tmp_path):
    picture = transparent()
    picture.save(tmp_path / "a.png")
    mean, std = [0.5, 0.25, 0.125, 0.75], [0.5, 1, 2, 4]
    steps = [transforms.ExpectSize((30, 40)), transforms.Normalize(mean=mean, std=std)]
    settings = {"dtype": "float32", "layout": "NCHW", "mode": "RGBA", "cache": {"memory": "1mb", "keep": "decoded"}}
    values = np.asarray(picture, np.float32) / np.float32(255)
    expected = ((values - np.float32(mean)) / np.float32(std)).transpose(2, 0, 1)
    with forebay.Loader(tmp_path, batch_size=1, transform=steps, epochs=2, **settings) as loader:
        found = [np.array_equal(batch.images[0], expected) for _ in range(2) for batch in loader]
        assert found == [True, True]


def test_rule_68_what_does_not_take_alpha_is_refused_by_name(pictures):
    def refused(words, **settings):
        with pytest.raises(forebay.SettingsError, match=words):
            forebay.Loader(pictures(4), batch_size=4, mode="RGBA", **settings)

    crop = transforms.CenterCrop(8)
    refused("color_jitter", transform=[transforms.ColorJitter(brightness=0.4), crop])
    refused("python", transform=[crop, transforms.Python("steps:augment")])
    refused("mosaic", transform=[transforms.Mosaic(8)])
    refused('mixing: cannot be combined with mode = "RGBA"', size=8, mixing=transforms.MixUp(alpha=1.0))
    refused('match = "torch"', size=8, match="torch")
    with pytest.raises(ValueError, match="mode: give one of"):
        forebay.image.decode(b"", mode="CMYK")


@pytest.mark.parametrize(("shape", "mode"), [((-1, 2, 8, 8), "LA"), ((-1, 8, 8, 4), "RGBA")])
def test_rule_68_a_reader_of_shapes_with_alpha(pictures, shape, mode):
    seen = reader.open_files(str(pictures(2)), [shape, (-1,)])
    assert seen.read_next().images.shape == (1, *shape[1:])
    seen.close()
    assert len(mode) in shape


def test_the_mode_of_older_versions_names_groups(pictures):
    with pytest.raises(forebay.SettingsError, match='mode: is "each"; this is called groups = "each" now'):
        forebay.Loader(pictures(4), batch_size=4, size=8, mode="each")


def test_rule_68_a_function_in_python_is_refused(pictures):
    steps = [transforms.CenterCrop(8), transforms.Python("steps:augment")]
    with pytest.raises(forebay.SettingsError, match="its function gets and returns three channels"):
        forebay.Loader(pictures(4), batch_size=4, transform=steps, mode="L")
