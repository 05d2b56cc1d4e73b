"""The arguments of `forebay.dali`: which files are listed, what is refused, and what the readers say of themselves."""

import inspect
import re
import sys
import types
from pathlib import Path

import forebay
import numpy as np
import pytest
from forebay.dali import DALIClassificationIterator, DALIGenericIterator, FileReader, LastBatchPolicy, Pipeline
from forebay.dali.pipeline import _IGNORED, _REFUSED
from forebay.dali.rooms import rooms_for

PAGE = Path(__file__).resolve().parents[3] / "docs" / "dali.md"


@pytest.fixture
def tree(tmp_path):
    """Makes empty files below a folder."""

    def make(*names):
        for name in names:
            path = tmp_path / "root" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if name.endswith("/"):
                path.mkdir()
            else:
                path.touch()
        return tmp_path / "root"

    return make


def listed(root, **arguments):
    """The files of a reader, from its root, with their labels."""
    reader = FileReader(file_root=root, **arguments)
    return [(str(Path(path).relative_to(root)), label) for path, label in reader.samples]


def test_each_class_folder_has_a_number_in_the_order_of_names(tree):
    root = tree("b/2.jpg", "b/10.PNG", "b/notes.txt", "B/1.webp", ".hidden/1.bmp", "a/", "b/deep/3.jpg", "loose.jpg")
    assert listed(root) == [(".hidden/1.bmp", 0), ("B/1.webp", 1), ("b/10.PNG", 3), ("b/2.jpg", 3)]


def test_filters_are_patterns_of_names(tree):
    root = tree("cat/1.jpg", "cat/2.JPG", "cat/3.png", "dog/4.jpg", "Dogs/5.jpg")
    assert listed(root, file_filters=["*.jpg"]) == [
        ("Dogs/5.jpg", 0),
        ("cat/1.jpg", 1),
        ("cat/2.JPG", 1),
        ("dog/4.jpg", 2),
    ]
    assert listed(root, file_filters=["*.jpg"], case_sensitive_filter=True)[2:] == [("dog/4.jpg", 2)]
    assert listed(root, dir_filters=["d*"]) == [("Dogs/5.jpg", 0), ("dog/4.jpg", 1)]
    assert listed(root, dir_filters=["d*"], case_sensitive_filter=True) == [("dog/4.jpg", 0)]
    assert listed(root, file_filters=["[12].*", "4*"]) == [("cat/1.jpg", 1), ("cat/2.JPG", 1), ("dog/4.jpg", 2)]


def test_a_list_of_files_has_a_label_at_the_end_of_each_line(tmp_path):
    file = tmp_path / "train.txt"
    file.write_bytes(b"a 1.jpg 3\r\n\n sub/b.jpg\t 12  \n/c.jpg 0")
    samples = FileReader(file_list=file).samples
    assert samples == [(f"{tmp_path}/a 1.jpg", 3), (f"{tmp_path}/ sub/b.jpg", 12), ("/c.jpg", 0)]
    assert FileReader(file_list=file, file_root="/data").samples[0] == ("/data/a 1.jpg", 3)
    for line in ("a.jpg", "a_12", "  7", "a.jpg -1"):
        file.write_text(f"a.jpg 1\n{line}\n")
        with pytest.raises(forebay.SettingsError, match=r"line 2 of .*train\.txt"):
            FileReader(file_list=file)


def test_a_url_in_a_list_of_files_is_refused_with_its_line(tmp_path):
    file = tmp_path / "train.txt"
    file.write_text("a.jpg 1\ns3://bucket/b.jpg 2\n")
    with pytest.raises(forebay.SettingsError, match=r"line 2 of .*train\.txt: 's3://bucket/b\.jpg' is a URL"):
        FileReader(file_list=file)


def test_files_are_numbered_unless_they_have_labels(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert FileReader(files=["a.jpg", "/b.jpg"]).samples == [(f"{tmp_path}/a.jpg", 0), ("/b.jpg", 1)]
    assert FileReader(files=["a.jpg"], labels=[-5], file_root="/data").samples == [("/data/a.jpg", -5)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "file_root is missing"),
        ({"files": ["a"], "file_list": "b"}, "file_list and files exclude each other"),
        ({"file_root": "/", "labels": [1]}, "labels are those of files"),
        ({"files": ["a"], "labels": [1, 2]}, "2 labels for 1 files"),
        ({"files": ["a"], "labels": [1 << 31]}, "whole numbers of 32 bits"),
        ({"files": ["a"], "labels": ["cat"]}, "entry 0 has the label 'cat'"),
        ({"file_root": "s3://bucket/train"}, "forebay.Loader reads object stores"),
        ({"file_list": "s3://bucket/train.txt"}, "forebay.Loader reads object stores"),
        ({"files": ["a", "s3://bucket/b"]}, "files[1]: 's3://bucket/b' is a URL"),
        ({"files": ["a"], "file_root": "s3://bucket"}, "file_root: 's3://bucket' is a URL"),
        ({"file_root": "/", "file_filters": []}, "file_filters is empty"),
        ({"files": ["a", "b"], "num_shards": 3}, "there are only 2 files"),
        ({"files": ["a"], "shard_id": 1}, "shard_id=1, num_shards=1"),
        ({"files": ["a"], "device": "gpu"}, "the daemon reads files"),
        (
            {"files": ["a"], "shuffle_after_epoch": True, "random_shuffle": True},
            "and random_shuffle exclude each other",
        ),
        (
            {"files": ["a"], "shuffle_after_epoch": True, "stick_to_shard": True},
            "and stick_to_shard exclude each other",
        ),
    ],
)
def test_a_reader_refuses_what_contradicts_itself(arguments, message):
    with pytest.raises(forebay.SettingsError, match=re.escape(message)):
        FileReader(**arguments)


def test_a_dataset_that_is_not_there_is_named(tree, tmp_path):
    with pytest.raises(forebay.DatasetError, match=r"there are no files in .*root.* folders of classes"):
        FileReader(file_root=tree("loose.jpg"))
    with pytest.raises(forebay.DatasetError, match="nowhere cannot be read: No such file"):
        FileReader(file_root=tmp_path / "nowhere")
    with pytest.raises(forebay.DatasetError, match="nowhere cannot be read: No such file"):
        FileReader(file_list=tmp_path / "nowhere")


def test_the_metadata_of_a_reader_is_dalis():
    reader = FileReader(files=map(str, range(10)), shard_id=1, num_shards=3, pad_last_batch=True, name="Reader")
    pipeline = Pipeline(reader, 4, size=8)
    meta = {
        "epoch_size": 10,
        "epoch_size_padded": 12,
        "number_of_shards": 3,
        "shard_id": 1,
        "pad_last_batch": 1,
        "stick_to_shard": 0,
    }
    assert pipeline.reader_meta("Reader") == meta
    assert pipeline.reader_meta() == {"Reader": meta}
    assert (pipeline.epoch_size("Reader"), pipeline.epoch_size()) == (10, {"Reader": 10})
    assert (
        Pipeline(FileReader(files=["a"], shuffle_after_epoch=True, name="r"), 1).reader_meta("r")["stick_to_shard"] == 1
    )
    with pytest.raises(forebay.SettingsError, match=r"the name 'Reader'; give FileReader\(name='Main'\)"):
        pipeline.reader_meta("Main")


def test_ranks_that_shuffle_have_one_order_whatever_their_seeds():
    def seed(reader_seed=-1, pipeline_seed=-1, **arguments):
        return FileReader(files=["a", "b"], seed=reader_seed, **arguments).seed(pipeline_seed)

    assert (seed(), seed(pipeline_seed=7), seed(3, 7)) == (0, 7, 3)
    assert (seed(None, None), seed(None, 7), seed(3, None)) == (0, 7, 3)
    assert seed(3, 7, random_shuffle=True) == 3
    assert seed(3, 7, num_shards=2) == 3
    assert seed(3, 7, num_shards=2, random_shuffle=True) == 0
    assert seed(3, 7, num_shards=2, random_shuffle=True, shuffle_after_epoch_seed=11) == 11


def test_a_seed_that_is_ignored_is_told(caplog):
    def told(of_pipeline, files=("a", "b"), **arguments):
        caplog.clear()
        Pipeline(FileReader(files=files, **arguments), 1, seed=of_pipeline)
        return caplog.messages

    several = {"num_shards": 2, "random_shuffle": True}
    (message,) = told(7, **several)
    assert message.startswith("seed=7 is ignored: with several shards")
    assert message.endswith("Give all ranks the same shuffle_after_epoch_seed")
    assert told(-1, seed=5, num_shards=2, shuffle_after_epoch=True)[0].startswith("seed=5 is ignored")
    for of_pipeline, arguments in [
        (-1, several),
        (None, several),
        (7, {**several, "shuffle_after_epoch_seed": 11}),
        (7, {"num_shards": 2}),
        (7, {"random_shuffle": True}),
    ]:
        assert told(of_pipeline, **arguments) == []


@pytest.mark.parametrize("name", sorted(_REFUSED))
def test_a_pipeline_refuses_what_has_its_place_elsewhere(name):
    reader = FileReader(files=["a"])
    with pytest.raises(forebay.SettingsError, match=f"^{name}: "):
        Pipeline(reader, 1, **{name: 2})
    for value in (0, np.ones(2)):
        with pytest.raises(forebay.SettingsError, match=f"^{name}: "):
            Pipeline(reader, 1, **{name: value})
    Pipeline(reader, 1, **{name: False})


def test_a_pipeline_skips_no_record_silently():
    with pytest.raises(forebay.SettingsError, match='give "replace"'):
        Pipeline(FileReader(files=["a"]), 1, on_error="skip")


def test_a_pipeline_ignores_what_changes_no_batch():
    pipeline = Pipeline(FileReader(files=["a"]), 1, -1, -1, **dict.fromkeys(_IGNORED, 3), size=8)
    assert pipeline._settings == {"size": 8, "num_threads": None, "prefetch_queue_depth": 2, "seed": 0}
    assert pipeline.device_id is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"reader_name": "Main"}, "the pipeline's reader has the name 'Reader'"),
        ({"reader_name": "Reader", "size": 4}, "size: the reader 'Reader' knows this"),
        ({"reader_name": "Reader", "last_batch_padded": True}, "last_batch_padded: the reader 'Reader' knows this"),
        ({"size": 0}, "size=0"),
        ({"auto_reset": "maybe"}, "auto_reset='maybe'"),
        ({"last_batch_policy": "keep"}, "last_batch_policy='keep'"),
        ({"reader_name": "Reader", "last_batch_policy": "DROP"}, "with DROP no epoch has a batch"),
        ({"size": 7, "last_batch_policy": "DROP"}, "with DROP no epoch has a batch"),
        ({"output_map": ["data"]}, "output_map=['data']: give two names"),
        ({"output_map": ["data", "data"]}, "give two names"),
        ({"pipelines": []}, "pipelines is empty"),
    ],
)
def test_an_iterator_refuses_what_contradicts_itself(arguments, message):
    pipeline = Pipeline(FileReader(files=map(str, range(6)), name="Reader"), 8, size=8)
    with pytest.raises(forebay.SettingsError, match=re.escape(message)):
        DALIGenericIterator(**{"pipelines": pipeline, "output_map": ["data", "label"], **arguments})
    assert pipeline.loader is None


def test_a_deprecated_argument_warns_where_it_is_seen():
    pipeline = Pipeline(FileReader(files=["a"], name="Reader"), 8, size=8)
    with pytest.warns(FutureWarning, match="give last_batch_policy"), pytest.raises(forebay.SettingsError):
        DALIClassificationIterator(pipeline, reader_name="Main", fill_last_batch=True)


def test_a_pytorch_that_lacks_something_is_not_taken_for_none(monkeypatch):
    class Lacking:
        def find_spec(self, name, *_):
            if name == "forebay.torch.rooms":
                raise ModuleNotFoundError("No module named 'sympy'", name="sympy")

    monkeypatch.delitem(sys.modules, "forebay.torch.rooms", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Lacking(), *sys.meta_path])
    # Where PyTorch is not installed, `forebay.torch` fails before its rooms are looked for.
    monkeypatch.setitem(sys.modules, "forebay.torch", types.ModuleType("forebay.torch"))
    sys.modules["forebay.torch"].__path__ = []
    with pytest.raises(ModuleNotFoundError, match="sympy"):
        rooms_for(None, as_numpy=False)


def test_pipelines_of_an_iterator_agree():
    def pipeline(batch_size=2, **arguments):
        return Pipeline(FileReader(files=["a", "b", "c", "d"], name="Reader", **arguments), batch_size)

    for others, message in [
        ([pipeline(), pipeline(batch_size=3)], "they differ in batch_size"),
        ([pipeline(), pipeline(pad_last_batch=True)], "their readers differ in pad_last_batch"),
        ([pipeline(num_shards=2), pipeline()], "their readers differ in number_of_shards"),
    ]:
        with pytest.raises(forebay.SettingsError, match=message):
            DALIClassificationIterator(others, reader_name="Reader")
    with pytest.raises(forebay.SettingsError, match="several pipelines need reader_name"):
        DALIClassificationIterator([pipeline(), pipeline()])


def test_a_policy_may_be_dalis_own_or_a_name():
    class Theirs:
        name = "PARTIAL"

    given = [LastBatchPolicy.PARTIAL, Theirs(), "partial", "Partial"]
    assert {LastBatchPolicy.of(each) for each in given} == {LastBatchPolicy.PARTIAL}


@pytest.mark.parametrize(
    ("heading", "names"),
    [
        ("FileReader", inspect.signature(FileReader).parameters),
        ("Pipeline", {*inspect.signature(Pipeline).parameters, *_IGNORED} - {"settings"}),
        ("the iterators", inspect.signature(DALIGenericIterator).parameters),
    ],
)
def test_the_documentation_has_every_argument(heading, names):
    section = PAGE.read_text().partition(f"## Arguments of {heading}\n")[2].partition("\n## ")[0]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    documented = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    # What a Pipeline refuses, and the settings that it passes on, are no arguments of its signature.
    further = {*_REFUSED, *inspect.signature(forebay.Loader).parameters} if heading == "Pipeline" else set()
    assert names
    assert not set(names) - documented
    assert not documented - set(names) - further
