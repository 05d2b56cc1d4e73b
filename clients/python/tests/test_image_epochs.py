"""The epoch of an ImageFolder, which processes share."""

import multiprocessing
import pickle

import forebay
import pytest
from forebay import transforms

RANDOM = [transforms.RandomResizedCrop(8), transforms.ColorJitter(0.4, 0.4, 0.4, 0.1)]


def _item(folder, index):
    return folder[index][0].tobytes()


def _serve_items(folder, requests):
    """A worker that lives as long as its parent asks for pictures."""
    while (index := requests.recv()) is not None:
        requests.send(_item(folder, index))


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers_that_run_already_notice_a_new_epoch(pictures, method):
    folder = forebay.ImageFolder(pictures(3, classes=1), RANDOM, seed=2)
    context = multiprocessing.get_context(method)
    ours, theirs = context.Pipe()
    worker = context.Process(target=_serve_items, args=(folder, theirs), daemon=True)
    worker.start()
    seen = []
    for epoch in (0, 5, 2**40):
        folder.set_epoch(epoch)
        ours.send(1)
        seen.append(ours.recv())
        assert seen[-1] == _item(folder, 1)
    assert folder.epoch == 2**40
    assert len(set(seen)) == 3
    # Other copies have an epoch of their own.
    copy = pickle.loads(pickle.dumps(folder))
    copy.set_epoch(7)
    assert (folder.epoch, copy.epoch) == (2**40, 7)
    ours.send(None)
    worker.join()


def test_a_folder_warns_once_if_epochs_repeat_their_choices(pictures, caplog):
    root = pictures(3, classes=1)
    folder = forebay.ImageFolder(root, RANDOM, seed=2)
    list(folder)
    assert not caplog.records, "one epoch is no repetition"
    for _ in range(2):
        list(folder)
    assert [record.name for record in caplog.records] == ["forebay"]
    assert "set_epoch" in caplog.records[0].getMessage()
    caplog.clear()
    for seed, epochs in ((None, False), (2, True)):
        folder = forebay.ImageFolder(root, RANDOM, seed=seed)
        for epoch in range(3):
            if epochs:
                folder.set_epoch(epoch)
            list(folder)
    assert not caplog.records
