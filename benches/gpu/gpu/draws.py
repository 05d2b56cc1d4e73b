"""The same records, cropped, resized and flipped at random, by GPU lanes and by the CPU lane, side by side."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from gpu.forebay import Forebay, many
from gpu.report import Results
from gpu.service import Service, serving

if TYPE_CHECKING:
    import numpy

# Lane and placement of each row, which is held against the CPU lane in the host.
ROWS = {
    "hardware": ("hardware", "host"),
    "hardware, GPU ring": ("hardware", "gpu:0"),
    "hardware-single": ("hardware-single", "host"),
    "gpu-huffman": ("gpu-huffman", "host"),
    "hybrid": ("hybrid", "host"),
}
# Every epoch draws anew: of 300 pictures these are 3000 crops for each row.
EPOCHS = 10
STREAM = """\
[streams.draws]
source = "{source}"
batch_size = 50
size = 224
shuffle = true
epochs = {epochs}
placement = "{placement}"
"""
# Pictures of a row of the sheet, its margin at the left, and the records that are shown.
SHOWN, MARGIN = 8, 130


@dataclass
class Row:
    """How far a lane's pictures are from the CPU lane's, and some of both."""

    name: str
    pictures: int = 0
    worst: int = 0
    sum: int = 0
    values: int = 0
    shown: list[tuple[numpy.ndarray, numpy.ndarray]] = field(default_factory=list)
    decoded_by: dict[str, int] = field(default_factory=dict)

    def add(self, cpu: numpy.ndarray, lane: numpy.ndarray) -> None:
        """One picture by both."""
        apart = abs(cpu.astype("int16") - lane)
        self.pictures += 1
        self.worst = max(self.worst, int(apart.max()))
        self.sum += int(apart.sum())
        self.values += apart.size
        if len(self.shown) < SHOWN:
            self.shown.append((cpu, lane))

    def figures(self) -> dict[str, Any]:
        """As a row of a table."""
        mean = self.sum / max(self.values, 1)
        told = {"lane": self.name, "pictures": self.pictures, "worst": self.worst, "mean": mean}
        return {**told, "decoded_by": self.decoded_by}


def run(forebay: Forebay, pictures: list[Path], results: Results) -> None:
    """A row for each lane, and a contact sheet of all."""
    try:
        import forebay as client
    except ImportError as error:
        reason = f"this Python has no {error.name}; FOREBAY_PYTHON names one that has the wheel and NumPy"
        results.absent("draws", reason)
        return
    rows = []
    with many(pictures, len(pictures)) as source:
        for name, (lane, placement) in ROWS.items():
            try:
                rows.append(_row(forebay, client, source, name, lane, placement))
            except Exception as error:  # Whatever a lane raises is why its row is missing.
                results.absent(f"draws of {name}", f"{type(error).__name__}: {error}")
    results.table("draws", [row.figures() for row in rows])
    for row in rows:
        print(f"{row.name}: up to {row.worst} of 255 from the CPU lane, {row.pictures} pictures")
    if rows:
        _sheet(rows, results)


def _row(forebay: Forebay, client: ModuleType, source: Path, name: str, lane: str, placement: str) -> Row:
    """Both lanes, each in a service, epoch by epoch: seed and order are the same, and so are the crops."""
    row = Row(name)
    host = STREAM.format(source=source, epochs=EPOCHS, placement="host")
    own = STREAM.format(source=source, epochs=EPOCHS, placement=placement)
    with serving(forebay, host, ["cpu"]) as plain, serving(forebay, own, [lane]) as service:
        cpu, gpu = _epochs(client, plain, "host"), _epochs(client, service, placement)
        for expected, made in zip(cpu, gpu):
            if expected.keys() != made.keys():
                raise RuntimeError(f"{len(expected.keys() ^ made.keys())} records came from one of both lanes only")
            for record, picture in expected.items():
                row.add(picture, made[record])
        said = service.status()
    row.decoded_by = {each: int(count) for each, count in re.findall(r"^lane (.+?) +(\d+) pictures", said, re.M)}
    if not any(count for each, count in row.decoded_by.items() if each.startswith(lane)):
        raise RuntimeError("it decoded no picture")
    return row


def _epochs(client: ModuleType, service: Service, placement: str) -> Iterator[dict[int, numpy.ndarray]]:
    """Pictures by record."""
    with client.Loader("stream:draws", socket=service.socket, placement=placement) as loader:
        for _ in range(EPOCHS):
            epoch = {}
            for batch in loader:
                own = batch.copy()
                epoch.update(zip(own.records.tolist(), own.images))
            yield epoch


def _sheet(rows: list[Row], results: Results) -> None:
    """The CPU lane's pictures in the first line, and below the same by each lane."""
    try:
        import numpy
        from PIL import Image, ImageDraw
    except ImportError as error:
        results.absent("sheet", f"this Python has no {error.name}; FOREBAY_PYTHON names one that has Pillow")
        return
    # All rows are of one order, and so of the same pictures.
    lines = [("cpu", [cpu for cpu, _ in rows[0].shown]), *((row.name, [own for _, own in row.shown]) for row in rows)]
    pixels = numpy.concatenate([numpy.concatenate(shown, axis=1) for _, shown in lines])
    sheet = Image.new("RGB", (MARGIN + pixels.shape[1], pixels.shape[0]), "white")
    sheet.paste(Image.fromarray(pixels), (MARGIN, 0))
    for number, (name, _) in enumerate(lines):
        worst = "" if number == 0 else f"\nup to {rows[number - 1].worst} of 255"
        ImageDraw.Draw(sheet).text((4, number * pixels.shape[0] // len(lines) + 4), name + worst, fill="black")
    target = results.file("-sheet.png")
    sheet.save(target)
    results.table("sheet", [{"file": target.name}])
