"""Masks of formats that keep them beside their pictures: a trainer gets the numbers of the pixels that it sees."""

import io
import struct
import tarfile
import zlib

import forebay
import numpy as np
import pytest
from annotated_sets import _field
from forebay import transforms
from png import write_png

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]

HEIGHT, WIDTH, RECORDS = 26, 44, 5
# The record without a mask.
BARE = 3


def numbers_of(record):
    """The mask of a record. It has numbers of ignored pixels."""
    rows, columns = np.mgrid[:HEIGHT, :WIDTH]
    return ((11 * rows + 5 * columns + record) % 200 - 1).astype(np.int64)


def picture_of(record):
    """A picture whose red and green are column and row."""
    rows, columns = np.mgrid[:HEIGHT, :WIDTH]
    pixels = np.stack([columns, rows, np.full_like(rows, record)], axis=-1).astype(np.uint8)
    return b"P6 %d %d 255\n" % (WIDTH, HEIGHT) + pixels.tobytes()


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def tar_with_arrays(folder):
    with tarfile.open(folder / "set.tar", "w") as tar:
        for record in range(RECORDS):
            members = {"jpg": picture_of(record)}
            if record != BARE:
                members["mask.npy"] = npy(np.asfortranarray(numbers_of(record).astype(">i2")))
            for suffix, content in members.items():
                info = tarfile.TarInfo(f"{record}.{suffix}")
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))
    return {"source": f"tar:{folder / 'set.tar'}", "masks": {"seg": "mask.npy"}}


def folder_of_arrays(folder):
    for name in ("pictures", "arrays"):
        (folder / name).mkdir()
    for record in range(RECORDS):
        (folder / "pictures" / f"{record}.ppm").write_bytes(picture_of(record))
        if record != BARE:
            (folder / "arrays" / f"{record}.npy").write_bytes(npy(numbers_of(record)[None].astype(np.int32)))
    return {"source": folder / "pictures", "masks": {"seg": "../arrays"}}


def chunks_of_examples(folder):
    examples = []
    for record in range(RECORDS):
        parts = {"image/encoded": picture_of(record)}
        if record != BARE:
            # 24 bits of colours have the numbers from 1 on, and 0 in place of -1.
            colours = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
            colours[..., 0] = numbers_of(record).clip(0)
            write_png(folder / "mask.png", colours)
            parts["seg"] = (folder / "mask.png").read_bytes()
        entries = (
            _field(1, _field(1, name.encode()) + _field(2, _field(1, _field(1, part)))) for name, part in parts.items()
        )
        examples.append(_field(1, b"".join(entries)))
    payload = b"".join(struct.pack("<I", len(example)) + example for example in examples)
    header = struct.pack("<IIIII", 0x01020304, zlib.crc32(payload), 0, len(payload), RECORDS)
    (folder / "set.recordio").write_bytes(header + payload)
    return {"source": f"recordio:{folder / 'set.recordio'}?payload=example", "masks": {"seg": "seg"}}


READER = """
import numpy as np

ARRAYS = np.load(FOLDER + "/masks.npz")


class CustomDataReader:
    def create_shards(self):
        return {"": (0, len(ARRAYS["pictures"]))}

    def read_records(self, task):
        for number in range(task.shard.start, task.shard.end):
            mask = None if number == BARE else ARRAYS["masks"][number]
            yield {"images": ARRAYS["pictures"][number].tobytes(), "of_objects": mask}
"""


def reader_of_arrays(folder):
    pictures = np.stack([np.frombuffer(picture_of(record), np.uint8) for record in range(RECORDS)])
    np.savez(folder / "masks.npz", pictures=pictures, masks=np.stack([numbers_of(record) for record in range(RECORDS)]))
    (folder / "reader.py").write_text(f"FOLDER, BARE = {str(folder)!r}, {BARE}\n{READER}")
    return {"source": f"python:{folder / 'reader.py'}", "masks": {"seg": "of_objects"}}


@pytest.mark.parametrize("write", [tar_with_arrays, folder_of_arrays, chunks_of_examples, reader_of_arrays])
def test_rule_45_masks_of_each_format_have_the_numbers_of_the_pixels_that_a_trainer_sees(tmp_path, write):
    # Without a resize, a pixel's colours say where it was. The crop is wider than the picture.
    steps = [transforms.CenterCrop((20, 52)), transforms.RandomHorizontalFlip(0.5)]
    arguments = write(tmp_path)
    seen = set()
    targets = forebay.Targets(masks=arguments["masks"], mask_fill=250, labels="none")
    with forebay.Loader(
        arguments["source"], batch_size=2, transform=steps, seed=4, epochs=2, targets=targets
    ) as loader:
        for batch in loader:
            assert batch.seg.dtype == np.int32
            for place, record in enumerate(batch.records.tolist()):
                seen.add(record)
                assert batch.validity("seg")[place] == (record != BARE)
                if record == BARE:
                    assert (batch.seg[place] == 250).all()
                    continue
                there = np.zeros((20, 52), bool)
                there[:, 4:48] = True
                columns, rows = (batch.images[place, :, :, channel] for channel in (0, 1))
                expected = numbers_of(record)[rows[there], columns[there]]
                if write is chunks_of_examples:
                    expected = expected.clip(0)
                assert np.array_equal(batch.seg[place][there], expected)
                assert (batch.seg[place][~there] == 250).all()
    assert seen == set(range(RECORDS))


@pytest.mark.parametrize(("name", "words"), [("set.rec", "MXNet"), ("set.recordio", "payload=example")])
def test_rule_45_records_that_have_no_masks_refuse_them_and_say_what_to_do(tmp_path, name, words):
    picture = picture_of(0)
    payload = struct.pack("<I", len(picture)) + picture
    header = struct.pack("<IIIII", 0x01020304, zlib.crc32(payload), 0, len(payload), 1)
    image = struct.pack("<IfQQ", 0, 1.0, 0, 0) + picture
    record = struct.pack("<II", 0xCED7230A, len(image)) + image + bytes(-len(image) % 4)
    (tmp_path / name).write_bytes(record if name == "set.rec" else header + payload)
    with pytest.raises(forebay.DatasetError, match=words) as refused:
        forebay.Loader(tmp_path / name, batch_size=1, size=16, targets=forebay.Targets(masks={"seg": "mask"}))
    assert 'masks.seg = "mask"' in str(refused.value)
