"""Pictures without a daemon: decoding, steps as functions, and folders as datasets."""

import doctest
import io
import multiprocessing
import os
import pickle
import random
import signal
import subprocess
import sys
import threading

import forebay
import numpy as np
import pytest
from forebay import image, transforms
from forebay.transforms import compose
from interpreter import rounds_until_seen
from PIL import Image

RANDOM = [
    transforms.RandomResizedCrop(24),
    transforms.RandomHorizontalFlip(),
    transforms.RandomApply([transforms.ColorJitter(0.4, 0.4, 0.4, 0.1)], p=0.8),
    transforms.TrivialAugmentWide(),
    transforms.Normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225]),
    transforms.RandomErasing(0.5, value="random"),
]


def _encoded(picture, form="PNG", **options):
    file = io.BytesIO()
    Image.fromarray(picture).save(file, form, **options)
    return file.getvalue()


@pytest.fixture(scope="module")
def scene():
    """A smooth picture, so that JPEG keeps it nearly."""
    y, x = np.mgrid[0:90, 0:130]
    return np.stack([x * 255 // 130, y * 255 // 90, (x + y) % 256], axis=-1).astype(np.uint8)


def test_a_file_is_decoded_as_pillow_decodes_it(scene, tmp_path):
    for form in ("PNG", "BMP", "PPM", "TIFF"):
        assert np.array_equal(image.decode(_encoded(scene, form)), scene), form
    jpeg = _encoded(scene, "JPEG", quality=90)
    expected = np.asarray(Image.open(io.BytesIO(jpeg)))
    (tmp_path / "scene.png").write_bytes(jpeg)
    for given in (jpeg, bytearray(jpeg), memoryview(jpeg), tmp_path / "scene.png", str(tmp_path / "scene.png")):
        made = image.decode(given)
        assert np.array_equal(made, expected)
        assert (made.dtype, made.flags.writeable, made.flags.c_contiguous) == (np.uint8, True, True)
    assert image.probe(jpeg) == image.Probe("jpeg", 130, 90)


def test_the_pixels_stay_when_all_else_is_gone(scene):
    made = [image.decode(_encoded(scene)) for _ in range(20)]
    made[3][:] = 7
    assert all(np.array_equal(each, scene) for number, each in enumerate(made) if number != 3)
    assert (made[3] == 7).all()
    assert np.array_equal(pickle.loads(pickle.dumps(made[0])), scene)


@pytest.mark.parametrize("form", ["JPEG", "PNG"])
@pytest.mark.parametrize(
    "region", [(0, 0, 130, 90), (17, 30, 18, 31), (40, 9, 121, 77), (-20, -5, 60, 200), (0, 300, 5, 310)]
)
def test_a_region_is_the_part_of_the_whole_picture(scene, form, region):
    file = _encoded(scene, form)
    expected = np.asarray(Image.open(io.BytesIO(file)).crop(region))
    assert np.array_equal(image.decode(file, region), expected)
    sized = np.asarray(Image.fromarray(expected).resize((20, 16), Image.Resampling.BILINEAR))
    assert np.array_equal(image.decode(file, region, (16, 20)), sized)


def test_one_number_is_the_shorter_side(scene):
    assert image.decode(_encoded(scene), size=45).shape == (45, 65, 3)
    assert image.resize(scene, 45, "bicubic").shape == (45, 65, 3)
    expected = Image.fromarray(scene).resize((65, 45), Image.Resampling.BICUBIC)
    assert np.array_equal(image.resize(scene, 45, "bicubic"), np.asarray(expected))
    assert np.array_equal(image.resize(_encoded(scene), (45, 65), "bicubic"), np.asarray(expected))


def test_an_orientation_turns_the_picture_unless_it_is_not_wanted(scene):
    exif = Image.Exif()
    exif[0x0112] = 6
    file = _encoded(scene, "PNG", exif=exif)
    assert (image.probe(file).width, image.probe(file).height) == (90, 130)
    assert np.array_equal(image.decode(file), np.rot90(scene, -1))
    assert np.array_equal(image.decode(file, (0, 0, 9, 13)), np.rot90(scene, -1)[:13, :9])
    assert np.array_equal(image.decode(file, adjust_orientation=False), scene)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "The file is empty"),
        (b"no picture at all", "no picture in a known format"),
        (b"\xff\xd8\xff\xe0 and so on", "photo.jpg: The picture"),
        (b"BM" + bytes(100), "photo.jpg: The picture"),
    ],
)
def test_a_bad_file_is_named_with_what_is_wrong_and_what_to_do(tmp_path, content, words):
    path = tmp_path / "photo.jpg"
    path.write_bytes(content)
    for call in (image.decode, image.probe):
        with pytest.raises(forebay.PictureError, match=words) as caught:
            call(path)
        assert str(path) in str(caught.value)
        assert "Replace the file" in str(caught.value)
    with pytest.raises(ValueError, match=r"^picture: "):
        image.decode(content)


def test_a_file_that_breaks_off_anywhere_is_an_error_and_nothing_else(scene):
    for form in ("JPEG", "PNG", "GIF", "BMP", "TIFF", "WEBP"):
        file = _encoded(scene, form)
        for length in range(0, len(file), max(1, len(file) // 40)):
            try:
                assert image.decode(file[:length]).shape == scene.shape
            except forebay.PictureError as error:
                assert str(error).startswith("picture: ")  # noqa: PT017 - either is right


def test_the_limits_are_those_of_the_daemon_and_can_be_set(scene, tmp_path):
    # 30000 x 30000 pixels in a few bytes.
    bomb = b"P6 30000 30000 255\n"
    with pytest.raises(forebay.PictureError, match=r"900000000 pixels.*limit of 178956970.*Set pixel_limit"):
        image.decode(bomb)
    file = _encoded(scene)
    with pytest.raises(forebay.PictureError, match=r"11700 pixels.*Set pixel_limit"):
        image.decode(file, pixel_limit=11_699)
    assert image.decode(file, pixel_limit=11_700).shape == scene.shape
    (tmp_path / "scene.png").write_bytes(file)
    for given in (file, tmp_path / "scene.png"):
        with pytest.raises(forebay.PictureError, match=r"limit of 99 bytes.*Set byte_limit"):
            image.decode(given, byte_limit=99)


def test_a_region_beyond_a_picture_of_the_limit_s_size_takes_no_room_for_what_it_does_not_show(scene):
    height, width = scene.shape[:2]
    shown = image.decode(_encoded(scene), (width - 9, -3, width + 40, 10), pixel_limit=height * width)
    expected = np.zeros((13, 49, 3), np.uint8)
    expected[3:, :9] = scene[:10, width - 9 :]
    assert np.array_equal(shown, expected)
    beside = image.decode(_encoded(scene), (width, height, width + 5, height + 5), pixel_limit=height * width)
    assert not beside.any()


def test_what_is_no_file_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        image.decode(tmp_path / "nowhere.jpg")
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "."):
        with pytest.raises(forebay.PictureError, match="This is not a file"):
            image.decode(tmp_path / name)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda file: image.decode(file, (5, 5, 5, 9)), "region: .*has no pixels"),
        (lambda file: image.decode(file, (0, 0, 20_000, 9)), "each side must be from 1 to 16384"),
        (lambda file: image.decode(file, (1 << 25, 0, (1 << 25) + 9, 9)), "top and left are"),
        (lambda file: image.decode(file, size=0), "each side must be from 1"),
        (lambda file: image.decode(file, size=(1, 2, 3)), "size must be one whole number"),
        (lambda file: image.decode(file, interpolation="cubic", size=9), "cubic"),
        (lambda file: image.decode(file, match="cv2"), 'match is "cv2"'),
        (lambda file: image.decode(file, fill=(0, 0, 256)), "fill: "),
        (lambda file: image.decode(file, fill=(0.5, 0, 0)), "fill: "),
        (lambda file: image.decode(file, fill=7), "fill: "),
        (lambda file: image.decode(file, fill="dropped"), "fill: 'dropped' is not .*, nor \"drop\""),
        (lambda file: image.decode(file, pixel_limit=-1), "pixel_limit: give a number"),
        (lambda file: image.decode(file, byte_limit=1 << 64), "byte_limit: give a number"),
        (lambda file: image.resize(file, 9, "lanczos3", match="torch"), "has a filter that torch has not"),
        (lambda _: image.resize(np.zeros((3, 4)), 9), "image: give a uint8 array of height x width x 3"),
        (lambda file: transforms.CenterCrop(4)(file, seed=-1), "seed: give a number"),
        (lambda file: transforms.CenterCrop(4)(file, seed=0, record=1 << 64), "record: give a number"),
        (lambda file: transforms.RandomIoUCrop()(file), "needs the boxes of a dataset's records, so only a Loader"),
        (lambda file: transforms.Mosaic(8)(file), "other records of a dataset beside the picture, so only a Loader"),
        (lambda _: transforms.Compose([transforms.Resize(0)]), "each side must be from 1"),
        (lambda _: transforms.Compose(["resize"]), "'resize' is not one of forebay.transforms"),
    ],
)
def test_arguments_without_a_meaning_are_refused(scene, call, words):
    with pytest.raises(ValueError, match=words):
        call(_encoded(scene))


@pytest.mark.daemon
def test_rule_08_the_pixels_are_those_of_the_daemon(jpegs):
    settings = {"batch_size": 4, "transform": RANDOM, "seed": 11, "shuffle": True, "dtype": "float32", "epochs": 2}
    folder = forebay.ImageFolder(jpegs, RANDOM, seed=11)
    steps = transforms.Compose(RANDOM)
    compared = set()
    with forebay.Loader(jpegs, **settings) as loader:
        assert folder.classes == list(loader.classes)
        for epoch in range(2):
            folder.set_epoch(epoch)
            for batch in loader:
                for pixels, label, record in zip(batch.images, batch.labels, batch.records.tolist()):
                    made, number = folder[record]
                    assert np.array_equal(made, pixels)
                    assert number == label
                    path, _ = folder.samples[record]
                    assert path == loader.path(record)
                    with open(path, "rb") as file:
                        again = steps(file.read(), seed=11, epoch=epoch, record=record)
                    assert np.array_equal(again, pixels)
                    assert np.array_equal(steps(image.decode(path), seed=11, epoch=epoch, record=record), pixels)
                    compared.add((epoch, record))
    assert len(compared) == 24


def test_a_call_without_a_seed_takes_one_from_python_s_random(scene):
    crop = transforms.RandomResizedCrop(9)
    random.seed(4)
    first = [crop(scene) for _ in range(5)]
    random.seed(4)
    again = [crop(scene) for _ in range(5)]
    assert all(np.array_equal(one, two) for one, two in zip(first, again))
    assert len({each.tobytes() for each in first}) == 5
    assert np.array_equal(crop(scene, seed=3), crop(scene, seed=np.int64(3), epoch=0, record=0))
    differing = [crop(scene, seed=3), crop(scene, seed=4), crop(scene, seed=3, epoch=1), crop(scene, seed=3, record=1)]
    assert len({each.tobytes() for each in differing}) == 4


def test_a_step_gives_a_float_only_where_values_are_normalised(scene):
    assert transforms.Resize(8)(scene).dtype == np.uint8
    made = transforms.Normalize([0.0] * 3, [1.0] * 3)(scene)
    assert made.dtype == np.float32
    assert np.allclose(made, scene / 255.0)
    assert transforms.Compose([])(scene).tolist() == scene.tolist()
    mixed = transforms.RandomChoice([transforms.Resize(8), transforms.Resize(9)])
    assert {mixed(scene, seed=seed).shape[0] for seed in range(20)} == {8, 9}, "sizes may differ from call to call"


def test_a_composition_shows_its_steps():
    steps = transforms.Compose([transforms.Resize(8), transforms.RandomHorizontalFlip()], match="torch")
    assert repr(steps).splitlines()[1:3] == [
        "    Resize(size=8, interpolation='bilinear'),",
        "    RandomHorizontalFlip(p=0.5, keypoints=None, flip_pairs=None),",
    ]
    assert repr(steps).endswith("], match='torch')")


def test_threads_decode_at_the_same_time_and_the_same(scene):
    file, steps = _encoded(scene, "JPEG"), transforms.Compose(RANDOM)
    expected = [steps(file, seed=1, record=record) for record in range(40)]
    made = {}

    def work(first):
        for record in range(first, 40, 4):
            made[record] = steps(file, seed=1, record=record)

    threads = [threading.Thread(target=work, args=(first,)) for first in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(made[record], expected[record]) for record in range(40))


def test_other_threads_run_while_a_picture_is_decoded():
    file = _encoded(np.random.default_rng(0).integers(0, 256, (700, 700, 3), dtype=np.uint8), "JPEG")
    assert rounds_until_seen(lambda: image.decode(file), 500) < 500


def test_a_forked_child_goes_on_while_threads_of_its_parent_decode(scene):
    file, steps = _encoded(scene, "JPEG"), transforms.Compose(RANDOM)
    expected = steps(file, seed=5).tobytes()
    done = threading.Event()

    def work():
        while not done.is_set():
            steps(file, seed=5)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(20):
            child = os.fork()
            if child == 0:
                # A child that hangs is killed, and then it has not ended with 0.
                signal.alarm(60)
                os._exit(0 if steps(file, seed=5).tobytes() == expected else 1)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        done.set()
        thread.join()


def _item(folder, index):
    return folder[index][0].tobytes()


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_folder_can_be_read_by_other_processes(tmp_path, scene, method):
    for name in ("ant", "bee"):
        (tmp_path / name).mkdir()
        for number in range(3):
            (tmp_path / name / f"{number}.JPG").write_bytes(_encoded(scene[number:], "JPEG"))
    folder = forebay.ImageFolder(tmp_path, RANDOM, seed=2)
    expected = [_item(folder, index) for index in range(6)]
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.starmap(_item, [(folder, index) for index in range(6)]) == expected
    again = pickle.loads(pickle.dumps(folder))
    assert [_item(again, index) for index in range(6)] == expected


def test_a_folder_has_classes_samples_and_pictures(pictures):
    root = pictures(6, classes=3)
    (root / ".hidden").mkdir()
    (root / "class-0" / "notes.txt").write_text("no picture")
    folder = forebay.ImageFolder(root)
    assert folder.classes == ["class-0", "class-1", "class-2"]
    assert folder.class_to_idx == {"class-0": 0, "class-1": 1, "class-2": 2}
    assert folder.samples[2] == (str(root / "class-1" / "00002.ppm"), 1)
    assert [label for _, label in folder] == [0, 0, 1, 1, 2, 2]
    assert folder[-1][0][0, 0].tolist() == [5, 100, 200]
    assert len(folder) == 6
    with pytest.raises(IndexError):
        folder[6]
    assert forebay.ImageFolder(root, lambda pixels: pixels.shape)[0] == ((8, 8, 3), 0)
    assert forebay.ImageFolder(root, transforms.Resize(4))[0][0].shape == (4, 4, 3)
    (root / "class-1" / "00002.ppm").write_bytes(b"P6 8 8 255\n")
    for transform in (None, lambda pixels: pixels):
        with pytest.raises(forebay.PictureError, match=r"class-1/00002\.ppm: .*truncated"):
            forebay.ImageFolder(root, transform)[2]


def test_a_folder_without_classes_has_none(pictures):
    folder = forebay.ImageFolder(pictures(2))
    assert (folder.classes, [label for _, label in folder]) == ([], [-1, -1])


def test_a_folder_that_is_no_dataset_is_refused(pictures, tmp_path):
    with pytest.raises(forebay.DatasetError, match="there are no pictures"):
        forebay.ImageFolder(tmp_path)
    root = pictures(4, classes=2)
    (root / "empty").mkdir()
    with pytest.raises(forebay.DatasetError, match=r"empty: this class has no pictures"):
        forebay.ImageFolder(root)
    (root / "empty").rmdir()
    (root / "beside.ppm").write_bytes(b"P6 1 1 255\n123")
    with pytest.raises(forebay.DatasetError, match=r"beside\.ppm: this picture is beside class folders"):
        forebay.ImageFolder(root)
    (root / "beside.ppm").unlink()
    (root / "class-0" / "round").symlink_to(root)
    with pytest.raises(forebay.DatasetError, match="a symbolic link leads back"):
        forebay.ImageFolder(root)
    with pytest.raises(FileNotFoundError):
        forebay.ImageFolder(tmp_path / "nowhere")


def test_no_torch_and_no_daemon_are_needed(scene, tmp_path):
    (tmp_path / "scene.png").write_bytes(_encoded(scene))
    code = (
        "import sys, forebay.image\n"
        "assert forebay.image.decode(sys.argv[1], size=8).shape == (8, 11, 3)\n"
        "assert forebay.ImageFolder(sys.argv[2])[0][0].shape == (90, 130, 3)\n"
        "assert not {'torch', 'PIL', 'cupy'} & set(sys.modules)\n"
    )
    environment = {**os.environ, "FOREBAY_BIN": "/nowhere/forebay"}
    command = [sys.executable, "-c", code, tmp_path / "scene.png", tmp_path]
    subprocess.run(command, check=True, env=environment, cwd=tmp_path)


def test_the_examples_run():
    found = doctest.testmod(compose)
    assert (found.failed, found.attempted > 2) == (0, True)
