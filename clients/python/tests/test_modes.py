"""Pictures without colours: batches of the mode "L"."""

import io
import tarfile

import forebay
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
    with pytest.raises(forebay.SettingsError, match="mode"):
        forebay.Loader(pictures(4), batch_size=4, size=8, mode="RGBA")


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


def test_the_mode_of_older_versions_names_groups(pictures):
    with pytest.raises(forebay.SettingsError, match='mode: is "each"; this is called groups = "each" now'):
        forebay.Loader(pictures(4), batch_size=4, size=8, mode="each")


def test_rule_68_a_function_in_python_is_refused(pictures):
    steps = [transforms.CenterCrop(8), transforms.Python("steps:augment")]
    with pytest.raises(forebay.SettingsError, match="its function gets and returns three channels"):
        forebay.Loader(pictures(4), batch_size=4, transform=steps, mode="L")
