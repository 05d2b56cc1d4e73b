"""A loader that nothing refers to any more gives its ring back at once, without the cycle collector."""

import gc
import weakref
from pathlib import Path

import forebay
import pytest

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]


@pytest.fixture(autouse=True)
def without_collector():
    """Nothing but the counts of references frees an object."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def mapped():
    """Rings that this process has mapped."""
    return sum("memfd:forebay" in line for line in Path("/proc/self/maps").read_text().splitlines())


def forget(make, use):
    """Makes and uses a loader, and lets it go. Gives whether it is gone, and what is mapped."""
    loader = make()
    use(loader)
    held = mapped()
    gone = weakref.ref(loader)
    del loader
    return gone() is None, held, mapped()


def whole(loader):
    for _ in loader:
        pass


def partly(loader):
    next(iter(loader))


@pytest.mark.parametrize("use", [whole, partly, len, repr, id])
@pytest.mark.parametrize("kind", ["loader", "tensors", "data_loader"])
def test_a_forgotten_loader_unmaps_its_ring(pictures, kind, use):
    folder = pictures(8)
    settings = {"batch_size": 4, "size": 8, "shuffle": True, "seed": 0}
    if kind == "loader":
        make = lambda: forebay.Loader(folder, **settings)  # noqa: E731 - one of three
    else:
        pytest.importorskip("torch", reason="PyTorch is not installed; `make test-torch` installs it")
        from forebay.torch import DataLoader

        make = {
            "tensors": lambda: forebay.Loader(folder, **settings).torch(),
            "data_loader": lambda: DataLoader(folder, **settings),
        }[kind]
    before = mapped()
    for _ in range(3):
        is_gone, held, left = forget(make, use)
        assert is_gone
        assert held > before
        assert left == before


def test_a_sampler_outlives_its_data_loader_and_says_so(pictures):
    pytest.importorskip("torch", reason="PyTorch is not installed; `make test-torch` installs it")
    from forebay.torch import DataLoader

    loader = DataLoader(pictures(8), batch_size=4, size=8)
    sampler = loader.sampler
    sampler.set_epoch(1)
    assert (len(sampler), loader.epoch) == (8, 1)
    del loader
    with pytest.raises(forebay.ClosedError, match="keep the DataLoader"):
        len(sampler)
