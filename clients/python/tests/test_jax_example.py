"""The training loops for JAX and Flax in `examples/`, with either loader. Skipped if JAX or Pillow is not installed."""

import pytest
import trials

pytest.importorskip("jax", reason="JAX is not installed; `make test-jax` installs it")
pytest.importorskip("PIL", reason="Pillow is not installed; `make test-jax` installs it")

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]


def looped(folder, loader, *given, seed):
    """A trial of the loop."""
    return trials.example("jax_loop")(trials.words(folder / "train", "--loader", loader, *given, seed=seed))


def test_the_loop_has_the_same_loss_in_each_step_with_either_loader(tmp_path):
    folder = trials.folders(tmp_path)
    for seed in trials.SEEDS:
        ours, theirs = (looped(folder, loader, "--plain", seed=seed) for loader in ("forebay", "plain"))
        trials.assert_equal(ours, theirs)


def test_the_loop_learns_alike_with_orders_of_their_own(tmp_path):
    folder = trials.folders(tmp_path)
    ours, theirs = ([looped(folder, loader, seed=seed) for seed in trials.SEEDS] for loader in ("forebay", "plain"))
    trials.assert_alike(ours, theirs)


def to_loop(folder, loader, *given, seed):
    """The words of a trial of the loop of Flax."""
    pytest.importorskip("flax", reason="Flax is not installed; `make test-jax` installs it")
    return trials.words(folder, "--loader", loader, *given, seed=seed)


def flax_looped(folder, loader, *given, seed):
    """A trial of the loop of Flax."""
    return trials.example("flax_loop")(to_loop(folder, loader, *given, seed=seed))


def test_the_loop_of_flax_has_the_same_loss_in_each_step_and_counts_each_picture_once_with_either_loader(tmp_path):
    folder = trials.folders(tmp_path)
    for seed in trials.SEEDS:
        ours, theirs = (flax_looped(folder, loader, "--plain", seed=seed) for loader in ("forebay", "plain"))
        trials.assert_equal(ours, theirs)
        assert ours["right"] == theirs["right"]
        assert ours["validated"] == theirs["validated"] == [21] * trials.EPOCHS


def test_the_loop_of_flax_learns_alike_with_orders_and_mixup_of_their_own(tmp_path):
    folder = trials.folders(tmp_path)
    trained = {
        loader: [flax_looped(folder, loader, seed=seed) for seed in trials.SEEDS] for loader in ("forebay", "plain")
    }
    trials.assert_alike(trained["forebay"], trained["plain"])


@pytest.mark.parametrize("loader", ["forebay", "plain"])
def test_a_job_of_flax_that_is_resumed_has_the_losses_of_one_that_was_not_interrupted(tmp_path, loader):
    folder = trials.folders(tmp_path)
    trials.assert_resumed(lambda *words: flax_looped(folder, loader, *words, seed=1), tmp_path / "job.flax")


def test_a_job_of_flax_that_is_killed_goes_on_in_the_middle_of_its_epoch(tmp_path):
    words = to_loop(trials.folders(tmp_path), "forebay", seed=1)
    trials.assert_resumed_within_an_epoch("flax_loop", words, tmp_path / "job.flax")


def test_a_job_of_flax_with_the_plain_loader_goes_on_after_its_last_epoch_and_says_so(tmp_path):
    words = to_loop(trials.folders(tmp_path), "plain", seed=1)
    trials.assert_resumed_after_an_epoch("flax_loop", words, tmp_path / "job.flax")
