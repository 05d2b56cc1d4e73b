"""Pictures of different sizes in buckets: each batch has pictures of one size (semantics rules 61, 62 and 64)."""

import json
import subprocess
from itertools import chain

import forebay
import numpy as np
import pytest
from forebay import SettingsError, transforms
from sized import BUCKETS, RECORDS, check, own

pytestmark = pytest.mark.daemon


def test_rule_64_batches_have_the_pictures_of_one_bucket_as_pillow_resizes_and_cuts_them(sized):
    sized = sized()
    with sized.loader() as loader:
        expected, shapes, records, planned = len(loader), set(), [], []
        for batch in loader:
            check(sized, batch)
            shapes.add(batch.images.shape)
            records += own(batch)
            planned.append(int(batch.planned[0]))
            assert batch.mask.sum() == batch.planned[0]
        assert len(planned) == expected == -(-RECORDS // 4)
        assert sorted(records) == list(range(RECORDS)), "each record once"
        assert sum(planned) == RECORDS
        assert sorted(planned)[1:] == [4] * (expected - 1), "one step has copies"
        assert {shape[1:3] for shape in shapes} == {(12, 18), (18, 12), (16, 16)}
        assert loader.audit()[0].adds_up
        assert loader.audit()[0].delivered == RECORDS


def test_rule_64_random_cuts_and_mirrors_are_where_crop_says_and_epochs_differ(sized):
    sized = sized()
    settings = {"buckets": {"rule": BUCKETS, "crop": "random"}, "shuffle": True, "epochs": 2, "seed": 3}
    with sized.loader(**settings, transform=[transforms.RandomHorizontalFlip()]) as loader:
        epochs = []
        for _ in range(2):
            cuts, order = {}, []
            for batch in loader:
                check(sized, batch, is_mirrored=True)
                order += own(batch)
                cuts |= dict(zip(batch.records.tolist(), map(tuple, batch.crop.tolist())))
            assert sorted(order) == list(range(RECORDS))
            epochs.append((order, cuts))
    assert epochs[0][0] != epochs[1][0]
    assert epochs[0][1] != epochs[1][1]


def test_rule_64_pixels_decide_how_many_pictures_a_step_has_and_leftovers_what_becomes_of_the_rest(sized):
    sized = sized()
    for leftovers in ("neighbour", "repeat", "drop"):
        buckets = {"rule": [*BUCKETS, "4x4"], "pixels": 16 * 16 * 4, "leftovers": leftovers}
        with sized.loader(buckets=buckets, batch_size=None, shuffle=True) as loader:
            places, records, expected = set(), [], len(loader)
            steps = 0
            for batch in loader:
                _, high, wide, _ = batch.images.shape
                places.add((high, wide, len(batch.records)))
                records += own(batch)
                steps += 1
            assert steps == expected
            # Nothing is nearest to 4x4 but for 16x16, which comes first.
            assert places == {(12, 18, 4), (18, 12, 4), (16, 16, 4)}
            assert len(set(records)) == len(records)
            assert loader.audit()[0].adds_up
            if leftovers == "drop":
                assert len(records) == 4 * steps < RECORDS
                assert loader.audit()[0].dropped == RECORDS - len(records)
            else:
                assert len(records) == RECORDS


def test_rule_61_without_sizes_or_with_wrong_ones_a_stream_is_refused(sized, pictures):
    with pytest.raises(SettingsError, match=r"the sizes of the pictures are not known.*forebay index SOURCE --sizes"):
        forebay.Loader(pictures(4), buckets=BUCKETS, batch_size=2)
    sized = sized()
    for number, (height, width) in enumerate(sized.sizes):
        sized.write(number, (width, height))
    with pytest.raises(SettingsError, match="pictures have other sizes than the index or the columns say"):
        sized.loader()


def test_rule_61_records_without_a_size_are_left_out_or_refuse_the_stream(sized, binary):
    sized = sized()
    for number in (0, 9):
        sized.file(number).write_bytes(b"no picture")
    command = [binary, "index", sized.folder, "--sizes", "--rebuild", "--output", sized.index]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    with pytest.raises(SettingsError, match=r"2 records have no bucket, the first of them .*00000.ppm.*on_error"):
        sized.loader()
    with sized.loader(on_error="skip", shuffle=True) as loader:
        assert sorted(chain(*map(own, loader))) == sorted(set(range(RECORDS)) - {0, 9})
        assert loader.audit()[0].adds_up


def test_rule_64_pictures_of_which_too_much_would_be_cut_off_are_left_out_or_refuse_the_stream(sized, binary):
    sized = sized()
    buckets = [tuple(map(int, bucket.split("x"))) for bucket in BUCKETS]

    def cut_off(height, width):
        quotients = [(width / height) / (wide / high) for high, wide in buckets]
        return 1 - max(min(quotient, 1 / quotient) for quotient in quotients)

    kept = [number for number, size in enumerate(sized.sizes) if cut_off(*size) <= 0.02]
    assert 0 < len(kept) < RECORDS
    settings = {"buckets": {"rule": BUCKETS, "max_crop": 0.02}}
    with pytest.raises(SettingsError, match=rf"{RECORDS - len(kept)} records have no bucket.*max_crop is exceeded"):
        sized.loader(**settings)
    with sized.loader(**settings, on_error="skip", shuffle=True) as loader:
        assert sorted(chain(*map(own, loader))) == kept
        assert loader.audit()[0].adds_up
    command = [binary, "plan", sized.folder, "--index", sized.index, "--buckets", ",".join(BUCKETS), "--json"]
    plan = json.loads(subprocess.run([*command, "--max-crop", "0.02"], check=True, capture_output=True).stdout)
    assert (plan["turns"], plan["without_bucket"]) == (len(kept), RECORDS - len(kept))


def test_rule_57_repeated_records_are_in_buckets_and_each_turn_comes_once(sized):
    sized = sized()
    kohya = {"rule": "kohya", "resolution": 16, "min": 8, "max": 32, "step": 4, "no_upscale": True}
    with sized.loader(buckets=kohya, repeats=2, shuffle=True) as loader:
        turns = [turn for batch in loader for turn in zip(own(batch), batch.repeats[batch.mask].tolist())]
        assert sorted(turns) == [(record, repeat) for record in range(RECORDS) for repeat in range(2)]
        assert loader.audit()[0].adds_up
    for buckets in ("12x18", "16x16,12x18"):
        with sized.loader(buckets=buckets, targets=forebay.Targets(columns=["crop"])) as loader:
            batch = loader.next()
            assert batch.crop.shape == (4, 2)
            assert f"{batch.images.shape[1]}x{batch.images.shape[2]}" in buckets


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"size": 8}, "size: cannot be combined with buckets"),
        ({"recipe": "torchvision_train"}, "recipe: cannot be combined with buckets"),
        ({"views": {"small": [transforms.Resize((4, 4))]}}, "views: cannot be combined with buckets"),
        ({"cache": {"keep": "decoded", "memory": "1mb"}}, 'keep = "encoded" can be'),
        ({"sharding": forebay.Shard(0, 2)}, "num_shards: cannot be combined with buckets: assignment"),
        ({"shuffle": "grains"}, "shuffle: cannot be combined with buckets"),
        ({"last_batch_policy": "drop"}, "last_batch_policy: cannot be combined with buckets: leftovers"),
        ({"placement": "gpu:0"}, "placement: cannot be combined with buckets"),
        ({"adjust_orientation": False}, "adjust_orientation: cannot be combined with buckets"),
        ({"transform": [transforms.CenterCrop(8)]}, "make pictures of 8 x 8 pixels of those of the bucket"),
        ({"transform": [transforms.Mosaic(16)]}, "mosaic"),
        ({"lease_size": 6}, "lease_size: is 6, but with buckets it is a multiple"),
        ({"buckets": "khoya"}, 'buckets: is "khoya"'),
        ({"buckets": {"rule": "diffusers", "min": 4}}, 'buckets.min: has an effect only with rule = "kohya"'),
        ({"buckets": {"rule": BUCKETS, "step": 4}}, "buckets.step: has an effect only with rule"),
        ({"buckets": {"resolution": 64}}, "buckets.rule: is missing"),
        ({"buckets": {"rule": BUCKETS, "pixels": 4000}}, "batch_size: follows from the pixels of buckets"),
        ({"buckets": {"rule": BUCKETS, "divisor": 3}}, "Steps of 4 pictures are no multiple of 3"),
        ({"buckets": {"rule": BUCKETS, "pixels": 200}, "batch_size": None}, "has no room for 1 pictures of 12x18"),
        ({"batch_size": None}, "batch_size: is missing"),
    ],
    ids=str,
)
def test_rule_62_what_does_not_go_with_buckets_is_refused_by_name(sized, settings, said):
    if "lease_size" in settings:
        settings = {"config": {"stream": settings}}
    with pytest.raises((SettingsError, TypeError)) as refused:
        sized(8).loader(**settings)
    assert said in str(refused.value)


def test_rule_50_pictures_of_a_bucket_are_mixed_among_each_other(sized):
    sized = sized()
    with sized.loader(mixing=transforms.MixUp(1.0), seed=5) as loader:
        for batch in loader:
            high, wide = batch.images.shape[1:3]
            parts = {}
            for place, record in enumerate(batch.records.tolist()):
                top, left = batch.crop[place]
                picture = np.asarray(sized.resized(record, (high, wide)))[top : top + high, left : left + wide]
                parts[place] = picture.astype(np.float64)
            mine = [place for place in parts if batch.mask[place]]
            for at, place in enumerate(mine):
                weight = batch.mix[place]
                mixed = parts[place] * weight + parts[mine[at - 1]] * (1 - weight)
                assert np.abs(mixed - batch.images[place]).max() <= 1


def test_rule_51_a_replay_has_the_bucket_that_training_had(sized, binary, tmp_path):
    sized = sized()
    with sized.loader(shuffle=True, seed=9) as loader:
        shown = {}
        for batch in loader:
            for place, record in enumerate(batch.records.tolist()):
                if batch.mask[place]:
                    shown[record] = batch.images[place].copy()
    for record in (0, 7, RECORDS - 1):
        out = tmp_path / f"{record}"
        out.mkdir()
        settings = [f"index={sized.index}", "batch_size=4", "shuffle=true", "seed=9", f"buckets={json.dumps(BUCKETS)}"]
        given = [word for setting in settings for word in ("--set", setting)]
        command = [binary, "replay", sized.folder, *given, "--record", str(record), "--epoch", "0", "--output", out]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        (file,) = out.glob("**/*.npy")
        assert (np.load(file) == shown[record]).all()


def test_rule_64_lanes_of_a_gpu_give_the_pixels_of_the_cpu(gpu, monkeypatch, jpegs, binary, tmp_path):
    monkeypatch.setenv("FOREBAY_NVJPEG", gpu.library._name)
    index = tmp_path / "jpegs.arrow"
    subprocess.run([binary, "index", jpegs, "--sizes", "--output", index], check=True, stdout=subprocess.DEVNULL)
    source = forebay.Source(str(jpegs), index=str(index))

    def everything(lanes):
        config, buckets = {"decode": {"lanes": lanes}}, ["32x48", "48x32", "40x40"]
        with forebay.Loader(source, buckets=buckets, batch_size=3, epochs=1, config=config) as loader:
            return [batch.copy() for batch in loader]

    expected, found = everything(["cpu"]), everything(["hardware"])
    assert sum(len(own(batch)) for batch in expected) == 12
    for one, other in zip(expected, found):
        assert one.records.tolist() == other.records.tolist()
        assert (one.images == other.images).all()
