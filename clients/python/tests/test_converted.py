"""Loaders that convert batches, without any framework."""

import forebay
import pytest
from forebay.converted import Converted

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]


def colours(batch):
    """Red of each picture, which is the record's number."""
    return batch.images[:, 0, 0, 0].tolist()


def test_each_batch_is_converted_and_everything_else_is_the_loader_s_own(pictures):
    with Converted(forebay.Loader(pictures(12, classes=2), batch_size=4, size=8, epochs=2), colours) as reds:
        assert len(reds) == len(reds.loader) == 3
        assert (reds.classes, reds.path(0), reds.placement) == (reds.loader.classes, reds.loader.path(0), "host")
        assert list(reds) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]
        state = reds.state_dict()
        assert reds.next() == [0, 1, 2, 3]
        reds.load_state_dict(state)
        assert reds.next() == [0, 1, 2, 3]
        reds.reset()
        assert [audit.abandoned for audit in reds.audit()] == [0, 8]
        assert (reds.next(), reds.quarantine) == (None, [])
    with pytest.raises(forebay.ClosedError):
        reds.loader.next()


def test_one_session_gives_batches_both_ways(pictures):
    with forebay.Loader(pictures(12), batch_size=4, size=8, epochs=1) as loader:
        reds = Converted(loader, colours)
        assert reds.next() == [0, 1, 2, 3]
        assert loader.next().records.tolist() == [4, 5, 6, 7]
        assert list(reds) == [[8, 9, 10, 11]]


def test_a_conversion_that_fails_loses_no_batch(pictures):
    failures = iter([True, True, False, True, False])

    def convert(batch):
        if next(failures):
            raise LookupError("mine")
        return colours(batch)

    with Converted(forebay.Loader(pictures(8), batch_size=4, size=8, epochs=1), convert) as reds:
        for _ in range(2):
            with pytest.raises(LookupError, match="mine"):
                reds.next()
        assert reds.next() == [0, 1, 2, 3]
        with pytest.raises(LookupError, match="mine"):
            list(reds)
        assert list(reds) == [[4, 5, 6, 7]]
        assert (reds.audit()[0].delivered, reds.audit()[0].repeats) == (8, {})


def test_it_documents_every_method_itself():
    names = [name for name in dir(forebay.Loader) if not name.startswith("_") and name != "torch"]
    assert len(names) > 10
    for name in names:
        assert len(getattr(Converted, name).__doc__) > 20, name
