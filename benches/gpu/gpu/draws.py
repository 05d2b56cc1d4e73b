"""The same records, cropped, resized and flipped at random, by GPU lanes and by the CPU lane, side by side."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpu.forebay import many
from gpu.results import AbsentError, Results
from gpu.service import Service, serving
from gpu.task import Task

if TYPE_CHECKING:
    import numpy

# Lane, placement, type and layout of each row, which is held against the CPU lane in the host.
ROWS = {
    "hardware": ("hardware", "host", "uint8", "NHWC"),
    "hardware, GPU ring": ("hardware", "gpu:0", "uint8", "NHWC"),
    "hardware, float32 NCHW": ("hardware", "host", "float32", "NCHW"),
    "hardware, float16 NCHW, GPU ring": ("hardware", "gpu:0", "float16", "NCHW"),
    "hardware-single": ("hardware-single", "host", "uint8", "NHWC"),
    "gpu-huffman": ("gpu-huffman", "host", "uint8", "NHWC"),
    "hybrid": ("hybrid", "host", "uint8", "NHWC"),
    "hybrid, float16 NHWC": ("hybrid", "host", "float16", "NHWC"),
}
STREAM = """\
[streams.draws]
source = "{source}"
batch_size = 50
size = 224
dtype = "{dtype}"
layout = "{layout}"
shuffle = true
epochs = {epochs}
placement = "{placement}"
"""
# Pictures of a row of the sheet, its margin at the left, and the records that are shown.
SHOWN, MARGIN = 8, 130


@dataclass
class Row:
    """How far a lane's pictures are from the CPU lane's, in levels of 255, and some of both."""

    name: str
    layout: str
    pictures: int = 0
    worst: float = 0
    sum: float = 0
    values: int = 0
    shown: list[tuple[numpy.ndarray, numpy.ndarray]] = field(default_factory=list)
    decoded_by: dict[str, int] = field(default_factory=dict)

    def add(self, cpu: numpy.ndarray, lane: numpy.ndarray) -> None:
        """One picture by both."""
        levels = 1 if cpu.dtype == "uint8" else 255
        apart = abs(cpu.astype("float32") - lane.astype("float32")) * levels
        self.pictures += 1
        self.worst = max(self.worst, float(apart.max()))
        self.sum += float(apart.sum(dtype="float64"))
        self.values += apart.size
        if len(self.shown) < SHOWN:
            self.shown.append((self._shown(cpu, levels), self._shown(lane, levels)))

    def _shown(self, picture: numpy.ndarray, levels: int) -> numpy.ndarray:
        """As a picture of bytes."""
        pixels = (picture.astype("float32") * levels).round().clip(0, 255).astype("uint8")
        return pixels.transpose(1, 2, 0) if self.layout == "NCHW" else pixels

    def figures(self) -> dict[str, Any]:
        """As a row of a table."""
        mean = self.sum / max(self.values, 1)
        told = {"lane": self.name, "pictures": self.pictures, "worst": self.worst, "mean": mean}
        return {**told, "decoded_by": self.decoded_by}


def run(task: Task) -> None:
    """A row for each lane, and a contact sheet of all."""
    results, rows = task.results, []
    with many(task.pictures, len(task.pictures)) as source:
        for name, form in ROWS.items():
            with results.attempt(f"draws of {name}"):
                row = _row(task, source, name, *form)
                rows.append(row)
                results.table("draws", [row.figures() for row in rows])
                print(f"{name}: up to {row.worst:.3g} of 255 from the CPU lane, {row.pictures} pictures", flush=True)
    with results.attempt("sheet"):
        if rows:
            _sheet(rows, results)


def _row(task: Task, source: Path, name: str, lane: str, placement: str, dtype: str, layout: str) -> Row:
    """Both lanes, each in a service, epoch by epoch: seed and order are the same, and so are the crops."""
    if lane not in task.found.lanes:
        raise AbsentError(f"this machine has no {lane} lane")
    row, epochs = Row(name, layout), task.lengths.epochs

    def config(placement: str) -> str:
        return STREAM.format(source=source, epochs=epochs, placement=placement, dtype=dtype, layout=layout)

    with (
        serving(task.forebay, config("host"), ["cpu"]) as plain,
        serving(task.forebay, config(placement), [lane]) as service,
    ):
        cpu, gpu = _epochs(plain, "host", epochs), _epochs(service, placement, epochs)
        for expected, made in zip(cpu, gpu, strict=True):
            if expected.keys() != made.keys():
                raise RuntimeError(f"{len(expected.keys() ^ made.keys())} records came from one of both lanes only")
            for record, picture in expected.items():
                row.add(picture, made[record])
        said = service.status()
    row.decoded_by = {each: int(count) for each, count in re.findall(r"^lane (.+?) +(\d+) pictures", said, re.M)}
    if not any(count for each, count in row.decoded_by.items() if each.startswith(f"{lane} on")):
        raise RuntimeError("it decoded no picture")
    return row


def _epochs(service: Service, placement: str, epochs: int) -> Iterator[dict[int, numpy.ndarray]]:
    """Pictures by record."""
    try:
        import forebay
    except ImportError as error:
        reason = f"this Python has no {error.name}; FOREBAY_PYTHON names one that has the wheel and NumPy"
        raise AbsentError(reason) from error
    with forebay.Loader("stream:draws", socket=service.socket, placement=placement) as loader:
        for _ in range(epochs):
            epoch = {}
            for batch in loader:
                own = batch.copy()
                epoch.update(zip(own.records.tolist(), own.images, strict=True))
            yield epoch


def _sheet(rows: list[Row], results: Results) -> None:
    """The CPU lane's pictures in the first line, and below the same by each lane."""
    try:
        import numpy
        from PIL import Image, ImageDraw
    except ImportError as error:
        raise AbsentError(f"this Python has no {error.name}; FOREBAY_PYTHON names one that has Pillow") from error
    # All rows are of one order, and so of the same pictures.
    lines = [("cpu", [cpu for cpu, _ in rows[0].shown]), *((row.name, [own for _, own in row.shown]) for row in rows)]
    pixels = numpy.concatenate([numpy.concatenate(shown, axis=1) for _, shown in lines])
    sheet = Image.new("RGB", (MARGIN + pixels.shape[1], pixels.shape[0]), "white")
    sheet.paste(Image.fromarray(pixels), (MARGIN, 0))
    for number, (name, _) in enumerate(lines):
        worst = "" if number == 0 else f"\nup to {rows[number - 1].worst:.3g} of 255"
        ImageDraw.Draw(sheet).text((4, number * pixels.shape[0] // len(lines) + 4), name + worst, fill="black")
    target = results.file("-sheet.png")
    sheet.save(target)
    results.table("sheet", [{"file": target.name}])
