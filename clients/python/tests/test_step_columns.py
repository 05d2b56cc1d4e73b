"""Labels and columns beside the pictures that functions in Python get, and what functions return for them (rule 59)."""

import textwrap

import forebay
import numpy as np
import pytest
from forebay import transforms

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Writes a module that a Loader of this process finds: gives its name."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def write(code, name="my_columns"):
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(code))
        return name

    return write


def batches(source, steps, **given):
    with forebay.Loader(source, batch_size=2, epochs=1, transform=steps, **given) as loader:
        yield from loader


def test_rule_59_a_function_gets_the_label_and_returns_another_one(jpegs, module):
    name = module(
        """
        def labelled(picture, sample):
            picture[0, 0] = sample.label
            return None, {"label": sample.label * 10 + 5}

        def plain(picture, sample):
            return picture, {}
        """
    )
    before = transforms.CenterCrop(8)
    seen = {}
    for function in ("plain", "labelled"):
        steps = [before, transforms.Python(f"{name}:{function}")]
        for batch in batches(jpegs, steps):
            for record, label, image in zip(batch.records.tolist(), batch.labels.tolist(), batch.images):
                seen.setdefault(record, []).append((label, image[0, 0, 0]))
    assert sorted({plain[0] for plain, _ in seen.values()}) == [0, 1, 2]
    assert all(made == (plain[0] * 10 + 5, plain[0]) for plain, made in seen.values())


MIRROR = """
import numpy as np

def mirror(picture, sample):
    boxes = sample.targets["boxes"]
    assert boxes.dtype == np.float32
    mirrored = boxes.copy()
    mirrored[:, [0, 2]] = picture.shape[1] - boxes[:, [2, 0]]
    return np.ascontiguousarray(picture[:, ::-1]), {"boxes": mirrored}

def told(picture, sample):
    assert sorted(sample.columns) == ["area", "boxes", "classes", "crowd"]
    assert list(sample.targets) == ["boxes"]
    assert len(sample.columns["area"]) == len(sample.columns["boxes"])

def drops(picture, sample):
    columns = sample.columns
    return picture, {name: value[:-1] for name, value in columns.items()}
"""


def of_boxes(source, steps, **given):
    """The picture and the columns of each record."""
    seen = {}
    for batch in batches(source, steps, **given):
        for place, record in enumerate(batch.records.tolist()):
            columns = {name: np.asarray(batch[name][place]).tolist() for name in ("boxes", "area", "classes", "crowd")}
            seen[record] = (np.array(batch.images[place]).tolist(), columns)
    return seen


@pytest.mark.parametrize("workers", [1, 0])
def test_rule_59_boxes_that_a_function_moves_follow_what_is_behind_it(annotated, module, workers):
    name = module(MIRROR)
    around = [transforms.CenterCrop(6)], [transforms.RandomCrop(5), transforms.RandomHorizontalFlip()]
    built_in = [*around[0], transforms.RandomHorizontalFlip(1.0), *around[1]]
    own = [*around[0], transforms.Python(f"{name}:mirror"), *around[1]]
    if workers == 0:
        space = {}
        exec(MIRROR, space)
        own[1] = transforms.Python(space["mirror"])
    expected = of_boxes(annotated, built_in, seed=4)
    assert sum(len(columns["boxes"]) for _, columns in expected.values()) > 1
    assert of_boxes(annotated, own, seed=4, python_workers=workers) == expected


ENLARGE = """
import numpy as np

def enlarge(picture, sample):
    return np.repeat(np.repeat(picture, 2, axis=0), 3, axis=1), {"boxes": sample.targets["boxes"] * [3, 2, 3, 2]}

def forgets(picture, sample):
    return np.repeat(np.repeat(picture, 2, axis=0), 3, axis=1)
"""


def test_rule_59_a_function_that_gives_another_size_returns_the_boxes_there(annotated, module):
    name = module(ENLARGE)
    before, behind = transforms.CenterCrop(6), [transforms.RandomCrop((9, 11)), transforms.RandomHorizontalFlip()]
    resize = transforms.Resize((12, 18), interpolation="nearest")
    own = transforms.Python(f"{name}:enlarge", output=(12, 18))
    expected = of_boxes(annotated, [before, resize, *behind], seed=4)
    assert sum(len(columns["boxes"]) for _, columns in expected.values()) > 1
    assert of_boxes(annotated, [before, own, *behind], seed=4) == expected
    forgets = [before, transforms.Python(f"{name}:forgets", output=(12, 18))]
    words = 'must return the column "boxes" too'
    with (
        forebay.Loader(annotated, batch_size=5, transform=forgets) as loader,
        pytest.raises(forebay.RecordError, match=words),
    ):
        loader.next()


def test_rule_59_a_function_gets_all_columns_of_the_stream_and_objects_that_it_drops_are_gone(annotated, module):
    name = module(MIRROR)
    whole = of_boxes(annotated, [transforms.CenterCrop(8)])
    assert of_boxes(annotated, [transforms.CenterCrop(8), transforms.Python(f"{name}:told")]) == whole
    # A second function gets what the first one has returned.
    steps = [transforms.CenterCrop(8), transforms.Python(f"{name}:drops"), transforms.Python(f"{name}:drops")]
    made = of_boxes(annotated, steps)
    for record, (image, columns) in whole.items():
        assert made[record] == (image, {key: value[: max(len(value) - 2, 0)] for key, value in columns.items()})


@pytest.mark.parametrize(
    ("returned", "words"),
    [
        ("picture, {'boxes': np.zeros((9, 4))}", 'boxes" has [9] items, but there is room for [3]'),
        ("picture, {'boxes': np.zeros((0, 4))}", "are of the same objects, but have 0 and 3 of them"),
        ("picture, {'boxes': np.zeros((3, 5))}", "its column 'boxes' is float64 [3, 5], but must be float32 [-1, 4]"),
        ("picture, {'classes': [0.5, 1.5, 2.5]}", "its column 'classes' is float64 [3], but must be int64 [-1]"),
        ("picture, {'box': []}", "something for 'box', but may do so for: label, boxes, classes, crowd, area"),
        ("picture, {'label': 1 << 63}", "does not fit into 64 bits"),
        ("picture, 7", "a tuple of ndarray, int: return a picture, None, or (picture, dict)"),
    ],
)
def test_rule_59_what_a_column_cannot_have_makes_the_record_bad_and_says_why(annotated, module, returned, words):
    code = f"import numpy as np\ndef wrong(picture, sample):\n    return ({returned}) if sample.record == 4 else None\n"
    steps = [transforms.CenterCrop(8), transforms.Python(f"{module(code)}:wrong")]
    with forebay.Loader(annotated, batch_size=2, epochs=1, transform=steps, on_error="skip") as loader:
        records = sorted(record for batch in loader for record in batch.records[batch.mask].tolist())
        assert (records, [bad.record for bad in loader.quarantine]) == ([0, 1, 2, 3], [4])
        assert words in loader.quarantine[0].reason, loader.quarantine[0].reason


FLOATS = """
import numpy as np

def scaled(picture, sample):
    return (picture.astype(np.float32) - 100) / 3

def half(picture, sample):
    return scaled(picture, sample) if sample.record % 2 else None
"""


@pytest.mark.parametrize("layout", ["NHWC", "NCHW"])
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_rule_59_the_last_function_of_a_stream_of_floats_returns_values_of_the_batch(jpegs, module, dtype, layout):
    name = module(FLOATS)

    def values(steps, **given):
        made = {}
        for batch in batches(jpegs, steps, seed=2, **given):
            made.update(zip(batch.records.tolist(), np.array(batch.images)))
        return made

    before = transforms.RandomResizedCrop(8)
    pictures, given = values([before]), {"dtype": dtype, "layout": layout}
    made = values([before, transforms.Python(f"{name}:scaled")], **given)
    mixed = values([before, transforms.Python(f"{name}:half")], **given)
    plain = values([before], **given)
    for record, picture in pictures.items():
        expected = (picture.astype(np.float32) - 100) / 3
        expected = expected.transpose(2, 0, 1) if layout == "NCHW" else expected
        found = made[record]
        if dtype == "bfloat16":
            found = (found.astype(np.uint32) << 16).view(np.float32)
            assert np.abs(found - expected).max() <= np.abs(expected).max() / 256
        else:
            assert np.array_equal(found, expected.astype(dtype))
        assert np.array_equal(mixed[record], made[record] if record % 2 else plain[record])


@pytest.mark.parametrize("given", [{}, {"dtype": "float32", "behind": [transforms.RandomHorizontalFlip()]}])
def test_rule_59_floats_are_refused_where_pictures_of_8_bits_are_expected(jpegs, module, given):
    behind = given.get("behind", [])
    steps = [transforms.CenterCrop(8), transforms.Python(f"{module(FLOATS)}:half"), *behind]
    dtype = given.get("dtype", "uint8")
    with forebay.Loader(jpegs, batch_size=2, epochs=1, transform=steps, dtype=dtype, on_error="skip") as loader:
        assert sum(int(batch.valid) for batch in loader) == 6
        words = "it has returned float32 [8, 8, 3], but must return uint8 [8, 8, 3]"
        assert all(words in bad.reason for bad in loader.quarantine)
        assert len(loader.quarantine) == 6


def test_rule_59_a_function_returns_columns_that_the_dataset_does_not_have(jpegs, module):
    name = module(
        """
        import numpy as np

        def measures(picture, sample):
            assert sample.columns == {"brightness": None, "tags": None, "name": None}
            if sample.record == 3:
                return None
            tags = list(range(sample.record % 4))
            return None, {"brightness": picture.mean(axis=(0, 1)), "tags": tags, "name": f"record {sample.record}"}

        def more(picture, sample):
            assert sample.record == 3 or sample.columns["name"].tobytes() == f"record {sample.record}".encode()
            return None if sample.record < 6 else (None, {"name": None})
        """
    )
    columns = {"brightness": "f32 [3]", "tags": ("i64 [*]", 3), "name": ("u8 [*]", 9)}
    measures = transforms.Python(f"{name}:measures", columns=columns)
    steps = [transforms.CenterCrop(8), measures, transforms.Python(f"{name}:more", columns={"name": ("u8 [*]", 4)})]
    seen = 0
    for batch in batches(jpegs, steps):
        assert batch.columns == ("images", "labels", "records", "mask", "brightness", "name", "tags")
        for place, record in enumerate(batch.records.tolist()):
            seen += 1
            mean = [0.0] * 3 if record == 3 else batch.images[place].mean(axis=(0, 1)).astype(np.float32).tolist()
            assert batch.brightness[place].tolist() == mean
            assert batch.tags[place].tolist() == ([] if record == 3 else list(range(record % 4)))
            text = b"" if record == 3 or record > 5 else f"record {record}".encode()
            assert batch["name"][place].tobytes() == text
            assert bool(batch.validity("brightness")[place]) == (record != 3)
    assert seen == 12


def test_rule_59_boxes_may_become_more_if_that_is_declared(annotated, module):
    code = """
        import numpy as np

        def doubled(picture, sample):
            return None, {name: np.concatenate([value, value]) for name, value in sample.columns.items()}
        """
    types = {"boxes": "f32 [*, 4]", "classes": "i64 [*]", "crowd": "bool [*]", "area": "f32 [*]"}
    step = transforms.Python(f"{module(code)}:doubled", columns={name: (of, 6) for name, of in types.items()})
    whole = of_boxes(annotated, [transforms.CenterCrop(8)])
    assert of_boxes(annotated, [transforms.CenterCrop(8), step]) == {
        record: (image, {name: value * 2 for name, value in columns.items()})
        for record, (image, columns) in whole.items()
    }


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"labels": "i64"}, 'declares the column "labels": the name "labels" is taken'),
        ({"blur": "float"}, '"float" is not the type of a column'),
        ({"blur": "f32 [*]"}, "give one number in `most` for each [*] of the type f32 [*]:"),
        ({"blur": ("f32", 1)}, "give one number in `most` for each [*] of the type f32:"),
    ],
)
def test_rule_59_a_column_that_cannot_be_declared_is_refused_by_name(jpegs, columns, words):
    steps = [transforms.CenterCrop(8), transforms.Python("a:b", columns=columns)]
    with pytest.raises(forebay.SettingsError) as error:
        forebay.Loader(jpegs, batch_size=4, transform=steps)
    assert words in str(error.value), str(error.value)
