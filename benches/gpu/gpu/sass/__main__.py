"""Counts the instructions that the kernel issues for a pixel, by generation of GPU.

It takes a folder with NVIDIA's compiler and disassembler, and no GPU:

    pip download --no-deps --dest /tmp/wheels nvidia-cuda-nvcc nvidia-cuda-nvdisasm
    for wheel in /tmp/wheels/*.whl; do unzip -qo $wheel -d /tmp/tools; done
    benches/gpu/instructions /tmp/tools

The PTX of cuda/kernels is compiled for each generation and disassembled. Warps of pictures of 500 x 375, cut to
300 x 265 and resized to 224 x 224, then run on the CPU, instruction by instruction, and their bytes have to be the
twin's. Two figures are printed for each picture: what a thread issues for a pixel, and what a warp issues for a pixel
of each of its threads. A warp issues each instruction as often as that of its threads which needs it most, if threads
that went different ways meet again at once. An instruction counts whether its predicate is true or not.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from gpu.sass import cases, gate
from gpu.sass.emulate import Thread

GENERATIONS = (75, 80, 86, 89, 90, 100, 120)
KERNELS = Path(__file__).resolve().parents[4] / "cuda" / "kernels"
WARP = 32


def main() -> int:
    """The exit code."""
    options = _options()
    if options.gate:
        return gate.main(options.tools, options.gate, options.generation)
    ptxas, nvdisasm = (next(options.tools.rglob(name)) for name in ("ptxas", "nvdisasm"))
    tile = cases.tile(options.kernels)
    with tempfile.TemporaryDirectory() as folder:
        twin = cases.twin(options.kernels, Path(folder))
        cubin = Path(folder) / "kernel.cubin"
        for generation in options.generation or GENERATIONS:
            ptx = options.kernels / "compose.ptx"
            command = [ptxas, "-v", f"--gpu-name=sm_{generation}", ptx, "-o", cubin]
            said = subprocess.run(command, check=True, capture_output=True, text=True).stderr
            registers = re.search(r"Used (\d+) registers", said)[1]  # type: ignore[index]
            spills = sum(int(count) for count in re.findall(r"(\d+) bytes spill", said))
            text = subprocess.run([nvdisasm, "-c", cubin], check=True, capture_output=True, text=True).stdout
            print(f"sm_{generation}: {registers} registers, {spills} bytes spilled", flush=True)
            for case in cases.CASES:
                launch = cases.Launch(case, tile)
                twin.twin(launch.pictures, launch.blocks, 1, cases.THREADS)
                kernel = Thread(text, launch.pieces, _constants(generation, launch), _jumps(cubin))
                thread, warp = _issued(kernel, launch, options)
                print(f"  {case.name}: {thread:.0f} by thread, {warp:.0f} by warp", flush=True)
    return 0


def _options() -> argparse.Namespace:
    form = argparse.RawDescriptionHelpFormatter
    arguments = argparse.ArgumentParser(prog="benches/gpu/instructions", description=__doc__, formatter_class=form)
    arguments.add_argument("tools", type=Path, help="a folder with ptxas and nvdisasm somewhere in it")
    arguments.add_argument("--generation", type=int, action="append", help="this one only, such as 90; may be repeated")
    arguments.add_argument("--kernels", type=Path, default=KERNELS, help="where another version of the kernel is")
    arguments.add_argument("--warps", type=int, default=3, help="of each picture, spread over it")
    arguments.add_argument("--each", action="store_true", help="print each instruction, and how often it was issued")
    arguments.add_argument("--gate", type=Path, help="count the kernels of benches/gpu/gate, on what was dumped here")
    return arguments.parse_args()


def _issued(thread: Thread, launch: cases.Launch, options: argparse.Namespace) -> tuple[float, float]:
    """Instructions for a pixel, by thread and by warp."""
    expected = bytes(launch.out)
    launch.out[:] = bytes(len(launch.out))
    by_thread, by_warp = 0, 0
    pixels = options.warps * launch.tile
    for number in range(options.warps):
        first = launch.threads * number // options.warps // WARP * WARP
        most: Counter[int] = Counter()
        for lane in range(first, first + WARP):
            thread.issued.clear()
            thread.run((lane // cases.THREADS, 0), lane % cases.THREADS)
            wrong = [place for place in launch.made(lane) if launch.out[place] != expected[place]]
            if wrong:
                sys.exit(f"thread {lane} has made other bytes than the twin, first at {wrong[0]}")
            by_thread += thread.issued.total()
            most |= thread.issued
        by_warp += most.total()
        if options.each:
            _list(thread.text, most, launch.tile)
    return by_thread / (pixels * WARP), by_warp / pixels


def _list(text: str, issued: Counter[int], pixels: int) -> None:
    for line in text.splitlines():
        at = re.match(r"\s*/\*([0-9a-f]{4,})\*/", line)
        if at and issued[int(at[1], 16)]:
            print(f"{issued[int(at[1], 16)] / pixels:7.2f}  {line.strip()[:110]}")


def _constants(generation: int, launch: cases.Launch) -> dict[int, int]:
    """Where the driver puts the threads of a block, the stack and the kernel's argument."""
    if generation >= 100:
        threads, stack, argument = 0x360, 0x37C, 0x380
    else:
        threads, stack, argument = 0x0, 0x28, 0x210 if generation == 90 else 0x160
    low, high = launch.pictures & 0xFFFFFFFF, launch.pictures >> 32
    return {threads: cases.THREADS, stack: 0xF00, argument: low, argument + 4: high}


def _jumps(cubin: Path) -> bytes:
    """The tables of switches: the section of constants of bank 2, if there is one."""
    content = cubin.read_bytes()
    head = int.from_bytes(content[40:48], "little")
    size, count, names = (int.from_bytes(content[at : at + 2], "little") for at in (58, 60, 62))
    sections = [content[head + size * number :][:size] for number in range(count)]

    def piece(section: bytes) -> bytes:
        at, length = (int.from_bytes(section[begin : begin + 8], "little") for begin in (24, 32))
        return content[at : at + length]

    texts = piece(sections[names])
    for section in sections:
        if texts[int.from_bytes(section[:4], "little") :].startswith(b".nv.constant2.forebay"):
            return piece(section)
    return b""


if __name__ == "__main__":
    sys.exit(main())
