"""DALI beside streams of ours, on the same files in memory, to 224 x 224 in float16 on the GPU, with processor time."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from gpu import ring
from gpu.forebay import many
from gpu.results import AbsentError
from gpu.service import serving
from gpu.task import Task

# How much of a batch the engines get, and threads that decode the rest.
LOADS = (0.0, 0.65, 1.0)
THREADS = (4, 8, 16)
# What both make of a picture.
KINDS = {"eval": ring.RESIZED, "train": ring.TRAINING}


class Setting(NamedTuple):
    """Of a pipeline."""

    load: float
    threads: int


def run(task: Task) -> None:
    """Each setting for whole pictures; then the best of them and ours by turns."""
    results, rows = task.results, []

    def row(name: str, kind: str, measured: dict[str, float]) -> None:
        rows.append({"name": name, "kind": kind, **measured})
        results.table("dali", rows)
        results.write()
        print(f"{name}, {kind}: {measured['rate']:.0f} pictures/s, {measured['cores']:.2f} cores", flush=True)

    with many(task.pictures, task.lengths.entries) as folder:
        best: tuple[float, Setting] | None = None
        for setting in _settings():
            name = f"DALI, load {setting.load}, {setting.threads} threads"
            with results.attempt(name, seconds=30):
                measured = _rate(_pipeline(task, folder, "eval", setting), max(1, task.lengths.seconds - 1))
                row(name, "eval", measured)
                best = max(best or (0.0, setting), (measured["rate"], setting))
        with results.attempt("dali"):
            if best is None:
                raise AbsentError(results.reasons.get(name, "no setting of it runs"))
            _by_turns(task, folder, best[1], row)


def _settings() -> Iterator[Setting]:
    cores = len(os.sched_getaffinity(0))
    for load in LOADS:
        for threads in sorted({min(threads, cores) for threads in THREADS}):
            yield Setting(load, threads)


def _by_turns(task: Task, folder: Path, setting: Setting, row: Callable[[str, str, dict[str, float]], None]) -> None:
    """Ours in a round is decoded by the lanes of streams, the CPU's among them, as DALI's is."""
    ring.requirements()
    lengths, names = task.lengths, {"eval": ("dali", "gpu_ring_eval"), "train": ("dali_train", "gpu_ring_train")}
    config = "".join(ring.stream(f"ours_{kind}", folder, lengths.batch, form, "gpu:0") for kind, form in KINDS.items())
    rates: dict[str, list[float]] = {name: [] for pair in names.values() for name in pair}
    with serving(task.forebay, config, task.found.together) as service:
        for _ in range(lengths.rounds):
            for kind, (theirs, ours) in names.items():
                measured = _rate(_pipeline(task, folder, kind, setting), lengths.seconds)
                rates[theirs].append(measured["rate"])
                row("DALI", kind, measured)
                with ring.loading(service, f"ours_{kind}", "gpu:0") as batches:
                    measured = _rate(lambda batches=batches: len(batches()), lengths.seconds, service.cpu_seconds)
                rates[ours].append(measured["rate"])
                row("ours", kind, measured)
                for name in (theirs, ours):
                    task.results.rates(name, rates[name])


def _rate(step: Callable[[], int], seconds: float, others: Callable[[], float] = lambda: 0.0) -> dict[str, float]:
    """Pictures per second, and processor time of this process and of another."""
    import torch

    step()
    torch.cuda.synchronize()
    pictures, begun, used = 0, time.perf_counter(), time.process_time() + others()
    while time.perf_counter() - begun < seconds:
        pictures += step()
    torch.cuda.synchronize()
    taken, used = time.perf_counter() - begun, time.process_time() + others() - used
    return {"rate": pictures / taken, "cores": used / taken, "cpu_seconds_per_thousand": used / pictures * 1000}


def _pipeline(task: Task, folder: Path, kind: str, setting: Setting) -> Callable[[], int]:
    """Steps of DALI's own way: it reads the files itself."""
    try:
        from nvidia.dali import fn, pipeline_def, types
    except ImportError as error:
        raise AbsentError(f"this Python has no DALI: {error}") from error
    batch, files = task.lengths.batch, sorted(str(file) for file in folder.iterdir())

    @pipeline_def(batch_size=batch, num_threads=setting.threads, device_id=0)
    def decoding() -> Any:  # noqa: ANN401 - DALI's node
        read, _ = fn.readers.file(files=files, random_shuffle=True, initial_fill=4 * batch)
        form = {"device": "mixed", "output_type": types.RGB, "hw_decoder_load": setting.load}
        mirror = 0
        if kind == "train":
            area, ratio = [0.08, 1.0], [3 / 4, 4 / 3]
            decoded = fn.decoders.image_random_crop(read, random_area=area, random_aspect_ratio=ratio, **form)
            mirror = fn.random.coin_flip()
        else:
            decoded = fn.decoders.image(read, **form)
        resized = fn.resize(decoded, size=[224, 224], antialias=True)
        return fn.crop_mirror_normalize(resized, dtype=types.FLOAT16, output_layout="CHW", mirror=mirror)

    pipeline = decoding()
    pipeline.build()
    return lambda: len(pipeline.run()[0])
