"""What the daemon is asked for, by the arguments of a Loader."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from forebay import SettingsError
from forebay.ranks import fill_in, refuse_unsharded
from forebay.settings import request
from forebay.transforms import RandomHorizontalFlip, Resize


def asked(source, by_name=False, **given):
    found = request(source, given, by_name=by_name)
    return found, json.loads(found.settings or "{}")


def test_a_relative_path_means_this_process_s_folder():
    _, settings = asked("pictures", batch_size=4)
    assert settings["source"] == os.path.join(os.getcwd(), "pictures")
    _, settings = asked(Path("pictures"), batch_size=4)
    assert settings["source"] == os.path.join(os.getcwd(), "pictures")


def test_a_scheme_keeps_its_name_and_its_path_becomes_absolute():
    _, settings = asked("csv:train.csv", batch_size=4)
    assert settings["source"] == "csv:" + os.path.join(os.getcwd(), "train.csv")
    _, settings = asked("s3://bucket/train", batch_size=4)
    assert settings["source"] == "s3://bucket/train"
    _, settings = asked("tar:s3://bucket/train-{000..999}.tar?region=eu-west-1", batch_size=4)
    assert settings["source"] == "tar:s3://bucket/train-{000..999}.tar?region=eu-west-1"
    _, settings = asked("csv:train.csv", batch_size=4, root="s3://bucket/pictures")
    assert settings["root"] == "s3://bucket/pictures"


def test_a_custom_reader_is_run_by_this_interpreter_unless_another_is_named():
    def options(source, **given):
        found = request(source, {"batch_size": 4, **given}, by_name=False, interpreter="/venv/bin/python")
        return json.loads(found.settings).get("source_options")

    assert options("python:reader.py?class=Reader") == {"python": "/venv/bin/python"}
    assert options("python:///reader.py", source_options={"workers": 2}) == {"python": "/venv/bin/python", "workers": 2}
    assert options("python:///reader.py", source_options={"python": "/usr/bin/python3"})["python"] == "/usr/bin/python3"
    assert options("csv:train.csv") is None


def test_a_list_of_files_travels_as_bytes():
    found, settings = asked(["/a.jpg", Path("/b\udcff.jpg")], batch_size=4)
    assert settings == {"files": True, "batch_size": 4}
    assert found.files == b"/a.jpg\0/b\xff.jpg"


def test_a_dataset_of_decoded_pictures_is_refused_at_its_first_entry():
    class Dataset:
        """As torchvision has them: with a length and items, and without an iterator."""

        asked = 0

        def __len__(self):
            return 1000

        def __getitem__(self, number):
            self.asked += 1
            return object(), number % 10

    dataset = Dataset()
    with pytest.raises(SettingsError, match=r"which is not a path.*of an ImageFolder, give its samples"):
        asked(dataset, batch_size=4)
    assert dataset.asked == 1


def test_a_relative_path_of_a_list_starts_at_the_root_or_at_this_process_s_folder():
    assert asked(["a.jpg"], batch_size=4)[0].files == os.fsencode(os.path.join(os.getcwd(), "a.jpg"))
    found, settings = asked(["a.jpg", ("/b.jpg")], batch_size=4, root="/data")
    assert found.files == b"a.jpg\0/b.jpg"
    assert settings["root"] == "/data"


def test_pairs_of_path_and_label_travel_with_their_labels():
    def files(source):
        found, settings = asked(source, batch_size=4)
        assert settings == {"files": True, "batch_size": 4}
        return found.files

    assert files([("/a.jpg", 0), [Path("/b.jpg"), -7]]) == b"\0/a.jpg\0i0\0/b.jpg\0i-7"
    assert files([("/a.jpg", "cat"), ("/b.jpg", "7")]) == b"\0/a.jpg\0tcat\0/b.jpg\0t7"
    assert files(zip(np.array(["/a.jpg", "/b.jpg"]), np.array([3, 1]))) == b"\0/a.jpg\0i3\0/b.jpg\0i1"
    assert files(np.array([["/a.jpg", 3]], dtype=object)) == b"\0/a.jpg\0i3"
    assert files(np.array([["/a.jpg", "dog"]])) == b"\0/a.jpg\0tdog"
    assert files([("/a.jpg", np.bool_(True))]) == b"\0/a.jpg\0i1"


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ([], "empty"),
        (["/a.jpg", 3], "3"),
        ("stream:", "name is missing"),
        (["/a\0.jpg"], "NUL"),
        ([""], "empty path"),
        ([("/a.jpg", 0), "/b.jpg"], "entry 1 .*each as"),
        (["/a.jpg", ("/b.jpg", 0)], "entry 1 .*each as"),
        ([("/a.jpg", 0, 1)], "not a path"),
        ([(3, 0)], "3 in it, which is not a path"),
        (None, "source is of type NoneType: give a path"),
        (7.5, "source is of type float"),
        (b"/data/train", "source is of type bytes"),
        ([("/a.jpg", 0.7)], "label 0.7 of entry 0 is a float"),
        ([("/a.jpg", None)], "NoneType"),
        ([("/a.jpg", "")], "is empty"),
        ([("/a.jpg", "x\0y")], "NUL"),
        ([("/a.jpg", 1 << 63)], "64 bits"),
    ],
)
def test_sources_that_are_none(source, words):
    with pytest.raises(SettingsError, match=words):
        asked(source, batch_size=4)


def test_rule_26_a_stream_is_named_by_scheme_or_by_giving_a_socket():
    assert asked("stream:train")[0].stream == "train"
    assert asked("train", by_name=True)[0].stream == "train"
    assert asked("train", batch_size=4)[0].stream is None


def test_rule_26_a_stream_is_asked_only_for_what_was_given():
    found, _ = asked("stream:train")
    assert found.settings is None
    _, settings = asked("stream:train", shuffle=False, batch_size=8)
    assert settings == {"shuffle": False, "batch_size": 8}


def test_a_cache_travels_as_a_table():
    _, settings = asked("/a", batch_size=4, cache={"keep": "decoded", "memory": "1gb", "max_side": np.int64(512)})
    assert settings["cache"] == {"keep": "decoded", "memory": "1gb", "max_side": 512}


def test_a_path_needs_a_batch_size():
    with pytest.raises(SettingsError, match="batch_size is missing"):
        asked("/pictures")


def test_transforms_and_numbers_of_numpy_become_plain():
    _, settings = asked("/p", batch_size=np.int64(4), transform=[Resize((8, np.int32(9))), RandomHorizontalFlip(0.25)])
    assert settings["batch_size"] == 4
    assert settings["transform"] == [
        {"resize": {"size": [8, 9], "interpolation": "bilinear"}},
        {"random_horizontal_flip": {"p": 0.25}},
    ]


def test_a_transform_of_another_library_is_refused_by_name():
    with pytest.raises(SettingsError, match="object object"):
        asked("/p", batch_size=1, transform=[object()])


class Named:
    """A type like PyTorch's, of which only the name is known."""

    def __init__(self, name):
        self.name = name

    def __str__(self):
        return self.name


@pytest.mark.parametrize("dtype", ["float32", np.float32, np.dtype("float32"), Named("torch.float32")])
def test_dtypes_by_any_of_numpy_s_names(dtype):
    assert asked("/p", batch_size=1, dtype=dtype)[1]["dtype"] == "float32"


@pytest.mark.parametrize("dtype", ["bfloat16", Named("torch.bfloat16"), Named("bfloat16")])
def test_bfloat16_is_known_though_numpy_has_none(dtype):
    assert asked("/p", batch_size=1, dtype=dtype)[1]["dtype"] == "bfloat16"


def test_a_dtype_that_is_none():
    with pytest.raises(SettingsError, match="dtype='pixels'"):
        asked("/p", batch_size=1, dtype="pixels")
    with pytest.raises(SettingsError, match="bfloat16 or float32"):
        asked("/p", batch_size=1, dtype=Named("torch.qint8"))


@pytest.mark.parametrize(("key", "value"), [("seed", object()), ("root", b"/p")])
def test_a_setting_of_an_impossible_kind_is_named(key, value):
    with pytest.raises(SettingsError, match=f"{key}=.*no setting takes a value of type {type(value).__name__}"):
        asked("/p", batch_size=1, **{key: value})


def test_pin_memory_is_asked_of_a_stream_only_where_it_is_wanted():
    assert asked("stream:train", pin_memory=False)[0].settings is None
    assert asked("stream:train", pin_memory=True)[1] == {"pin_memory": True}


def test_rule_13_a_shard_is_asked_for_with_its_number():
    found, settings = asked("/p", batch_size=1, shard_id=1, num_shards=4)
    assert found.shard == (1, 4)
    assert (settings["shard_id"], settings["num_shards"]) == (1, 4)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"shard_id": 0}, "num_shards is missing"),
        ({"num_shards": 4}, "shard_id is missing"),
        ({"shard_id": 4, "num_shards": 4}, "0 to 3"),
        ({"shard_id": -1, "num_shards": 4}, "0 to 3"),
    ],
)
def test_rule_13_shards_that_do_not_exist(given, words):
    with pytest.raises(SettingsError, match=words):
        asked("/p", batch_size=1, **given)


def test_rule_11_one_of_several_ranks_must_say_how_they_share():
    with pytest.raises(SettingsError, match=r"Shard\(3, 8\)") as raised:
        refuse_unsharded({}, {"WORLD_SIZE": "8", "RANK": "3"}, None)
    assert "stream:NAME" in str(raised.value)
    with pytest.raises(SettingsError, match=r"Lockstep\(256\)"):
        refuse_unsharded({"batch_size": 32}, {"WORLD_SIZE": "8", "RANK": "3"}, None)
    with pytest.raises(SettingsError, match=r"torch\.distributed"):
        refuse_unsharded({}, {}, (1, 2, "torch.distributed"))


def test_rule_11_of_a_running_daemon_s_stream_the_configuration_says_how_ranks_share_it():
    with pytest.raises(SettingsError, match=r"\[streams\.train\]\n    num_shards = 8\n") as raised:
        refuse_unsharded({}, {"WORLD_SIZE": "8", "RANK": "3"}, None, "train")
    assert 'forebay.Loader("stream:train", ..., sharding=forebay.Shard(3, 8))' in str(raised.value)


def test_sections_of_the_own_daemon_travel_as_an_option_in_one_order():
    config = {"decode": {"pixel_limit": np.int64(9), "lanes": ("hardware", "cpu")}, "prefetch": {"threads": 2}}
    found, settings = asked("/p", batch_size=1, config=config)
    text = '{"decode": {"lanes": ["hardware", "cpu"], "pixel_limit": 9}, "prefetch": {"threads": 2}}'
    assert found.options == (("sections", text),)
    assert settings == {"source": "/p", "batch_size": 1}
    with pytest.raises(SettingsError, match="the daemon of the stream 'train' has its configuration already"):
        asked("stream:train", config=config)


def test_a_path_with_a_nul_byte_is_refused_and_not_two_records():
    for path in ("a\0b", b"a\0b"):
        with pytest.raises(SettingsError, match=r"'/.*a\\x00b' has a NUL byte"):
            asked(["/p/1.jpg", path], batch_size=1)


def test_time_outs_travel_in_seconds():
    assert asked("/p", batch_size=1, read_timeout=2.5, epoch_end_timeout=60, storage_timeout=7)[1] == {
        "source": "/p",
        "batch_size": 1,
        "read_timeout": 2.5,
        "epoch_end_timeout": 60,
        "storage_timeout": 7,
    }


def test_rule_11_saying_so_is_enough():
    world = {"WORLD_SIZE": "8"}
    refuse_unsharded({"num_shards": 1}, world, (0, 8, "torch.distributed"))
    refuse_unsharded({"shard_id": 0, "num_shards": 8}, world, (0, 8, "torch.distributed"))
    refuse_unsharded({}, {"WORLD_SIZE": "1"}, (0, 1, "torch.distributed"))
    found, settings = asked("stream:train", num_shards=1)
    assert found.shard is None
    assert "num_shards" not in settings


def test_rule_11_a_world_size_without_a_rank_is_no_rank_0():
    for rank in ({}, {"RANK": "first"}):
        with pytest.raises(SettingsError, match=r"WORLD_SIZE=8 is in the environment, and RANK=.* start the job with"):
            refuse_unsharded({}, {"WORLD_SIZE": "8", **rank}, None)


def test_rule_40_a_rank_comes_from_the_caller_then_a_process_group_then_a_launcher():
    lockstep = {"assignment": "lockstep", "global_batch": 8}
    launchers = {"RANK": "1", "WORLD_SIZE": "2", "SLURM_PROCID": "5", "SLURM_NTASKS": "8"}

    def ranks(given, environment, group=None):
        filled = fill_in({**lockstep, **given}, environment, group)
        return filled["rank"], filled["world_size"]

    assert ranks({"rank": 3, "world_size": 4}, launchers, (0, 8, "torch.distributed")) == (3, 4)
    assert ranks({}, launchers, (7, 8, "torch.distributed")) == (7, 8)
    assert ranks({}, launchers) == (1, 2)
    assert ranks({}, {**launchers, "RANK": "?"}) == (5, 8)
    with pytest.raises(SettingsError, match="RANK and WORLD_SIZE or SLURM_PROCID and SLURM_NTASKS"):
        ranks({}, {"RANK": "1"})
    with pytest.raises(SettingsError, match="rank is given alone"):
        ranks({"rank": 1}, launchers)
    assert fill_in({"batch_size": 4}, launchers, None) == {"batch_size": 4}
    refuse_unsharded(lockstep, launchers, None)
    found, settings = asked("/p", **lockstep, rank=1, world_size=4)
    assert found.shard == (1, 4)
    assert settings == {"source": "/p", **lockstep, "rank": 1, "world_size": 4}
    with pytest.raises(SettingsError, match="rank=4 of world_size=4"):
        asked("/p", **lockstep, rank=4, world_size=4)


@pytest.mark.parametrize("source", ["", "  ", "folder:", "csv:?root=/data", ["folder:", "tar:/data/a.tar"]])
def test_a_source_without_a_path_is_refused_and_is_not_the_working_folder(source):
    with pytest.raises(SettingsError, match=r'has no path; give one, or "\." for the working folder'):
        request(source, {"batch_size": 1, "size": 8}, by_name=False)


@pytest.mark.parametrize("name", ["root", "index"])
def test_an_empty_folder_of_a_setting_is_refused(name):
    with pytest.raises(SettingsError, match=f"{name}='' has no path"):
        request("/data/a.csv", {"batch_size": 1, "size": 8, name: ""}, by_name=False)
