"""A training loop on batches of Forebay: softmax regression, in numpy, or in PyTorch where it is installed.

`python examples/train.py /data/pictures` reads a folder with class folders, `python examples/train.py stream:train` a
stream of a running `forebay serve`.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import forebay
import numpy as np

try:
    import torch
except ImportError:
    torch = None

# Pictures become squares of this many pixels before they are learnt from.
SIDE = 8
RATE = 0.02


class NumpySoftmax:
    """One linear layer and a softmax."""

    def __init__(self, features: int, classes: int) -> None:
        self.weights = np.zeros((features + 1, classes), np.float32)

    def step(self, features: np.ndarray, labels: np.ndarray) -> float:
        """Learns from a batch and gives its loss before that."""
        features = np.hstack([features, np.ones((len(features), 1), np.float32)])
        scores = features @ self.weights
        scores -= scores.max(axis=1, keepdims=True)
        chances = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        rows = np.arange(len(labels))
        loss = -np.log(chances[rows, labels] + 1e-12).mean()
        chances[rows, labels] -= 1.0
        self.weights -= RATE * features.T @ chances / len(labels)
        return float(loss)


class TorchSoftmax:
    """The same in PyTorch."""

    def __init__(self, features: int, classes: int) -> None:
        self.layer = torch.nn.Linear(features, classes)
        torch.nn.init.zeros_(self.layer.weight)
        self.optimizer = torch.optim.SGD(self.layer.parameters(), lr=RATE)

    def step(self, features: np.ndarray, labels: np.ndarray) -> float:
        """Learns from a batch and gives its loss before that."""
        scores = self.layer(torch.from_numpy(features))
        loss = torch.nn.functional.cross_entropy(scores, torch.from_numpy(labels.copy()))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def features(images: np.ndarray) -> np.ndarray:
    """Small, centred pictures, one per row; `images` is (n, height, width, 3) of uint8."""
    count, height, width, _ = images.shape
    squares = images[:, : height // SIDE * SIDE, : width // SIDE * SIDE]
    squares = squares.reshape(count, SIDE, height // SIDE, SIDE, width // SIDE, 3).mean(axis=(2, 4), dtype=np.float32)
    return squares.reshape(count, -1) / 64 - 2


def main() -> None:
    """Trains, a line per epoch."""
    parser = argparse.ArgumentParser(description="Trains a softmax regression on a folder of pictures, or on a stream.")
    parser.add_argument("source", help="folder with class folders, or stream:NAME")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--socket", help="socket of the daemon, where source is a stream")
    parser.add_argument("--report", type=Path, help="file for what was read, as JSON")
    args = parser.parse_args()

    if args.source.startswith("stream:"):
        loader = forebay.Loader(args.source, socket=args.socket)
    else:
        loader = forebay.Loader(args.source, batch_size=32, size=64, shuffle=True)
    classes = len(loader.classes)
    model = (TorchSoftmax if torch else NumpySoftmax)(SIDE * SIDE * 3, classes)

    records, batches, losses = 0, 0, []
    began = time.time()
    for epoch in range(args.epochs):
        epoch_losses = []
        for batch in loader:
            epoch_losses.append(model.step(features(batch.images), batch.labels))
            records += batch.valid
        batches += len(epoch_losses)
        losses.append(float(np.mean(epoch_losses)) if epoch_losses else None)
        if epoch_losses:
            print(f"epoch {epoch}: loss {losses[-1]:.3f} over {len(epoch_losses)} batches", flush=True)
    report = {"records": records, "batches": batches, "losses": losses, "began": began, "ended": time.time()}
    loader.close()
    if args.report:
        args.report.write_text(json.dumps(report))


if __name__ == "__main__":
    main()
