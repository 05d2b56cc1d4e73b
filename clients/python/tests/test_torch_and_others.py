"""Trainers of different frameworks on one stream at once, each in a process of its own."""

import importlib.util

import pytest

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]

# Tells what the framework has got of each batch: the sum of its pixels, and its labels.
LOOPS = {
    "numpy": "epoch = lambda: ((batch.images, batch.labels) for batch in loader)",
    "torch": "batches = loader.torch(copy=False); epoch = lambda: batches",
    "jax": "import forebay.jax; batches = forebay.jax.batches(loader); epoch = lambda: batches",
    "tensorflow": "import forebay.tf; batches = forebay.tf.dataset(loader, copy=False); epoch = lambda: batches",
}
# Who comes when the first epoch has begun has the second one whole.
TRAINER = """
import numpy as np
loader = forebay.Loader("stream:train", socket=socket, join="epoch")
print("attached", flush=True)
input()
exec(loop)
for _ in range(2):
    for images, labels in epoch():
        print(int(np.asarray(images).astype(np.int64).sum()), *np.asarray(labels).tolist(), flush=True)
"""


def test_rule_42_trainers_of_each_framework_get_every_batch_of_one_stream(service, pictures, trainer):
    there = [name for name in LOOPS if importlib.util.find_spec(name)]
    if len(there) < 2:
        pytest.skip("no second framework is installed beside numpy; `make test-torch` installs one")
    daemon = service(pictures(40, classes=4), batch_size=8, size=8, shuffle=True, epochs=2, groups="each")
    running = [trainer(TRAINER, socket=daemon.socket, loop=LOOPS[name]) for name in there]
    for process in running:
        assert process.stdout.readline() == "attached\n"
    for process in running:
        process.stdin.write("\n")
        process.stdin.flush()
    second = {name: process.stdout.readlines()[-5:] for name, process in zip(there, running)}
    assert len(second["numpy"]) == 5
    for name in there:
        assert second[name] == second["numpy"], name
