"""The training loops for PyTorch in `examples/`, with either loader. Skipped if PyTorch is not installed."""

import warnings

import pytest
import trials

torch = pytest.importorskip("torch", reason="PyTorch is not installed; `make test-torch` installs it")
pytest.importorskip("torchvision", reason="torchvision is not installed; `make test-torch` installs it")

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]


def to_classify(folder, loader, *given, seed):
    """The words of a trial of the classification loop."""
    return trials.words(folder, "--loader", loader, "--model", "tiny", *given, seed=seed)


def classified(folder, loader, *given, seed):
    """A trial of the classification loop."""
    return trials.example("torch_classification")(to_classify(folder, loader, *given, seed=seed))


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


@pytest.mark.parametrize(
    ("loader", "given"), [("torch", ["--plain"]), ("torch", []), ("forebay", ["--mixup-alpha", "0"]), ("forebay", [])]
)
def test_a_job_that_is_resumed_has_the_losses_of_one_that_was_not_interrupted(tmp_path, loader, given):
    folder = trials.folders(tmp_path)
    trials.assert_resumed(lambda *words: classified(folder, loader, *given, *words, seed=1), tmp_path / "job.pt")


def test_a_job_that_is_killed_goes_on_in_the_middle_of_its_epoch(tmp_path):
    words = to_classify(trials.folders(tmp_path), "forebay", seed=1)
    trials.assert_resumed_within_an_epoch("torch_classification", words, tmp_path / "job.pt")


def test_a_job_with_the_dataloader_of_pytorch_goes_on_after_its_last_epoch_and_says_so(tmp_path):
    words = to_classify(trials.folders(tmp_path), "torch", seed=1)
    trials.assert_resumed_after_an_epoch("torch_classification", words, tmp_path / "job.pt")


def to_train_timm(folder, loader, *given, seed):
    """The words of a trial of the loop of timm."""
    pytest.importorskip("timm", reason="timm is not installed; `make test-torch` installs it")
    words = trials.words(folder, "--loader", loader, "--model", "test_resnet", *given, seed=seed)
    # Batches of six make the statistics of this model coarse: it learns in smaller steps.
    return [*words, "--lr", "0.02"]


def timm_trained(folder, loader, *given, seed):
    """A trial of the loop of timm."""
    return trials.example("timm_train")(to_train_timm(folder, loader, *given, seed=seed))


def test_the_loop_of_timm_has_the_same_loss_in_each_step_with_either_loader(tmp_path):
    folder = trials.folders(tmp_path)
    for seed in trials.SEEDS:
        ours, theirs = (timm_trained(folder, loader, "--plain", seed=seed) for loader in ("forebay", "timm"))
        trials.assert_equal(ours, theirs)
        assert ours["right"] == theirs["right"]
        assert ours["validated"] == theirs["validated"] == [21] * trials.EPOCHS


def test_the_loop_of_timm_learns_alike_with_orders_augmentations_and_mixup_of_their_own(tmp_path):
    folder = trials.folders(tmp_path)
    trained = {
        loader: [timm_trained(folder, loader, seed=seed) for seed in trials.SEEDS] for loader in ("forebay", "timm")
    }
    trials.assert_alike(trained["forebay"], trained["timm"])


def test_a_job_of_timm_that_is_resumed_has_the_losses_of_one_that_was_not_interrupted(tmp_path):
    folder = trials.folders(tmp_path)
    trials.assert_resumed(
        lambda *words: timm_trained(folder, "forebay", "--mixup-alpha", "0", *words, seed=1), tmp_path / "job.pt"
    )


def test_a_job_of_timm_that_is_killed_goes_on_in_the_middle_of_its_epoch(tmp_path):
    words = to_train_timm(trials.folders(tmp_path), "forebay", seed=1)
    trials.assert_resumed_within_an_epoch("timm_train", words, tmp_path / "job.pt")


def test_a_job_with_the_loader_of_timm_goes_on_after_its_last_epoch_and_says_so(tmp_path):
    words = to_train_timm(trials.folders(tmp_path), "timm", "--plain", seed=1)
    trials.assert_resumed_after_an_epoch("timm_train", words, tmp_path / "job.pt")


def to_fit(folder, loader, *given, seed):
    """The words of a trial of the Lightning module."""
    pytest.importorskip("lightning", reason="Lightning is not installed; `make test-torch` installs it")
    return trials.words(folder / "train", folder / "val", "--loader", loader, *given, seed=seed)


def fitted(folder, loader, *given, seed):
    """A trial of the Lightning module."""
    return trials.example("lightning_module")(to_fit(folder, loader, *given, seed=seed))


def test_the_lightning_module_has_the_same_loss_with_either_loader_and_lightning_warns_of_neither(tmp_path):
    folder = trials.folders(tmp_path)

    def trial(loader, seed):
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            return fitted(folder, loader, "--plain", seed=seed), {str(each.message) for each in warned}

    for seed in trials.SEEDS:
        (ours, warned), (theirs, warned_of_theirs) = trial("forebay", seed), trial("torch", seed)
        trials.assert_equal(ours, theirs)
        assert ours["right"] == theirs["right"]
        assert ours["validated"] == theirs["validated"] == [21] * trials.EPOCHS
        assert warned <= warned_of_theirs, warned - warned_of_theirs


def test_the_lightning_module_learns_alike_with_orders_flips_and_mixup_of_their_own(tmp_path):
    folder = trials.folders(tmp_path)
    ours, theirs = ([fitted(folder, loader, seed=seed) for seed in trials.SEEDS] for loader in ("forebay", "torch"))
    trials.assert_alike(ours, theirs)


@pytest.mark.parametrize(
    ("loader", "given"), [("torch", ["--plain"]), ("forebay", ["--mixup-alpha", "0"]), ("forebay", [])]
)
def test_a_lightning_module_that_is_resumed_has_the_losses_of_one_that_was_not_interrupted(tmp_path, loader, given):
    folder = trials.folders(tmp_path)
    trials.assert_resumed(lambda *words: fitted(folder, loader, *given, *words, seed=1), tmp_path / "job.ckpt")


def test_a_lightning_module_that_is_killed_goes_on_in_the_middle_of_its_epoch(tmp_path):
    words = to_fit(trials.folders(tmp_path), "forebay", seed=1)
    trials.assert_resumed_within_an_epoch("lightning_module", words, tmp_path / "job.ckpt")


def test_a_lightning_module_with_the_dataloader_of_pytorch_goes_on_after_its_last_epoch_and_says_so(tmp_path):
    words = to_fit(trials.folders(tmp_path), "torch", "--plain", seed=1)
    trials.assert_resumed_after_an_epoch("lightning_module", words, tmp_path / "job.ckpt")
