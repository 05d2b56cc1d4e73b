"""Counts the instructions of the kernels of benches/gpu/gate: of a step of a segment, by its paths, and of a block.

`cargo bench -p forebay-benches --bench gate -- FOLDER --dump DUMP` writes a picture's launch and what the twin made of
it. Each segment is run here, instruction by instruction, and takes the twin's steps; the samples of some lines have to
be the twin's. A warp issues in a step what any of its threads does.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import re
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from gpu.sass.emulate import Thread

GENERATIONS = (75, 86, 90)
SOURCE = Path(__file__).resolve().parents[2] / "gate" / "segments.cu"
THREADS = 128
SEGMENT, LINE = 17, 6  # words of each
LONG, BLOCK_END = 2, 4  # of a trace's step
LINES = 3  # whose samples are compared
# Where the memory of a launch is.
SEGMENTS, WORDS, TABLES, COEFFICIENTS, FAULTS, SAMPLES, LINES_AT = (number << 32 for number in range(1, 8))


class Dump(NamedTuple):
    """A launch, and what the twin made of it."""

    data: bytes
    tables: bytes
    segments: list[tuple[int, ...]]
    lines: list[tuple[int, ...]]
    traces: bytes
    steps: tuple[int, ...]
    samples: bytes

    @classmethod
    def read(cls, folder: Path) -> Dump:
        """Reads what the benchmark has written."""
        content = {name: (folder / name).read_bytes() for name in ("data", "tables", "traces", "samples")}
        for name, size in (("segments", SEGMENT), ("lines", LINE), ("steps", 1)):
            content[name] = list(struct.iter_unpack(f"<{size}I", (folder / name).read_bytes()))  # type: ignore[assignment]
        content["steps"] = tuple(step for (step,) in content["steps"])  # type: ignore[misc,assignment]
        return cls(**content)  # type: ignore[arg-type]


def main(tools: Path, dump: Path, generations: list[int] | None) -> int:
    """The exit code."""
    ptxas, nvdisasm = (next(tools.rglob(name)) for name in ("ptxas", "nvdisasm"))
    launch = Dump.read(dump)
    with tempfile.TemporaryDirectory() as folder:
        ptx, cubin = Path(folder) / "in.ptx", Path(folder) / "out.cubin"
        ptx.write_bytes(_ptx(tools))
        for generation in generations or GENERATIONS:
            command = [ptxas, "-v", f"--gpu-name=sm_{generation}", ptx, "-o", cubin]
            said = subprocess.run(command, check=True, capture_output=True, text=True).stderr
            registers = max(map(int, re.findall(r"Used (\d+) registers", said)))
            spills = sum(map(int, re.findall(r"(\d+) bytes spill", said)))
            print(f"sm_{generation}: {registers} registers at most, {spills} bytes spilled", flush=True)
            text = subprocess.run([nvdisasm, "-c", cubin], check=True, capture_output=True, text=True).stdout
            _count({name: _function(text, name) for name in ("segments", "columns", "rows")}, launch, generation)
    return 0


def _ptx(tools: Path) -> bytes:
    """As cuda/kernels/make makes it."""
    make = SOURCE.parents[3] / "cuda" / "kernels" / "make"
    loader = importlib.machinery.SourceFileLoader("make", str(make))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("make", loader))  # type: ignore[arg-type]
    sys.path.insert(0, str(tools))
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    module.SOURCE, module.HEADERS = SOURCE, [make.parent / "picture.h"]
    return module.ptx()


def _function(text: str, name: str) -> str:
    """Addresses begin at zero in each section."""
    return next(part for part in text.split("//---") if f"\n.text.forebay_{name}:" in part)


def _count(texts: dict[str, str], launch: Dump, generation: int) -> None:
    blocks = max(first + count for *_, count, first, _, _, _, _, _, _, _, _, _, _, _ in launch.segments)
    memory = {
        SEGMENTS: bytearray(b"".join(struct.pack(f"<{SEGMENT}I", *one) for one in launch.segments)),
        LINES_AT: bytearray(b"".join(struct.pack(f"<{LINE}I", *one) for one in launch.lines)),
        WORDS: bytearray(launch.data),
        TABLES: bytearray(launch.tables),
        COEFFICIENTS: bytearray(128 * blocks),
        FAULTS: bytearray(4),
        SAMPLES: bytearray(len(launch.samples)),
    }

    def thread(name: str, *arguments: int) -> Thread:
        begin = 0x210 if generation >= 90 else 0x160
        constants = {0x0: THREADS, 0x28: 0xF00}
        for number, argument in enumerate(arguments):
            constants |= {begin + 8 * number: argument & 0xFFFFFFFF, begin + 8 * number + 4: argument >> 32}
        return Thread(texts[name], memory, constants, b"")

    count = len(launch.segments)
    kernel = thread("segments", SEGMENTS, count, WORDS, TABLES, COEFFICIENTS, FAULTS)
    paths: dict[int, set[int]] = {0: set(), LONG: set(), BLOCK_END: set()}
    issued = 0
    for number in range(count):
        trace = launch.traces[64 * launch.segments[number][6] :][: launch.steps[number]]
        steps = list(_steps(kernel, number))
        issued += kernel.issued.total()
        if len(steps) != len(trace):
            sys.exit(f"segment {number} takes {len(steps)} steps, and the twin {len(trace)}")
        for step, path in zip(steps[:-1], trace, strict=False):
            if path & (LONG | BLOCK_END) in paths:
                paths[path & (LONG | BLOCK_END)] |= step
    if any(memory[FAULTS]):
        sys.exit("a segment does not end as the twin's")
    ends, long = (len(paths[path] - paths[0]) for path in (BLOCK_END, LONG))
    symbol = issued / sum(launch.steps)
    print(
        f"  a step {len(paths[0])} instructions, {ends} more where a block ends, {long} more where a code is long; "
        f"{symbol:.1f} a symbol of a thread"
    )
    of_block = []
    for name, arguments in (("columns", (LINES_AT, COEFFICIENTS)), ("rows", (LINES_AT, COEFFICIENTS, SAMPLES))):
        kernel = thread(name, *arguments)
        made = [_line(kernel, number, launch) for number in _spread(len(launch.lines))]
        of_block.append(sum(total for total, _ in made) / sum(blocks for _, blocks in made))
    for number in _spread(len(launch.lines)):
        _, _, _, blocks, at, pitch = launch.lines[number]
        for row in range(8):
            place = slice(at + row * pitch, at + row * pitch + 8 * blocks)
            if memory[SAMPLES][place] != launch.samples[place]:
                sys.exit(f"line {number} has other samples than the twin's")
    print(f"  a block {of_block[0]:.0f} by columns and {of_block[1]:.0f} by rows, in 8 threads each", flush=True)


def _spread(count: int) -> list[int]:
    return [count * number // LINES for number in range(LINES)]


def _line(kernel: Thread, number: int, launch: Dump) -> tuple[int, int]:
    """Runs the threads of a line. Instructions, and blocks."""
    total, blocks = 0, launch.lines[number][3]
    for lane in range(8 * blocks):
        total += kernel.run((lane // THREADS, number), lane % THREADS)
    return total, blocks


def _steps(kernel: Thread, number: int) -> Iterator[set[int]]:
    """Runs a segment, and gives the instructions of each step; the last one has those behind the loop too."""
    head = min(target for at, target in _branches(kernel) if target < at)
    kernel.issued.clear()
    kernel.visited = []
    kernel.run((number // THREADS, 0), number % THREADS)
    step: set[int] | None = None
    for at in kernel.visited:
        if at == head:
            if step is not None:
                yield step
            step = set()
        if step is not None:
            step.add(at)
    if step is not None:
        yield step


def _branches(kernel: Thread) -> Iterator[tuple[int, int]]:
    for line in kernel.text.splitlines():
        if match := re.match(r"\s*/\*([0-9a-f]{4,})\*/.*\bBRA\b.*`\((\.L_x_\d+)\)", line):
            yield int(match[1], 16), kernel.labels[match[2]]
