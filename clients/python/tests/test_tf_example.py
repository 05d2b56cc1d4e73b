"""The training loop for Keras in `examples/`, with either dataset. Skipped if TensorFlow is not installed."""

import pytest
import trials

pytest.importorskip("tensorflow", reason="TensorFlow is not installed; `make test-tf` installs it")

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]


def to_fit(folder, loader, *given, seed):
    """The words of a trial of `fit`."""
    return trials.words(folder / "train", folder / "val", "--loader", loader, *given, seed=seed)


def fitted(folder, loader, *given, seed):
    """A trial of `fit`."""
    return trials.example("keras_fit")(to_fit(folder, loader, *given, seed=seed))


def test_fit_has_the_same_loss_in_each_step_and_counts_each_picture_once_with_either_dataset(tmp_path):
    folder = trials.folders(tmp_path)
    for seed in trials.SEEDS:
        ours, theirs = (fitted(folder, loader, "--plain", seed=seed) for loader in ("forebay", "keras"))
        trials.assert_equal(ours, theirs)
        assert ours["accuracy"] == pytest.approx(theirs["accuracy"])
        assert ours["right"] == theirs["right"]
        assert ours["validated"] == theirs["validated"] == [21] * trials.EPOCHS


def test_fit_learns_alike_with_orders_and_mixup_of_their_own(tmp_path):
    folder = trials.folders(tmp_path)
    ours, theirs = ([fitted(folder, loader, seed=seed) for seed in trials.SEEDS] for loader in ("forebay", "keras"))
    trials.assert_alike(ours, theirs)


@pytest.mark.parametrize(("loader", "given"), [("keras", ["--plain"]), ("forebay", [])])
def test_a_job_of_fit_that_is_resumed_has_the_losses_of_one_that_was_not_interrupted(tmp_path, loader, given):
    folder = trials.folders(tmp_path)
    trials.assert_resumed(lambda *words: fitted(folder, loader, *given, *words, seed=1), tmp_path / "job")


@pytest.mark.parametrize("given", [[], ["--mixup-alpha", "0"]])
def test_a_job_of_fit_that_is_killed_goes_on_in_the_middle_of_its_epoch(tmp_path, given):
    words = to_fit(trials.folders(tmp_path), "forebay", *given, seed=1)
    trials.assert_resumed_within_an_epoch("keras_fit", words, tmp_path / "job")


def test_a_job_of_fit_with_the_dataset_of_keras_goes_on_after_its_last_epoch_and_says_so(tmp_path):
    words = to_fit(trials.folders(tmp_path), "keras", "--plain", seed=1)
    trials.assert_resumed_after_an_epoch("keras_fit", words, tmp_path / "job")
