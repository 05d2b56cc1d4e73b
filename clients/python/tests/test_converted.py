"""Loaders that convert batches, without any framework."""

import copy
import inspect
import pickle

import forebay
import pytest
from forebay.batches import Batches
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


class Counted(forebay.Loader):
    """Keeps a number of its own beside the batches."""

    steps = 0

    def state_dict(self):
        return {**super().state_dict(), "steps": self.steps}

    def load_state_dict(self, state):
        self.steps = state["steps"]
        super().load_state_dict({name: value for name, value in state.items() if name != "steps"})

    def close(self):
        self.steps = None
        super().close()


def test_a_subclass_of_loader_keeps_its_own_state(pictures):
    source = pictures(12)
    with Converted(Counted(source, batch_size=4, size=8, epochs=1), colours) as reds:
        assert reds.next() == [0, 1, 2, 3]
        reds.loader.steps = 17
        state = reds.state_dict()
    assert reds.loader.steps is None
    with Converted(Counted(source, batch_size=4, size=8, epochs=1), colours) as reds:
        reds.load_state_dict(state)
        assert reds.loader.steps == 17
        assert list(reds) == [[4, 5, 6, 7], [8, 9, 10, 11]]


def test_everything_that_a_subclass_of_loader_overrides_is_used(pictures):
    names = [name for name in vars(Batches) if not name.startswith("_") and name != "next"]
    properties = [name for name in names if isinstance(vars(Batches)[name], property)]
    methods = [name for name in names if name not in properties]
    assert {"placement", "classes"} <= set(properties)
    assert {"pin", "close"} <= set(methods)

    def method(name):
        return lambda _, *args, **kwargs: (name, args, kwargs)

    def draw(loader, timeout=None):
        number, batch = forebay.Loader._draw(loader, timeout)
        return number, None if batch is None else batch.copy()

    overridden = {
        **{name: property(lambda _, name=name: name) for name in properties},
        **{name: method(name) for name in methods},
        "__len__": lambda _: 41,
        "_draw": draw,
    }
    loader = type("Overridden", (forebay.Loader,), overridden)(pictures(4), batch_size=4, size=8)
    try:
        own = Converted(loader, lambda batch: batch)
        assert len(own) == 41
        assert [getattr(own, name) for name in properties] == properties
        for name in methods:
            assert getattr(own, name)(1, two=2) == (name, (1,), {"two": 2})
        assert own.next().images.flags.writeable, "only a copy is"
    finally:
        forebay.Loader.close(loader)


class Again(forebay.Loader):
    """Is made anew where it is unpickled."""

    def __init__(self, source):
        super().__init__(source, batch_size=4, size=8, epochs=1)
        self.source = source

    def __reduce__(self):
        return Again, (self.source,)


def test_it_can_be_pickled_if_its_loader_can(pictures):
    with Again(pictures(4)) as loader:
        twin = pickle.loads(pickle.dumps(Converted(loader, colours)))
        with twin:
            assert twin.loader is not loader
            assert list(twin) == list(Converted(loader, colours)) == [[0, 1, 2, 3]]
    with Converted(forebay.Loader(pictures(4), batch_size=4, size=8), colours) as reds:
        with pytest.raises(TypeError, match="bound to the process that made it"):
            pickle.dumps(reds)
        assert copy.copy(reds).loader is reds.loader


def test_it_documents_every_method_itself():
    names = [name for name in dir(forebay.Loader) if not name.startswith("_") and name != "torch"]
    assert len(names) > 10
    for name in names:
        assert len(getattr(Converted, name).__doc__) > 20, name
        if callable(getattr(Converted, name)):
            assert inspect.signature(getattr(Converted, name)) == inspect.signature(getattr(forebay.Loader, name))
