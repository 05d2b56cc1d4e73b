"""What Forebay asks the frameworks that a trainer has imported."""

import sys
import types

import pytest
from forebay import frameworks
from forebay.frameworks.framework import Framework
from marks import CupyMark, JaxMark, Mark


@pytest.fixture(autouse=True)
def nothing_imported(monkeypatch):
    """No framework is there, whatever this interpreter has imported."""
    for framework in frameworks.FRAMEWORKS:
        monkeypatch.delitem(sys.modules, framework.name, raising=False)


@pytest.fixture
def torch(monkeypatch):
    """PyTorch, as far as it is asked."""
    streams = {0: 0, 1: 17}
    module = types.ModuleType("torch")
    module.cuda = types.SimpleNamespace(
        is_initialized=lambda: True,
        current_device=lambda: 1,
        current_stream=lambda device: types.SimpleNamespace(cuda_stream=streams[device]),
    )
    module.distributed = types.SimpleNamespace(
        is_available=lambda: True, is_initialized=lambda: True, get_rank=lambda: 2, get_world_size=lambda: 4
    )
    monkeypatch.setitem(sys.modules, "torch", module)
    return module


def test_without_a_framework_every_answer_is_the_default():
    assert not frameworks.use_gpu()
    assert (frameworks.current_device(), frameworks.current_streams(0), frameworks.ranks()) == (0, [], None)
    assert "torch" not in sys.modules, "no framework is imported to be asked"


def test_pytorch_is_asked_once_it_has_initialised_cuda(torch):
    assert frameworks.use_gpu()
    assert frameworks.current_device() == 1
    assert frameworks.current_streams(1) == [17]
    assert frameworks.current_streams(0) == [], "the default stream is known anyway"
    torch.cuda.is_initialized = lambda: False
    assert not frameworks.use_gpu()
    assert (frameworks.current_device(), frameworks.current_streams(1)) == (0, [])


def test_ranks_are_those_of_an_initialised_process_group(torch):
    assert frameworks.ranks() == (2, 4, "torch.distributed")
    torch.distributed.is_initialized = lambda: False
    assert frameworks.ranks() is None
    del torch.distributed
    assert frameworks.ranks() is None


def test_rule_38_ranks_share_an_id_that_the_first_one_draws(torch):
    sent = []
    torch.distributed.broadcast_object_list = lambda ids, src: sent.append((list(ids), src))
    torch.distributed.get_rank = lambda: 0
    first, second = frameworks.common_id(), frameworks.common_id()
    assert sent == [([first], 0), ([second], 0)]
    assert first != second, "each load has its own"
    assert len(first) == 32
    torch.distributed.get_rank = lambda: 2
    torch.distributed.broadcast_object_list = lambda ids, **_src: ids.__setitem__(slice(None), [first])
    assert frameworks.common_id() == first


def test_rule_38_without_other_ranks_nobody_is_waited_for(torch):
    torch.distributed.get_world_size = lambda: 1
    assert frameworks.common_id() is None
    torch.distributed.is_initialized = lambda: False
    assert frameworks.common_id() is None


@pytest.mark.parametrize("name", ["cupy", "jax"])
def test_cupy_and_jax_use_a_gpu_as_soon_as_they_are_imported(monkeypatch, name):
    monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    assert frameworks.use_gpu()


@pytest.mark.parametrize("kind", [Mark, CupyMark, JaxMark])
def test_every_mark_can_be_asked_and_waited_for(kind):
    event = frameworks.event_of(kind())
    assert not event.query()
    event.synchronize()
    assert event.query()


def test_an_object_that_is_no_mark_is_refused_with_what_would_be_one():
    with pytest.raises(TypeError, match=r"query\(\).*cupy\.cuda\.Event.*jax\.Array"):
        frameworks.event_of(object())


def test_a_framework_is_added_by_a_class_and_a_line_of_the_table(monkeypatch):
    class Abacus(Framework):
        name = "abacus"
        marks = "a bead"

        def current_device(self):
            return 3

        def event(self, mark):
            return Mark() if mark == "bead" else None

        def dtype_name(self, dtype):
            return "uint8" if dtype == "beads" else None

    monkeypatch.setattr(frameworks, "FRAMEWORKS", (*frameworks.FRAMEWORKS, Abacus()))
    assert frameworks.current_device() == 3
    assert isinstance(frameworks.event_of("bead"), Mark)
    assert frameworks.dtype_name("beads") == "uint8"
    assert not frameworks.use_gpu(), "what it does not answer has a default"
    with pytest.raises(TypeError, match="a bead"):
        frameworks.event_of(object())
