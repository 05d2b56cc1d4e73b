"""Trains a softmax regression on batches of the node's daemon, with one rank or with torchrun and `--lockstep`."""

from __future__ import annotations

import argparse
import os

import forebay
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def main() -> None:
    """Trains for some epochs, and prints how many records this rank has seen."""
    parser = argparse.ArgumentParser(description="Trains a softmax regression.")
    parser.add_argument("--stream", required=True, help="the stream of the daemon")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--lockstep", action="store_true", help="the stream has assignment = lockstep")
    args = parser.parse_args()

    sharding = None
    if args.lockstep:
        dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
        sharding = forebay.Lockstep()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    # The daemon of a node may start after this pod.
    socket = os.environ["FOREBAY_SOCKET"]
    with forebay.Loader(f"stream:{args.stream}", socket=socket, sharding=sharding, wait="10m") as loader:
        model: nn.Module | None = None
        records = 0
        for epoch in range(args.epochs):
            for batch in loader.torch(device=device):
                images = batch.images.float().flatten(1) / 255
                if model is None:
                    model = nn.Linear(images.shape[1], len(loader.classes)).to(device)
                    model = DistributedDataParallel(model) if args.lockstep else model
                    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
                loss = nn.functional.cross_entropy(model(images), batch.labels)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                records += batch.valid
            print(f"epoch {epoch}: {records} records so far")
    if args.lockstep:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
