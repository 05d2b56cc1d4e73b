"""Paddle's readers: chains, passes and shapes, on the private daemon and on a service."""

import random
import struct
import zlib

import forebay
import numpy as np
import pytest
from forebay import reader, transforms

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]


def rest(read):
    """The records of all that `has_next` lets through."""
    records = []
    while read.has_next():
        records += read.read_next().records.tolist()
    return records


@pytest.fixture
def recordio(tmp_path):
    """A RecordIO file of Go's dialect with pictures of 8 x 8, under a name without a suffix."""
    payload = b""
    for number in range(3):
        picture = b"P6 8 8 255\n" + bytes([number, 100, 200]) * 64
        payload += struct.pack("<I", len(picture)) + picture
    head = b"\4\3\2\1" + struct.pack("<IIII", zlib.crc32(payload), 0, len(payload), 3)
    path = tmp_path / "data"
    path.write_bytes(head + payload)
    return path


class Model:
    """A reader as its documentation has it: where a program is in so many passes over these batches."""

    def __init__(self, batches, passes, *, as_one):
        self.passes = [list(batches) for _ in range(passes)]
        self.as_one = as_one
        self.read = 0

    def next(self):
        if self.as_one and self.passes and self.read == len(self.passes[0]):
            self.passes.pop(0)
            self.read = 0
        return self.passes[0][self.read] if self.passes and self.read < len(self.passes[0]) else None

    def read_next(self):
        found = self.next()
        self.read += found is not None
        return found

    def reset(self):
        if self.read:
            self.passes.pop(0)
            self.read = 0


@pytest.mark.parametrize("seed", range(6))
def test_a_reader_answers_as_its_model_whatever_it_is_asked(pictures, seed):
    choose = random.Random(seed)
    count, size, passes, as_one = choose.randint(1, 9), choose.randint(1, 4), choose.randint(1, 3), bool(seed % 2)
    batches = [list(range(first, min(first + size, count))) for first in range(0, count, size)]
    model = Model(batches, passes, as_one=as_one)
    if as_one:
        read = reader.multi_pass(reader.batch(reader.open_files(pictures(count), size=8), size), passes)
    else:
        read = reader.over(forebay.Loader(pictures(count), batch_size=size, size=8, epochs=passes))
    with read:
        for asked in choose.choices(["has_next", "read_next", "reset"], [3, 5, 1], k=60):
            if asked == "has_next":
                assert read.has_next() == (model.next() is not None)
            elif asked == "reset":
                read.reset()
                model.reset()
            elif (expected := model.read_next()) is not None:
                assert read.read_next().records.tolist() == expected
            else:
                with pytest.raises(EOFError, match=r"call reset\(\) to begin the next pass"):
                    read.read_next()


def test_files_of_several_formats_are_found_by_their_tags(pictures, recordio):
    settings = {"size": 8, "targets": forebay.Targets(labels="none")}
    joined = reader.multiple([reader.open_files(each, **settings) for each in (recordio, pictures(4))])
    for read in (joined, reader.open_files([recordio, pictures(4)], **settings)):
        with reader.batch(read, 3) as batched:
            colours = []
            while batched.has_next():
                colours += batched.read_next().images[:, 0, 0, 0].tolist()
            assert colours == [0, 1, 2, 0, 1, 2, 3]


def test_each_pass_has_its_own_order_and_the_audit_adds_up(pictures):
    read = reader.double_buffer(reader.batch(reader.shuffle(reader.open_files(pictures(12), size=8, seed=3), 100), 4))
    with read:
        orders = []
        for _ in range(2):
            orders.append(rest(read))
            read.reset()
        assert orders[0] != orders[1]
        assert [sorted(order) for order in orders] == [list(range(12))] * 2
        assert [epoch.adds_up for epoch in read.loader.audit()][:2] == [True, True]


def test_rule_10_a_reset_abandons_what_is_left_and_nothing_of_a_pass_that_was_not_begun(pictures):
    with reader.batch(reader.open_files(pictures(10), size=8), 4) as read:
        read.reset()
        assert read.has_next()
        read.reset()
        assert read.read_next().records.tolist() == [0, 1, 2, 3]
        read.reset()
        assert rest(read) == list(range(10))
        epochs = read.loader.audit()[:2]
    assert [(epoch.delivered, epoch.abandoned) for epoch in epochs] == [(4, 6), (10, 0)]


def test_rule_22_a_state_counts_what_was_read_and_not_what_has_next_saw(pictures):
    with reader.batch(reader.open_files(pictures(8), size=8), 4) as read:
        assert read.has_next()
        before = read.loader.state_dict()
        read.read_next()
        assert read.has_next()
        after = read.loader.state_dict()
    for state, expected in ((before, list(range(8))), (after, [4, 5, 6, 7])):
        with reader.batch(reader.open_files(pictures(8), size=8), 4) as read:
            read.loader.load_state_dict(state)
            assert rest(read) == expected


def test_pictures_must_have_the_shape_and_are_left_as_they_are(pictures):
    folder = pictures(5)
    with reader.batch(reader.open_files(folder, [(-1, 3, 8, 8), (-1,)]), 2) as read:
        images = read.read_next().images
        assert images.shape == (2, 3, 8, 8)
        np.testing.assert_array_equal(images[:, 0, 0, 0], [0, 1])
    (folder / "00003.ppm").write_bytes(b"P6 9 8 255\n" + bytes(9 * 8 * 3))
    with reader.batch(reader.open_files(folder, [(-1, 8, 8, 3)]), 2) as read:  # noqa: SIM117 - one raises
        with pytest.raises(
            forebay.RecordError, match=r"00003\.ppm.*8 pixels high and 9 wide, but must be 8 high and 8"
        ):
            rest(read)
    with reader.batch(reader.open_files(folder, [(-1, 8, 8, 3)], on_error="skip"), 2) as read:
        assert rest(read) == [0, 1, 2, 4]
    with pytest.raises(forebay.PictureError, match="9 high and 9 wide"):
        transforms.ExpectSize(9)((folder / "00000.ppm").read_bytes())


def test_shapes_that_batches_do_not_have_are_refused_with_the_files(pictures, annotated):
    wrong = reader.open_files([pictures(2), pictures(2, name="more")], [(-1, 8, 9, 3)], size=8)
    with pytest.raises(forebay.SettingsError, match=r'/pictures" and 1 more\): shapes\[0\] is \(-1, 8, 9, 3\), but'):
        wrong.has_next()
    boxes = [(-1, 8, 8, 3), (-1,), (-1, -1, 4)]
    targets = forebay.Targets(columns=["boxes"])
    with reader.open_files(annotated, boxes, size=8, targets=targets) as read:
        assert read.has_next()
    with pytest.raises(
        forebay.SettingsError, match=r'shapes\[2\] is \(-1, 4\), but the column "boxes" has \(-1, -1, 4\)'
    ):
        reader.open_files(annotated, [*boxes[:2], (-1, 4)], size=8, targets=targets).has_next()


def test_chains_that_no_stream_does_are_refused_with_what_to_do(pictures):
    files = reader.open_files("/data/a.recordio", size=8)
    batched = reader.batch(files, 4)
    order = "Chain the readers in this order: open_files, shuffle, batch"
    for chain, words in [
        (lambda: reader.shuffle(batched, 9), f"shuffle cannot be chained behind batch.* {order}"),
        (
            lambda: reader.batch(reader.double_buffer(files), 2),
            f"batch cannot be chained behind double_buffer.* {order}",
        ),
        (lambda: reader.batch(batched, 4), "batch is in the chain already"),
        (lambda: reader.multi_pass(files, 0), "multi_pass: give a number from 1 on"),
        (lambda: reader.shuffle(files, -3), "shuffle: give a number from 1 on"),
        (lambda: reader.open_files([]), "open_files: there is no file"),
        (lambda: reader.open_files("/data", epochs=3), r"epochs: in a chain, multi_pass decides on it"),
        (lambda: reader.open_files("/data", [(8, 8, 3)]), r"shapes\[0\] is \(8, 8, 3\); its first axis is the places"),
        (lambda: reader.multiple([files, reader.open_files("/data/b", size=9)]), "multiple: .*different settings"),
        (lambda: reader.multiple([files, batched]), "multiple: its readers are chains already"),
        (lambda: reader.multiple([]), "open_files: there is no file"),
        (lambda: reader.multiple(files), r"multiple: give a list of readers, such as \[reader"),
        (lambda: reader.batch(None, 4), "batch: NoneType is no reader"),
        (lambda: reader.open_files("/data", (-1, 3, 8, 8)), r"shapes is a list with a shape for each column"),
    ]:
        with pytest.raises(forebay.SettingsError, match=words):
            chain()
    with reader.over(forebay.Loader(pictures(4), batch_size=2, size=8)) as read:  # noqa: SIM117 - one raises
        with pytest.raises(forebay.SettingsError, match="shuffle: this reader is over a Loader"):
            reader.shuffle(read, 9)
    with reader.open_files(pictures(4), size=8) as read:
        assert read.has_next()
        with pytest.raises(forebay.SettingsError, match="batch: this reader is open already"):
            reader.batch(read, 2)


def test_a_stream_of_a_service_is_read_epoch_by_epoch(service, pictures):
    daemon = service(pictures(6), batch_size=4, size=8, epochs=2)
    with reader.over(forebay.Loader("train", socket=daemon.socket)) as read:
        assert rest(read) == list(range(6))
        assert not read.has_next()
        read.reset()
        assert rest(read) == list(range(6))
        read.reset()
        assert not read.has_next(), "there is no third epoch"
