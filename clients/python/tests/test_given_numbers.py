"""Numbers of calls that cannot be used: the error names the value, and what to give."""

from __future__ import annotations

import datetime

import forebay
import numpy as np
import pytest
from forebay.given_numbers import epoch_number, seconds_of


@pytest.mark.parametrize("epoch", [-1, np.int64(-7), 2**63, 1.5, "3", None])
def test_an_epoch_that_is_none_is_refused_by_its_value(epoch):
    with pytest.raises(forebay.SettingsError, match=r"epoch=.*: give"):
        epoch_number(epoch)


def test_an_epoch_may_be_any_integer_from_0_on():
    assert [epoch_number(epoch) for epoch in (0, True, np.uint8(9), 2**63 - 1)] == [0, 1, 9, 2**63 - 1]


@pytest.mark.parametrize("timeout", ["5", b"5", [1], datetime.timedelta(seconds=1), object()])
def test_seconds_that_are_no_number_are_refused_by_their_value(timeout):
    with pytest.raises(forebay.SettingsError, match=r"timeout=.*: give seconds"):
        seconds_of(timeout)


def test_seconds_may_be_any_number():
    assert [seconds_of(each) for each in (None, 0, np.float32(0.5), 10**400, -(10**400))] == [
        None,
        0.0,
        0.5,
        None,
        -1.0,
    ]


@pytest.mark.daemon
def test_a_loader_and_an_image_folder_name_the_remedy(pictures):
    folder = pictures(4)
    with forebay.Loader(folder, batch_size=2, size=8) as loader:
        with pytest.raises(forebay.SettingsError, match=r"timeout='5': give seconds"):
            loader.next(timeout="5")
        with pytest.raises(forebay.SettingsError, match=r"epoch='1': give"):
            loader.set_epoch("1")
        assert loader.next(timeout=60).valid == 2
    dataset = forebay.ImageFolder(folder)
    with pytest.raises(forebay.SettingsError, match=r"epoch=-1: give"):
        dataset.set_epoch(-1)
    assert dataset.epoch == 0
    dataset.set_epoch(3)
    assert dataset.epoch == 3
