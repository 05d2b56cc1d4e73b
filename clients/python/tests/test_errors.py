"""The exceptions, and the command that finds its binary."""

import inspect
import re

import forebay
import pytest
from forebay import _command, errors


def test_everything_that_forebay_raises_is_an_error_of_forebay():
    classes = [found for _, found in inspect.getmembers(errors, inspect.isclass)]
    assert all(issubclass(found, forebay.Error) for found in classes)
    assert sorted(found.__name__ for found in classes) == errors.__all__
    assert issubclass(forebay.SettingsError, ValueError)


def test_epoch_held_tells_who():
    held = errors.EpochHeld("text", 3, 17, 4711, 600.5)
    assert (str(held), held.epoch, held.seq, held.pid, held.held_for) == ("text", 3, 17, 4711, 600.5)
    assert (held.node, held.host) == ("", "")
    there = errors.EpochHeld("text", 3, 0, 4711, 600.5, "train-2", "gpu-7")
    assert (there.node, there.host) == ("train-2", "gpu-7")


def test_rule_44_missed_batches_tells_which():
    missed = errors.MissedBatches("text", 3, 17, 20, 640)
    assert (str(missed), missed.epoch, missed.from_batch, missed.to_batch, missed.records) == ("text", 3, 17, 20, 640)


@pytest.mark.parametrize("kind", ["nothing", "folder", "file"])
def test_what_is_no_binary_is_named(monkeypatch, tmp_path, kind):
    named = tmp_path / "bin"
    {"nothing": lambda: None, "folder": named.mkdir, "file": named.touch}[kind]()
    monkeypatch.setenv("FOREBAY_BIN", str(named))
    told = re.escape(f"there is no forebay binary at {named}; correct or unset FOREBAY_BIN")
    with pytest.raises(forebay.AttachError, match=told):
        _command.binary()


def test_the_command_says_what_is_wrong_and_fails(monkeypatch):
    monkeypatch.setenv("FOREBAY_BIN", "/nowhere/forebay")
    with pytest.raises(SystemExit, match="forebay: there is no forebay binary"):
        _command.main()


def test_no_daemon_names_the_socket_and_what_to_start(tmp_path):
    with pytest.raises(forebay.AttachError, match=r"nobody\.sock.*forebay serve"):
        forebay.Loader("train", socket=tmp_path / "nobody.sock")


def test_a_daemon_that_cannot_run_is_reported_with_its_last_words(monkeypatch, tmp_path):
    binary = tmp_path / "forebay"
    binary.write_text("#!/bin/sh\necho no such luck >&2\nexit 3\n")
    binary.chmod(0o700)
    monkeypatch.setenv("FOREBAY_BIN", str(binary))
    with pytest.raises(forebay.AttachError, match=r"died 4 times.*exit status: 3(.|\n)*no such luck"):
        forebay.Loader(tmp_path, batch_size=4, size=32)
