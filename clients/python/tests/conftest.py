"""Datasets, services and trainer processes, for tests that need the built daemon."""

import json
import signal
import subprocess
import sys
import textwrap

import pytest
from coordinators import Coordinator
from dali_readers import Readers
from fake_gpu import FakeGpu
from forebay import AttachError, _command
from forebay.sharding import ShardingClient
from processes import Daemon


@pytest.fixture(scope="session")
def binary():
    """The daemon's binary; without it the test is skipped."""
    try:
        return _command.binary()
    except AttachError as error:
        pytest.skip(str(error))


@pytest.fixture
def pictures(tmp_path):
    """Makes folders of small pictures with one colour each. The colour of record n is n."""

    def make(count=10, classes=1, side=8, name="pictures"):
        folder = tmp_path / name
        for number in range(count):
            place = folder / f"class-{number * classes // count}" if classes > 1 else folder
            place.mkdir(parents=True, exist_ok=True)
            colour = bytes([number % 256, 100, 200])
            (place / f"{number:05}.ppm").write_bytes(b"P6 %d %d 255\n" % (side, side) + colour * side * side)
        return folder

    return make


@pytest.fixture
def sized(binary, tmp_path):
    """Makes folders of pictures of different sizes, with an index that has these."""
    # Not every environment of tests has Pillow.
    from sized import RECORDS, SIZES, Sized

    def make(count=RECORDS):
        return Sized(binary, tmp_path / "sized", [SIZES[n * n % len(SIZES)] for n in range(count)])

    return make


@pytest.fixture
def readers(pictures):
    """Makes readers of `forebay.dali`."""
    return Readers(pictures)


@pytest.fixture
def annotated(pictures):
    """A source of COCO whose pictures have no, one and several boxes: 0, 1, 2, 0 and 3."""
    counts = [0, 1, 2, 0, 3]
    folder = pictures(len(counts))
    images = [{"id": n, "file_name": f"{n:05}.ppm", "width": 8, "height": 8} for n in range(len(counts))]
    boxes = [(image, place) for image, count in enumerate(counts) for place in range(count)]
    annotations = [
        {"id": n, "image_id": image, "category_id": 7, "bbox": [place, image, 2, 3], "area": 6, "iscrowd": 0}
        for n, (image, place) in enumerate(boxes)
    ]
    categories = [{"id": 7, "name": "cat"}]
    file = folder.parent / "boxes.json"
    file.write_text(json.dumps({"images": images, "annotations": annotations, "categories": categories}))
    return f"coco:{file}?root={folder}"


@pytest.fixture
def jpegs(binary, tmp_path):
    """A folder of generated JPEGs in class folders."""
    folder = tmp_path / "jpegs"
    subprocess.run([binary, "sample", folder, "--count", "12", "--classes", "3"], check=True, stdout=subprocess.DEVNULL)
    return folder


@pytest.fixture
def batch_module(tmp_path, monkeypatch):
    """Writes a module with functions of batches into the folder `steps`, where a Loader finds it: gives its name."""
    folder = tmp_path / "steps"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))

    def write(code, name="my_batches"):
        (folder / f"{name}.py").write_text(textwrap.dedent(code))
        return name

    return write


@pytest.fixture
def service(binary, tmp_path):
    """Starts `forebay serve` with a stream `train` and gives its socket; ends it with the test."""
    running = []

    def start(source, budget="256mb", **settings):
        # Processes find it without being told where it is, if their XDG_RUNTIME_DIR is the folder of the test.
        sockets = tmp_path / "forebay"
        sockets.mkdir(mode=0o700, exist_ok=True)
        named = [str(each) for each in source] if isinstance(source, list) else str(source)
        # JSON is TOML but for the sign between a key and its value.
        lines = [
            f"{key} = {json.dumps(value)}".replace('": ', '" = ')
            for key, value in {"source": named, **settings}.items()
        ]
        config = tmp_path / "forebay.toml"
        config.write_text(
            f'drain_timeout = "1s"\n[control]\ndir = "{sockets}"\n[coordinator]\npath = "{tmp_path / "state"}"\n'
            f'[prefetch]\nbudget = "{budget}"\n'
            "[streams.train]\n" + "\n".join(lines) + "\n"
        )
        daemon = Daemon([binary, "serve", "--config", str(config)], sockets / "forebay.sock")
        running.append(daemon)
        return daemon

    yield start
    for daemon in running:
        daemon.end()


@pytest.fixture
def trainer(tmp_path):
    """Runs Python code as a trainer process of its own; it is killed with the test."""
    running = []

    def start(code, **names):
        # A shell starts its background jobs with Ctrl-C ignored, and their children inherit that.
        heed = "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        given = "".join(f"{k} = {str(v)!r}\n" for k, v in names.items())
        head = "import forebay, json, os, signal, sys, time\n" + heed + given
        process = subprocess.Popen(
            [sys.executable, "-u", "-c", head + textwrap.dedent(code)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
        )
        running.append(process)
        return process

    yield start
    for process in running:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


@pytest.fixture
def gpu(tmp_path, monkeypatch):
    """A fake GPU in place of the machine's driver."""
    fake = FakeGpu(tmp_path, monkeypatch)
    yield fake
    fake.forget()


@pytest.fixture
def coordinator(binary, tmp_path):
    """A coordinator with its ledgers in a folder of its own."""
    coordinator = Coordinator(binary, tmp_path, f"unix:{tmp_path}/ledgers.sock")
    coordinator.start()
    yield coordinator
    coordinator.kill()


@pytest.fixture
def client(coordinator):
    """Makes clients of this process."""
    made = []

    def make(records=20, kind=ShardingClient, **arguments):
        defaults = {"batch_size": 5, "num_epochs": 1, "num_minibatches_per_shard": 1}
        named = {"dataset_name": "mnist", "worker": f"worker-{len(made)}", "coordinator": coordinator.address}
        made.append(kind(dataset_size=records, **{**defaults, **named, **arguments}))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture
def interrupts():
    """SIGINT raises KeyboardInterrupt, also if this was started in the background of a shell, which has it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
