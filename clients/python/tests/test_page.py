"""`loader.page()`: the page of a Loader's daemon, which ends with its Loader and with its process."""

import html
import json
import os
import re
import signal
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import urljoin

import forebay
import numpy as np
import pytest
from forebay import transforms

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]

PATIENCE = 60


def shown(url):
    """The HTML at a URL."""
    with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
        return answer.read().decode()


def latest_batch(loader):
    """The pictures of the latest batch on the page of a Loader, each `u8 [height, width, 3]`."""
    from PIL import Image

    url = loader.page()
    (stream,) = re.findall(r'href="(stream[^"]+)"', shown(url))
    batch = shown(urljoin(url, html.unescape(stream.replace("stream", "batch", 1))))
    pictures = []
    for image in re.findall(r'<img src="([^"]+)"', batch):
        with urllib.request.urlopen(urljoin(url, html.unescape(image)), timeout=PATIENCE) as answer:
            pictures.append(np.asarray(Image.open(answer).convert("RGB")))
    return pictures


def is_gone(url):
    """Whether nothing listens there any more, after a while at most."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            shown(url)
        except urllib.error.URLError:
            return True
        except (ConnectionError, TimeoutError):
            pass
    return False


def test_a_private_loader_has_a_page_that_ends_with_it(pictures, capsys):
    loader = forebay.Loader(pictures(8), batch_size=4, size=8)
    url = loader.page()
    assert capsys.readouterr().out == f"The page is at {url}\n"
    said = shown(url)
    assert f"Private daemon of process {os.getpid()}" in said
    assert said.count("<article") == 1
    assert loader.page() == url
    loader.close()
    assert is_gone(url)
    with pytest.raises(forebay.ClosedError):
        loader.page()


def test_the_latest_batch_of_selected_records_in_buckets_has_the_size_of_its_bucket(sized, tmp_path):
    # They have three buckets, and fill a step only together. Among all records, each has a step of its own bucket.
    np.save(tmp_path / "keep.npy", [0, 1, 3, 5])
    with sized().loader(select=str(tmp_path / "keep.npy")) as loader:
        (batch,) = loader
        drawn = latest_batch(loader)
        assert len(drawn) == 4
        for expected, picture in zip(batch.images, drawn):
            assert (picture == expected).all()


def test_the_latest_batch_is_drawn_with_its_boxes_keypoints_and_masks(tmp_path):
    for folder in ("pictures", "masks"):
        (tmp_path / folder).mkdir()
    (tmp_path / "pictures" / "0.ppm").write_bytes(b"P6 96 96 255\n" + bytes(96 * 96 * 3))
    mask = np.zeros((96, 96), np.uint8)
    mask[80:, 10:50] = 3
    np.save(tmp_path / "masks" / "0.npy", mask)
    pose = {"keypoints": [30, 40, 2, 60, 30, 0], "num_keypoints": 1}
    annotation = {"id": 1, "image_id": 1, "category_id": 1, "bbox": [16, 8, 64, 48], "iscrowd": 0, **pose}
    category = {"id": 1, "name": "cat", "keypoints": ["head", "tail"]}
    file = tmp_path / "cats.json"
    images = [{"id": 1, "file_name": "0.ppm", "width": 96, "height": 96}]
    file.write_text(json.dumps({"images": images, "annotations": [annotation], "categories": [category]}))
    targets = forebay.Targets(masks={"segmentation": str(tmp_path / "masks")})
    source = f"coco:{file}?root={tmp_path / 'pictures'}"
    with forebay.Loader(
        source, batch_size=1, transform=[transforms.Resize((96, 96))], epochs=1, targets=targets
    ) as loader:
        (batch,) = loader
        assert not batch.images.any()
        (drawn,) = latest_batch(loader)
    marked = drawn.any(axis=-1)
    # The box has its edges, and its name at the upper left.
    assert marked[8, 16:80].all()
    assert marked[8:56, 16].all()
    assert marked[10:18, 18:36].any()
    assert not marked[:8].any()
    assert not marked[:, 81:].any()
    # The point that is seen is a cross. The other one is nowhere.
    assert marked[40, 28:33].all()
    assert marked[38:43, 30].all()
    assert not marked[25:36, 50:70].any()
    # The mask has one colour, where it is.
    assert marked[80:, 10:50].all()
    assert len(np.unique(drawn[80:, 10:50].reshape(-1, 3), axis=0)) == 1
    assert not marked[60:80].any()
    assert not marked[80:, 50:].any()


def test_a_forgotten_loader_and_one_that_is_left_end_their_pages(pictures):
    loader = forebay.Loader(pictures(8), batch_size=4, size=8)
    url = loader.page()
    del loader
    assert is_gone(url)
    with forebay.Loader(pictures(8), batch_size=4, size=8) as loader:
        url = loader.page()
        assert "Streams" in shown(url)
    assert is_gone(url)


def test_a_page_that_was_killed_is_started_again(pictures):
    with forebay.Loader(pictures(8), batch_size=4, size=8) as loader:
        url = loader.page()
        loader._feed.page._process.kill()
        loader._feed.page._process.wait()
        other = loader.page()
        assert other != url
        assert "Streams" in shown(other)


def test_a_loader_of_a_service_has_the_page_of_the_service(pictures, service):
    daemon = service(pictures(8), batch_size=4, size=8)
    with forebay.Loader("train", socket=daemon.socket) as loader:
        url = loader.page()
        said = shown(url)
        assert ">train</a>" in said
        assert '<h2 id="section-1">Daemon</h2>' in said
        # The service does not need it.
        loader.close()
    assert is_gone(url)
    with forebay.Loader("train", socket=daemon.socket) as loader:
        assert loader.next(PATIENCE) is not None


def test_a_page_ends_with_a_trainer_that_is_killed_also_if_a_forked_child_lives_on(pictures, trainer):
    code = """
    loader = forebay.Loader(folder, batch_size=4, size=8)
    url = loader.page()
    child = os.fork()
    if child == 0:
        os.close(1)
        time.sleep(1000)
    print(child, flush=True)
    time.sleep(1000)
    """
    process = trainer(code, folder=pictures(8))
    url = process.stdout.readline().split()[-1]
    child = int(process.stdout.readline())
    try:
        assert "Streams" in shown(url)
        process.kill()
        assert is_gone(url)
    finally:
        os.kill(child, signal.SIGKILL)


def test_a_forked_child_has_no_page_and_ends_none(pictures, trainer):
    code = """
    loader = forebay.Loader(folder, batch_size=4, size=8)
    loader.page()
    child = os.fork()
    if child == 0:
        try:
            loader.page()
        except forebay.ForkError:
            print("refused", flush=True)
        loader.close()
        sys.exit()
    os.waitpid(child, 0)
    print("goes on", flush=True)
    sys.stdin.readline()
    """
    process = trainer(code, folder=pictures(8))
    url = process.stdout.readline().split()[-1]
    assert [process.stdout.readline().strip() for _ in range(2)] == ["refused", "goes on"]
    assert "Streams" in shown(url)
    # It ends as any program does.
    process.stdin.write("\n")
    process.stdin.flush()
    assert process.wait(PATIENCE) == 0
    assert is_gone(url)


def test_a_ctrl_c_is_for_the_trainer_and_not_for_its_page(pictures, trainer):
    code = """
    loader = forebay.Loader(folder, batch_size=4, size=8)
    loader.page()
    while True:
        try:
            time.sleep(1000)
        except KeyboardInterrupt:
            print("heard", flush=True)
    """
    process = trainer(code, folder=pictures(8))
    url = process.stdout.readline().split()[-1]
    groups = {os.getpgid(int(pid)) for pid in children(process.pid)}
    assert os.getpgid(process.pid) not in groups
    os.kill(process.pid, signal.SIGINT)
    assert process.stdout.readline() == "heard\n"
    assert "Streams" in shown(url)


def children(pid):
    """The processes that a process has started."""
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def test_a_page_that_cannot_be_started_says_why(pictures, tmp_path, monkeypatch):
    broken = tmp_path / "broken"
    broken.write_text(f"#!{sys.executable}\nimport sys\nsys.exit('forebay: there is no room')\n")
    broken.chmod(0o755)
    with forebay.Loader(pictures(8), batch_size=4, size=8) as loader:
        monkeypatch.setenv("FOREBAY_BIN", str(broken))
        with pytest.raises(forebay.Error, match="the page cannot be started: forebay: there is no room"):
            loader.page()
        monkeypatch.delenv("FOREBAY_BIN")
        assert "Streams" in shown(loader.page())
