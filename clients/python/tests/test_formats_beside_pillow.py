"""Every format and colour form that Pillow writes, and the files of others, decoded beside Pillow."""

import importlib.util
import os
from pathlib import Path

import numpy as np
import pytest
from forebay import PictureError, image
from forebay.parity.pillow import seen
from PIL import Image

pytestmark = pytest.mark.originals

ROOT = Path(__file__).resolve().parents[3]
DATA = Path(os.environ.get("FOREBAY_TEST_DATA", ROOT.parent / "shared" / "data"))
# No decoder may need more than this for a picture here.
BYTES = 1 << 26


def module_at(path):
    """A script as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, ROOT / path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


FORMATS = module_at(Path("scripts/formats.py"))
SIZE = FORMATS.SIZE


def by_pillow(file):
    """Pillow's pixels, upright and on black. None if Pillow refuses the file."""
    try:
        with Image.open(file) as opened:
            return np.asarray(seen(opened))
    except Exception:
        return None


def by_us(file):
    """Our pixels. None if we refuse the file."""
    try:
        return image.decode(file.read_bytes())
    except PictureError:
        return None


@pytest.mark.parametrize(
    ("name", "made", "how"), list(FORMATS.forms()), ids=lambda value: value if type(value) is str else ""
)
def test_each_form_that_pillow_writes_has_its_pixels(tmp_path, name, made, how):
    file = tmp_path / name
    made.save(file, **how)
    ours, theirs = by_us(file), by_pillow(file)
    if file.suffix == ".avif" and made.mode != "L":
        # Pillow makes these colours by libyuv, and the last column of an odd width in another way.
        assert abs(ours.astype(int) - theirs)[:, : SIZE[0] - SIZE[0] % 2].max() <= 3
    else:
        assert np.array_equal(ours, theirs)


def test_each_file_of_the_conformance_suites_has_pillows_pixels():
    folder = DATA / "conformance"
    if not folder.is_dir():
        pytest.skip(f"no files in {folder}; FOREBAY_TEST_DATA names the folder above them")
    files = [file for file in sorted(folder.rglob("*")) if file.is_file() and file.stat().st_size < BYTES]
    ours, theirs = ([decode(file) for file in files] for decode in (by_us, by_pillow))
    both = [triple for triple in zip(files, ours, theirs) if triple[1] is not None and triple[2] is not None]
    print(f"{len(both)} of {len(files)} files are opened by both")
    unequal = [file.name for file, mine, pillows in both if not np.array_equal(mine, pillows)]
    assert unequal == []
    assert len(both) > len(files) // 2
