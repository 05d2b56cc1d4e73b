"""The training loop for Keras in `examples/`, with either dataset. Skipped if TensorFlow is not installed."""

import pytest
import trials

pytest.importorskip("tensorflow", reason="TensorFlow is not installed; `make test-tf` installs it")

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]


def fitted(folder, loader, *given, seed):
    """A trial of `fit`."""
    words = trials.words(folder / "train", folder / "val", "--loader", loader, *given, seed=seed)
    return trials.example("keras_fit")(words)


def test_fit_has_the_same_loss_in_each_step_and_the_same_accuracy_with_either_dataset(tmp_path):
    folder = trials.folders(tmp_path)
    for seed in trials.SEEDS:
        ours, theirs = (fitted(folder, loader, "--plain", seed=seed) for loader in ("forebay", "keras"))
        trials.assert_equal(ours, theirs)
        assert ours["accuracy"] == pytest.approx(theirs["accuracy"])


def test_fit_learns_alike_with_orders_of_their_own(tmp_path):
    folder = trials.folders(tmp_path)
    ours, theirs = ([fitted(folder, loader, seed=seed) for seed in trials.SEEDS] for loader in ("forebay", "keras"))
    trials.assert_alike(ours, theirs)
