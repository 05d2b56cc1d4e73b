"""The training loop for JAX in `examples/`, with either loader. Skipped if JAX or Pillow is not installed."""

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
