"""Trains a small NaFlexVit of timm on pictures at their own aspect, in patches whose number differs from step to step.

Each batch is the dict that timm's own loader gives. Lengths take turns, and short steps have more pictures, so that all
steps have about as many patches. A run that is resumed has the losses of one that was not stopped.

    forebay index FOLDER --sizes
    python examples/naflex.py FOLDER --steps 50
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import forebay
import torch
from forebay import transforms
from timm.models.naflexvit import NaFlexVit, NaFlexVitCfg
from torch import nn

# Sides of a patch, and the numbers of patches that steps have in turn.
PATCH, LENGTHS = 16, [16, 36, 64]


def loader_of(args: argparse.Namespace) -> forebay.Loader:
    """The batches, with values from -1 to 1."""
    return forebay.Loader(
        forebay.Source(args.folder, index=args.index),
        shuffle=True,
        seed=args.seed,
        patches={"rule": "naflex", "patch": PATCH, "seq_lens": LENGTHS, "tokens": args.tokens, "divisor": 2},
        transform=[transforms.RandomHorizontalFlip(), transforms.Normalize((0.5,) * 3, (0.5,) * 3)],
        dtype="float32",
    )


def main() -> None:
    """Trains, and prints each step as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", help="a folder for each class")
    parser.add_argument("--index", help="an index with sizes; without it, that in the folder of indexes")
    parser.add_argument("--steps", type=int, default=50, help="steps of the whole run")
    parser.add_argument("--tokens", type=int, default=512, help="patches of a step")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--checkpoint", type=Path, help="where the run continues, and what is written at its end")
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    with loader_of(args) as loader:
        config = NaFlexVitCfg(patch_size=PATCH, embed_dim=48, depth=2, num_heads=2, pos_embed_grid_size=(8, 8))
        model = NaFlexVit(config, num_classes=len(loader.classes))
        optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
        criterion = nn.CrossEntropyLoss(reduction="none")
        step = 0
        if args.checkpoint is not None and args.checkpoint.exists():
            saved = torch.load(args.checkpoint)
            model.load_state_dict(saved["model"])
            optimizer.load_state_dict(saved["optimizer"])
            loader.load_state_dict(json.loads(saved["data"]))
            step = saved["step"]
        while step < args.steps:
            for inputs, batch in loader.torch(names="timm"):
                losses = criterion(model(inputs), batch.labels) * batch.mask
                # The mean over the records of the step on all ranks. Copies do not count.
                loss = losses.sum() / batch.planned[0]
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                step += 1
                told = {"step": step, "epoch": batch.epoch, "length": inputs["seq_len"], "pictures": len(batch.labels)}
                told["tokens"] = batch.planned_tokens[0].item()
                print(json.dumps({**told, "loss": loss.item()}), flush=True)
                if step == args.steps:
                    break
        if args.checkpoint is not None:
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}
            torch.save({**state, "data": json.dumps(loader.state_dict())}, args.checkpoint)


if __name__ == "__main__":
    main()
