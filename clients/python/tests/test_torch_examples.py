"""The training loops for PyTorch in `examples/`, with either loader. Skipped if PyTorch is not installed."""

import warnings

import pytest
import trials

torch = pytest.importorskip("torch", reason="PyTorch is not installed; `make test-torch` installs it")
pytest.importorskip("torchvision", reason="torchvision is not installed; `make test-torch` installs it")

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]


def classified(folder, loader, *given, seed):
    """A trial of the classification loop."""
    words = trials.words(folder, "--loader", loader, "--model", "tiny", *given, seed=seed)
    return trials.example("torch_classification")(words)


@pytest.mark.parametrize("seed", trials.SEEDS)
def test_the_classification_loop_has_the_same_loss_in_each_step_with_either_loader(tmp_path, seed):
    folder = trials.folders(tmp_path)
    ours, theirs = (classified(folder, loader, "--plain", seed=seed) for loader in ("forebay", "torch"))
    trials.assert_equal(ours, theirs)
    assert ours["right"] == theirs["right"]
    assert ours["validated"] == theirs["validated"] == [21] * trials.EPOCHS


def test_the_classification_loop_learns_alike_with_orders_crops_and_mixup_of_their_own(tmp_path):
    folder = trials.folders(tmp_path)
    ours, theirs = ([classified(folder, loader, seed=seed) for seed in trials.SEEDS] for loader in ("forebay", "torch"))
    trials.assert_alike(ours, theirs)


@pytest.mark.parametrize(("loader", "given"), [("torch", ["--plain"]), ("forebay", ["--mixup-alpha", "0"])])
def test_a_job_that_is_resumed_has_the_losses_of_one_that_was_not_interrupted(tmp_path, loader, given):
    folder = trials.folders(tmp_path)
    whole = classified(folder, loader, *given, seed=1)
    checkpoint = ["--resume", tmp_path / "job.pt"]
    first = classified(folder, loader, *given, *checkpoint, "--stop-after", 1, seed=1)
    rest = classified(folder, loader, *given, *checkpoint, seed=1)
    assert len(first["losses"]) == 20
    assert first["losses"] + rest["losses"] == pytest.approx(whole["losses"], rel=1e-4)
    assert first["right"] + rest["right"] == whole["right"]


def test_the_lightning_module_has_the_same_loss_with_either_loader_and_lightning_warns_of_neither(tmp_path):
    pytest.importorskip("lightning", reason="Lightning is not installed; `make test-torch` installs it")
    folder = trials.folders(tmp_path)
    fit = trials.example("lightning_module")
    given = (folder / "train", folder / "val", "--plain")

    def trial(loader):
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            return fit(trials.words(*given, "--loader", loader, seed=1)), {str(each.message) for each in warned}

    (ours, warned), (theirs, warned_of_theirs) = trial("forebay"), trial("torch")
    trials.assert_equal(ours, theirs)
    assert (ours["right"], ours["validated"]) == (theirs["right"], 21)
    assert warned <= warned_of_theirs, warned - warned_of_theirs
