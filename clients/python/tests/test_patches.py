"""Streams with patches: sizes, pixels, padding and columns (semantics rule 65)."""

import math

import forebay
import numpy as np
import pytest
from forebay import SettingsError, transforms
from patched import LENGTHS, PATCHES, SIDE, check, grid_of, patches_of, spoil
from PIL import Image
from sized import RECORDS, own

pytestmark = pytest.mark.daemon


def loader(sized, **settings):
    return sized.loader(**{"buckets": None, "patches": PATCHES, **settings})


def bare(sized):
    """The folder without the index that has sizes."""
    return forebay.Source(str(sized.folder), index="none")


@pytest.mark.parametrize("shuffle", [False, True])
def test_rule_65_each_batch_has_patches_as_pillow_makes_them_and_each_record_comes_once(sized, shuffle):
    sized = sized()
    with loader(sized, shuffle=shuffle, seed=5) as stream:
        seen, lengths = [], []
        for batch in stream:
            check(sized, batch)
            assert batch.planned[0] == len(own(batch))
            grids = (grid_of(sized.sizes[record], SIDE, batch.images.shape[1]) for record in own(batch))
            assert batch.planned_tokens[0] == sum(map(math.prod, grids))
            seen += own(batch)
            lengths.append(batch.images.shape[1])
        assert sorted(seen) == list(range(RECORDS))
        assert shuffle or seen == list(range(RECORDS))
        assert stream.audit()[0].complete
    # Each block of three steps has each length, and behind the blocks are as many steps as there are records left.
    assert len(lengths) == math.ceil(RECORDS / 4)
    assert all(sorted(lengths[block : block + 3]) == LENGTHS for block in range(0, len(lengths) - 2, 3))


def test_rule_65_tokens_give_short_steps_more_pictures(sized):
    sized = sized()
    with loader(sized, patches={**PATCHES, "tokens": 64, "divisor": 2}, batch_size=None) as stream:
        places = {batch.images.shape[1]: len(batch) for batch in stream}
    assert places == {6: 10, 12: 4, 20: 2}


def test_rule_65_floats_are_normalised_and_padding_is_zero_or_as_in_timm(sized):
    sized = sized(9)
    mean, std = np.float32([0.5, 0.4, 0.3]), np.float32([0.5, 0.25, 0.2])
    for padding in ("zero", "timm"):
        settings = {"dtype": "float32", "transform": [transforms.Normalize(tuple(mean), tuple(std))]}
        with loader(sized, patches={**PATCHES, "padding": padding}, **settings) as stream:
            for batch in stream:
                patches, _, valid = batch.patches()
                for place, record in enumerate(batch.records.tolist()):
                    made = patches_of(Image.open(sized.file(record)), batch.grid[place], SIDE).reshape(-1, SIDE**2, 3)
                    expected = ((made / np.float32(255) - mean) / std).reshape(len(made), -1)
                    assert np.abs(patches[place][valid[place]] - expected).max() < 1e-6
                pixels = patches[~valid].reshape(-1, 3)
                assert np.allclose(pixels, -mean / std if padding == "timm" else 0, atol=1e-6)


def test_rule_65_a_mirrored_picture_has_mirrored_patches_at_its_own_places(sized):
    sized = sized(9)
    with loader(sized, transform=[transforms.RandomHorizontalFlip(1.0), transforms.RandomVerticalFlip(1.0)]) as stream:
        for batch in stream:
            patches, _, valid = batch.patches()
            for place, record in enumerate(batch.records.tolist()):
                grid = batch.grid[place].tolist()
                made = patches_of(Image.open(sized.file(record)), grid, SIDE).reshape(*grid, SIDE, SIDE, 3)
                turned = made[::-1, ::-1, ::-1, ::-1].reshape(math.prod(grid), -1)
                assert (patches[place][valid[place]] == turned).all()


def test_rule_65_sizes_are_not_needed_and_then_the_tokens_of_a_step_are_unknown(sized):
    sized = sized(9)
    with forebay.Loader(bare(sized), batch_size=4, epochs=1, patches=PATCHES) as stream:
        for batch in stream:
            check(sized, batch)
            assert batch.planned_tokens[0] == 0


def test_rule_61_a_picture_of_another_size_than_the_index_says_is_bad_and_no_shape_changes(sized):
    sized = sized()
    sized.write(7, sized.sizes[7][::-1])
    with loader(sized, on_error="skip") as stream:
        seen = []
        for batch in stream:
            assert batch.images.shape[1] in LENGTHS
            assert batch.images.shape[0] == 4
            seen += own(batch)
        assert sorted(seen) == [record for record in range(RECORDS) if record != 7]
        (bad,) = stream.quarantine
        assert bad.record == 7
        assert "12 x 18" in bad.reason
        assert "18 x 12" in bad.reason
        assert stream.audit()[0].adds_up


def test_rule_65_a_batch_without_a_picture_is_padding_alone(sized):
    sized = sized(8)
    for number in range(4):
        spoil(sized, number)
    with loader(sized, on_error="skip") as stream:
        black = stream.next()
        assert not black.mask.any()
        assert not black.grid.any()
        assert not black.patches().valid.any()
        assert not black.images.any()
        assert black.planned[0] == 4
        check(sized, stream.next())


def test_rule_65_gemma_4_has_whole_tokens_of_nine_patches(sized):
    sized = sized(3)
    sized.write(1, (1, 2000))
    patches = {"rule": "gemma4", "seq_lens": 630}
    with forebay.Loader(bare(sized), batch_size=3, epochs=1, patches=patches) as stream:
        (batch,) = list(stream)
        assert batch.grid[1].tolist() == [3, 630 // 3], "the longest that there is"
        assert (batch.grid % 3 == 0).all()


def test_rule_65_what_does_not_go_with_patches_is_refused_by_name(sized):
    sized = sized(5)
    for settings, words in (
        ({"size": 16}, "cannot be combined with patches"),
        ({"transform": [transforms.CenterCrop(8)]}, "change the size"),
        ({"layout": "NCHW"}, "channels together"),
        ({"patches": {"rule": "gemma4", "seq_lens": 100}}, "no number of patches that Gemma 4 has"),
        ({"patches": {**PATCHES, "tokens": 10}, "batch_size": None}, "no room for 1 pictures of 12 patches"),
        ({"buckets": ["16x16"]}, "give one of the two"),
    ):
        with pytest.raises(SettingsError, match=words):
            loader(sized, **settings)


def test_rule_65_random_parts_differ_by_epoch_and_their_patches_are_counted_before_they_are_read(sized):
    sized = sized()
    table = {**PATCHES, "scale": [0.2, 0.8], "ratio": [0.5, 2.0]}

    def epochs():
        with loader(sized, patches=table, seed=5, epochs=2, shuffle=True) as stream:
            for _ in range(2):
                told = {}
                for batch in stream:
                    patches, _, valid = batch.patches()
                    assert batch.planned_tokens[0] == batch.grid[batch.mask].prod(axis=1).sum()
                    assert (valid.sum(axis=1) == batch.grid.prod(axis=1)).all()
                    for place, record in enumerate(batch.records.tolist()):
                        told[record] = (batch.grid[place].tolist(), patches[place].tobytes())
                yield told

    first, again = list(epochs()), list(epochs())
    assert first == again, "draws follow from seed, epoch and record"
    assert set(first[0]) == set(first[1]) == set(range(RECORDS))
    whole = {}
    with loader(sized) as stream:
        for batch in stream:
            whole |= {record: batch.grid[place].tolist() for place, record in enumerate(batch.records.tolist())}
    assert sum(first[0][record][1] != first[1][record][1] for record in range(RECORDS)) > RECORDS / 2
    assert any(first[0][record][0] != whole[record] for record in range(RECORDS))
