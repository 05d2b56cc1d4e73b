"""Elastic training with torchrun: the job may go on with another number of ranks, in the middle of an epoch.

`torchrun --nproc_per_node=4 examples/elastic.py /data/pictures --checkpoint job.pt` trains with 4 ranks. Stop it, or
kill it, and start it with 2: it goes on after the last checkpoint, and each step has the records that it would have had
with 4. With `--nnodes=1:4 --max-restarts=10`, torchrun does that by itself when nodes come and go.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
from pathlib import Path

import forebay
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

# 840 and its multiples can be divided by 1 to 8 ranks. This one is for small datasets.
GLOBAL_BATCH = 24
SIDE = 32


def save(path: Path, content: dict[str, object]) -> None:
    """Rank 0 replaces the checkpoint, while the others wait."""
    dist.barrier()
    if dist.get_rank() == 0:
        partial = path.with_suffix(".partial")
        torch.save(content, partial)
        partial.replace(path)
    dist.barrier()


def main() -> None:
    """Trains, and prints what each rank has read since it began."""
    parser = argparse.ArgumentParser(description="Trains a softmax regression with torchrun.")
    parser.add_argument("source", help="folder with class folders")
    parser.add_argument("--checkpoint", type=Path, required=True, help="where the job's state is kept")
    parser.add_argument("--every", type=int, default=2, help="steps between checkpoints")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--die-at", type=int, help="kill a rank after so many steps, as a lost node would be")
    args = parser.parse_args()

    dist.init_process_group("gloo")
    loader = forebay.Loader(
        args.source, sharding=forebay.Lockstep(GLOBAL_BATCH), size=SIDE, shuffle=True, epochs=args.epochs
    )
    layer = torch.nn.Linear(SIDE * SIDE * 3, len(loader.classes))
    first, steps = 0, 0
    if args.checkpoint.exists():
        content = torch.load(args.checkpoint, weights_only=True)
        layer.load_state_dict(content["model"])
        loader.load_state_dict(content["loader"])
        first, steps = content["loader"]["epoch"], content["steps"]
    model = DistributedDataParallel(layer)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    began = steps

    for _epoch in range(first, args.epochs):
        for batch in loader.torch():
            # Copies at the end of an epoch have no weight.
            scores = model(batch.images.flatten(1).float() / 255)
            losses = torch.nn.functional.cross_entropy(scores, batch.labels, reduction="none")
            optimizer.zero_grad()
            (losses * batch.mask).mean().backward()
            optimizer.step()
            steps += 1
            if steps % args.every == 0:
                save(args.checkpoint, {"model": layer.state_dict(), "loader": loader.state_dict(), "steps": steps})
            if steps == args.die_at and dist.get_rank() == dist.get_world_size() - 1:
                os.kill(os.getpid(), signal.SIGKILL)
    # Each rank has a ledger of its own, which accounts for its part of each step since the checkpoint.
    audit = [each._asdict() for each in loader.audit()]
    print(json.dumps({"rank": dist.get_rank(), "steps": steps - began, "audit": audit}), flush=True)
    loader.close()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
