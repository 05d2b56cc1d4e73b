"""`page = N`: a stream of another page of TIFFs than the first."""

import forebay
import numpy as np
import pytest
from forebay import transforms

Image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]


@pytest.fixture
def scans(tmp_path):
    """A folder of two TIFFs of two pages of one colour each."""
    folder = tmp_path / "scans"
    folder.mkdir()
    for number in range(2):
        pages = [Image.new("RGB", (8, 8), (number, page, 7)) for page in (10, 20)]
        pages[0].save(folder / f"{number}.tif", save_all=True, append_images=pages[1:])
    return folder


@pytest.mark.parametrize("keep", [None, "decoded"])
def test_a_stream_reads_the_page_that_it_names(scans, keep):
    settings = {"cache": {"memory": "1mb", "keep": keep}} if keep else {}
    for page, green in ((0, 10), (1, 20)):
        config = {"stream": {"page": page}}
        steps = [transforms.CenterCrop(8)]
        with forebay.Loader(scans, batch_size=2, transform=steps, epochs=2, config=config, **settings) as loader:
            for batch in loader:
                expected = np.stack([batch.records, np.full(2, green), np.full(2, 7)], axis=1)
                assert (batch.images == expected[:, None, None, :]).all()


def test_a_file_without_the_page_is_a_bad_record_that_says_how_many_there_are(scans):
    steps = [transforms.CenterCrop(8)]
    with (
        forebay.Loader(scans, batch_size=2, transform=steps, config={"stream": {"page": 2}}) as loader,
        pytest.raises(forebay.RecordError, match="has no page 2, counted from 0: it has 2"),
    ):
        loader.next()
