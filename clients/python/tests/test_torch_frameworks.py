"""Frameworks that look inside a DataLoader: jobs of two ranks that are killed, and continued with two or with one."""

import importlib.util
import json
import subprocess
import sys
import warnings

import forebay
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed; `make test-torch` installs it")
import torch_jobs  # noqa: E402 - it imports PyTorch
from forebay.torch import DataLoader  # noqa: E402 - the same

# A step of two ranks has 8 records, and an epoch 5 steps, the last one with a copy.
RECORDS, STEPS = 37, 5
# In the second epoch, one step behind its first checkpoint, which is one step behind the epoch's beginning.
DIE_AT, SAVED_AT = 7, 6
PACKAGES = {"lightning": "lightning", "accelerate": "accelerate", "trainer": "transformers"}

pytestmark = [pytest.mark.daemon, pytest.mark.originals, pytest.mark.usefixtures("binary")]


def job(framework, ranks, folder, output, *words):
    """Runs a job to its end: its status, what it printed, and what each rank trained on in this start."""
    launch = ["-m", "torch.distributed.run", "--standalone", f"--nproc_per_node={ranks}"] if ranks > 1 else []
    command = [sys.executable, *launch, torch_jobs.__file__, framework, str(folder), str(output), *words]
    before = set(output.glob("rank-*")) if output.is_dir() else set()
    ended = subprocess.run(command, capture_output=True, text=True)
    files = sorted(set(output.glob("rank-*")) - before)
    noted = [[json.loads(line) for line in file.read_text().splitlines()] for file in files]
    return ended, noted


def records_of(noted, epoch):
    """The records of all ranks in an epoch."""
    return [record for rank in noted for line in rank if line["epoch"] == epoch for record in line["records"]]


@pytest.mark.parametrize("ranks", [2, 1])
@pytest.mark.parametrize("framework", PACKAGES)
def test_a_job_that_is_killed_in_its_second_epoch_goes_on_with_the_next_record(pictures, tmp_path, framework, ranks):
    if importlib.util.find_spec(PACKAGES[framework]) is None:
        pytest.skip(f"{PACKAGES[framework]} is not installed; `make originals` installs it")
    folder, output = pictures(RECORDS, classes=2), tmp_path / "job"
    ended, killed = job(framework, 2, folder, output, "--die-at", str(DIE_AT))
    assert ended.returncode != 0
    assert len(killed) == 2, ended.stderr[-3000:]
    # One copy, so that both ranks have as many.
    assert sorted(set(records_of(killed, 0))) == list(range(RECORDS))
    assert len(records_of(killed, 0)) == RECORDS + 1
    saved = [[line for line in rank if line["step"] < SAVED_AT] for rank in killed]
    ended, rest = job(framework, ranks, folder, output)
    assert ended.returncode == 0, ended.stderr[-3000:]
    assert len(rest) == ranks
    # All records of the epoch, of which those before the checkpoint are not read again.
    copies = 1 if ranks == 2 else 0
    for epoch, before in ((1, records_of(saved, 1)), (2, [])):
        after = records_of(rest, epoch)
        assert sorted({*before, *after}) == list(range(RECORDS))
        assert len(before) + len(after) == RECORDS + copies
    assert {line["step"] for line in rest[0]} == set(range(SAVED_AT, torch_jobs.EPOCHS * STEPS))
    # The steps have the records that they would have had.
    again = sorted(record for rank in rest for line in rank if line["step"] == SAVED_AT for record in line["records"])
    assert again == sorted(
        record for rank in killed for line in rank if line["step"] == SAVED_AT for record in line["records"]
    )
    if framework == "accelerate":
        for rank in (*killed, *rest):
            check_paces(rank)


def check_paces(rank):
    """The optimizer steps after each second batch and at an epoch's end, and the scheduler with it."""
    steps = 0
    for line in rank:
        at = line["step"] % STEPS
        # A state is loaded where the optimizer has just stepped, or Accelerate continues its own count.
        assert line["stepped"] == (at in (1, 3, 4)), line
        steps = line["scheduler"] if line is rank[0] else steps + line["stepped"]
        assert line["scheduler"] == steps, line


def test_accumulate_sees_the_end_of_an_epoch_of_any_length_also_after_a_state(pictures):
    accelerate = pytest.importorskip("accelerate", reason="accelerate is not installed; `make originals` installs it")
    accelerator = accelerate.Accelerator(cpu=True, gradient_accumulation_steps=4)
    folder = pictures(29, classes=2)
    train, other = (accelerator.prepare(DataLoader(folder, 5, size=8)) for _ in range(2))

    def synced(loader):
        found = []
        for _ in loader:
            with accelerator.accumulate():
                found.append(accelerator.sync_gradients)
            if loader is train and len(found) == 2:
                # A loader within a loop over another one, left early and read whole.
                next(iter(other))
                assert len(list(other)) == 6
                assert not accelerator.gradient_state.end_of_dataloader
        return found

    assert synced(train) == [False, False, False, True, False, True]
    assert synced(train) == [False, False, False, True, False, True]
    assert not accelerator.gradient_state.in_dataloader
    begun = iter(train)
    next(begun)
    state = json.loads(json.dumps(train.state_dict()))
    assert state["batches_left"] == 5
    train.load_state_dict(state)
    del begun
    assert synced(train) == [False, False, False, True, True]
    assert train.state_dict()["batches_left"] == 6
    for loader in (train, other):
        loader.close()


@pytest.mark.parametrize("num_workers", [0, 2])
def test_a_loader_that_accelerate_cannot_rebuild_is_refused_by_name(pictures, num_workers):
    accelerate = pytest.importorskip("accelerate", reason="accelerate is not installed; `make originals` installs it")
    accelerator = accelerate.Accelerator(cpu=True)
    given = {"num_workers": num_workers, "persistent_workers": True, "prefetch_factor": 3}
    loader = accelerator.prepare(DataLoader(pictures(12), 5, size=8, **given))
    rest = accelerate.skip_first_batches(loader, 1)
    assert len(rest) == 2
    with pytest.raises(forebay.SettingsError, match=r"skip_first_batches.*register_for_checkpointing"):
        next(iter(rest))
    loader.close()


@pytest.mark.parametrize(("overfit", "batches"), [(3, 3), (0.6, 3)])
def test_lightning_overfits_the_first_batches_and_refuses_to_stop_a_shuffle_by_name(
    pictures, service, overfit, batches
):
    lightning = pytest.importorskip("lightning", reason="Lightning is not installed; `make originals` installs it")

    class Model(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer, self.seen = torch.nn.Linear(3 * 8 * 8, 1), []

        def training_step(self, batch, _):
            self.seen.append(batch[0][:, 0, 0, 0].int().tolist())
            return self.layer(batch[0].flatten(1).float()).mean()

        def validation_step(self, batch, _):
            pass

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.0)

    quiet = {
        "logger": False,
        "enable_checkpointing": False,
        "enable_progress_bar": False,
        "enable_model_summary": False,
    }
    folder = pictures(25)
    model, loaders = Model(), [DataLoader(folder, 5, size=8) for _ in range(2)]
    lightning.Trainer(accelerator="cpu", max_epochs=2, overfit_batches=overfit, **quiet).fit(model, *loaders)
    assert model.seen == 2 * [list(range(5 * n, 5 * n + 5)) for n in range(batches)]
    shuffled = DataLoader(folder, 5, size=8, shuffle=True)
    assert shuffled.sampler is shuffled.sampler, "others may look at it"
    trainer = lightning.Trainer(accelerator="cpu", max_epochs=1, overfit_batches=overfit, **quiet)
    with pytest.raises(forebay.SettingsError, match=r"overfit_batches.*shuffle=False"):
        trainer.fit(Model(), shuffled)
    # The daemon decides on the order of a stream.
    daemon = service(folder, batch_size=5, size=8, shuffle=True)
    streamed = DataLoader("stream:train", socket=daemon.socket)
    with pytest.raises(
        forebay.SettingsError, match=r"overfit_batches.*shuffle = false in the table \[streams\.train\]"
    ):
        trainer.fit(Model(), streamed)
    for loader in (*loaders, shuffled, streamed):
        loader.close()
    daemon.end()
    daemon = service(folder, batch_size=5, size=8, shuffle=False, layout="NCHW", run="in order")
    model, loader = Model(), DataLoader("stream:train", shuffle=False, socket=daemon.socket)
    lightning.Trainer(accelerator="cpu", max_epochs=2, overfit_batches=overfit, **quiet).fit(model, loader)
    assert model.seen == 2 * [list(range(5 * n, 5 * n + 5)) for n in range(batches)]
    loader.close()


def test_trainers_own_resume_within_an_epoch_is_refused_by_name(pictures, tmp_path):
    transformers = pytest.importorskip("transformers", reason="not installed; `make originals` installs it")
    example = torch_jobs.hf_trainer()
    settings = transformers.TrainingArguments(
        str(tmp_path), num_train_epochs=1, per_device_train_batch_size=4, save_steps=2, use_cpu=True, report_to=[]
    )
    trainer = example.Trained(str(pictures(20, classes=2)), None, model=example.Classifier(2), args=settings)
    trainer.train()
    assert trainer.state.global_step == 5
    with pytest.raises(forebay.SettingsError, match=r"resume_from_checkpoint.*ignore_data_skip=True.*hf_trainer.py"):
        trainer.train(resume_from_checkpoint=str(tmp_path / "checkpoint-2"))
    # At the end of an epoch, there is nothing to skip.
    settings.num_train_epochs = 2
    trainer.train(resume_from_checkpoint=str(tmp_path / "checkpoint-5"))
    assert trainer.state.global_step == 10


def test_a_scheduler_that_steps_for_all_processes_is_refused_by_name(pictures, monkeypatch):
    accelerate = pytest.importorskip("accelerate", reason="accelerate is not installed; `make originals` installs it")
    accelerator = accelerate.Accelerator(cpu=True)
    optimizer = torch.optim.SGD(torch.nn.Linear(1, 1).parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.ConstantLR(optimizer)
    loader = DataLoader(pictures(12), 5, size=8)
    prepared = accelerator.prepare(optimizer, scheduler)
    monkeypatch.setitem(accelerate.PartialState._shared_state, "num_processes", 3)
    with pytest.raises(forebay.SettingsError, match=r"takes 3 steps.*split_batches=True"):
        iter(loader)
    # A DataLoader of Accelerate's own may be what the scheduler is about.
    theirs = accelerate.data_loader.DataLoaderShard(torch.zeros(4, 1))
    assert len(list(loader)) == 3
    del theirs
    prepared[1].split_batches = True
    assert len(list(loader)) == 3
    loader.close()


def test_copies_in_the_last_batches_of_ranks_are_said_to_accelerate(pictures, monkeypatch):
    folder = pictures(13)
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("RANK", "1")
    uneven, even = DataLoader(folder, 3, size=8), DataLoader(folder, 3, size=8, drop_last=True)
    with pytest.warns(UserWarning, match="gather_for_metrics.. counts copies. 2 ranks cannot share 13 records"):
        assert uneven.remainder == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert even.remainder == 0
    for loader in (uneven, even):
        loader.close()


def ranks_of(folder, monkeypatch, world, batch, **settings):
    """The DataLoaders of all ranks of a job."""
    loaders = []
    monkeypatch.setenv("WORLD_SIZE", str(world))
    for rank in range(world):
        monkeypatch.setenv("RANK", str(rank))
        loaders.append(DataLoader(folder, batch, True, size=8, seed=5, **settings))
    return loaders


def read(loaders, steps=None):
    """The records of so many steps, or of the rest of the epoch, without copies."""
    seen = []
    for loader in loaders:
        for step, (images, _) in enumerate(loader):
            seen.append(images[:, 0, 0, 0].tolist())
            if step + 1 == steps:
                break
    return sorted({record for records in seen for record in records})


@pytest.mark.parametrize("world", [1, 2, 3, 4])
def test_the_state_of_any_rank_is_that_of_all_whatever_their_number(pictures, monkeypatch, caplog, world):
    folder = pictures(50, classes=2)
    first = ranks_of(folder, monkeypatch, 3, 4)
    seen = read(first, 2)
    states = [loader.state_dict() for loader in first]
    assert states[0] == states[1] == states[2]
    assert (states[0]["global_batch"], states[0]["batches_left"]) == (12, 3)
    rest = ranks_of(folder, monkeypatch, world, 4)
    for loader in rest:
        loader.load_state_dict(json.loads(json.dumps(states[1])))
        assert (loader.batch_size, loader.epoch) == (12 // world, 0)
    assert ("reads 12 of them and not batch_size=4" in caplog.text) == (world == 1)
    after = read(rest)
    assert (len(seen), sorted([*seen, *after])) == (24, list(range(50)))
    assert read(rest) == list(range(50))
    for loader in (*first, *rest):
        loader.close()


def test_a_job_that_begins_with_one_process_in_lockstep_may_grow(pictures, monkeypatch):
    folder = pictures(31, classes=2)
    given = {"size": 8, "seed": 5, "shuffle": True}
    alone = DataLoader(folder, sharding=forebay.Lockstep(10, rank=0, world_size=1), **given)
    seen = read([alone], 2)
    state = alone.state_dict()
    ranks = ranks_of(folder, monkeypatch, 2, 5)
    for loader in ranks:
        loader.load_state_dict(state)
    assert sorted([*seen, *read(ranks)]) == list(range(31))
    # Without that, the state of one process says nothing of steps.
    monkeypatch.delenv("WORLD_SIZE")
    plain = DataLoader(folder, 10, **given)
    with pytest.raises(forebay.Error, match="another dataset or order"):
        ranks[0].load_state_dict(plain.state_dict())
    for loader in (alone, plain, *ranks):
        loader.close()


def test_steps_that_the_ranks_cannot_share_are_refused_with_the_numbers_that_can(pictures, monkeypatch):
    folder = pictures(50, classes=2)
    (first, second) = ranks_of(folder, monkeypatch, 2, 5)
    state = first.state_dict()
    (other, *more) = ranks_of(folder, monkeypatch, 4, 5)
    with pytest.raises(forebay.SettingsError, match=r"steps have 10 records, which 4 ranks cannot.*: 1, 2, 5, 10"):
        other.load_state_dict(state)
    with pytest.raises(forebay.Error, match="another dataset or order"):
        other.load_state_dict({**state, "global_batch": 8, "snapshot": shuffled_otherwise(folder, monkeypatch)})
    # A refused state leaves the DataLoader as it was.
    assert (other.batch_size, len(read([other, *more]))) == (5, 50)
    chosen = DataLoader(folder, 5, True, size=8, seed=5, sharding=forebay.Shard(0, 1))
    with pytest.raises(forebay.Error, match="another dataset or order"):
        chosen.load_state_dict(state)
    for loader in (first, second, other, *more, chosen):
        loader.close()


def shuffled_otherwise(folder, monkeypatch):
    """The snapshot of a job with another seed."""
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("RANK", "0")
    loader = DataLoader(folder, 4, True, size=8, seed=6)
    snapshot = loader.state_dict()["snapshot"]
    loader.close()
    return snapshot


def test_a_state_of_a_shard_is_taken_by_the_rank_that_has_the_shard(pictures, monkeypatch):
    folder = pictures(20, classes=2)
    (*shards,) = (DataLoader(folder, 5, True, size=8, seed=5, sharding=forebay.Shard(rank, 2)) for rank in range(2))
    seen = read(shards, 1)
    # As DataLoaders saved them before they read in lockstep: each rank its own.
    states = [{**loader.loader.state_dict()} for loader in shards]
    ranks = ranks_of(folder, monkeypatch, 2, 5)
    for loader, state in zip(ranks, states):
        loader.load_state_dict(state)
    after = read(ranks)
    assert (len(seen), sorted([*seen, *after])) == (10, list(range(20)))
    for loader in (*shards, *ranks):
        loader.close()


@pytest.mark.parametrize(
    "given", [{"sharding": forebay.Shard(stick_to_shard=True)}, {"sharding": forebay.Shard()}, {"run": "kept"}]
)
def test_who_asks_for_what_shards_have_gets_a_shard(pictures, monkeypatch, tmp_path, given):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    folder = pictures(20, classes=2)
    loaders = ranks_of(folder, monkeypatch, 2, 5, **given)
    state = loaders[0].state_dict()
    assert "global_batch" not in state
    assert read(loaders) == list(range(20))
    with pytest.raises(forebay.Error, match="another dataset or order"):
        loaders[1].load_state_dict(state)
    for loader in loaders:
        loader.close()
