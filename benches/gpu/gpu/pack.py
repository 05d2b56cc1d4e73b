"""Puts all that a run takes into a folder for each call: the wheel, small peers, pictures, this program; then DALI."""

from __future__ import annotations

import argparse
import hashlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

from measuring.pictures import pictures

from gpu.forebay import COUNT, ROOT
from gpu.slim import slim

HERE = Path(__file__).resolve().parents[1]
PEERS = ("nvidia-nvimgcodec-cu13", "nvidia-nvjpeg")
DALI = "nvidia-dali-cuda130"
# What it imports, which goes with the program: there is hardly room beside it.
IMPORTED = (
    "astunparse",
    "gast",
    "six",
    "optree",
    "packaging",
    "nvtx",
    "makefun",
    "libcst",
    "typing_extensions",
    "wheel",
)
# The generation whose kernels go with it: that of Hopper.
GENERATION = 90
# The Python there, as wheels name it.
PYTHON = "312"
PLATFORMS = ("manylinux_2_28_x86_64", "manylinux2014_x86_64", "manylinux_2_17_x86_64")
PROGRAM, SECOND = "program.tar.xz", "dali.tar.xz"
RUN = """\
#!/usr/bin/env bash
# Measures with the files beside it; FOREBAY_PYTHON names a Python {python} with torch, torchvision, Pillow and NumPy.
# The first call unpacks the program where the second finds it, with its pictures, and the second adds DALI.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
there=${{XDG_CACHE_HOME:-$HOME/.cache}}/forebay-gpu-{sum}
if [ -f "$here/{program}" ] && [ ! -d "$there" ]; then
  mkdir -p "$there.part"
  tar -xJf "$here/{program}" -C "$there.part"
  cp -r "$here/pictures" "$there.part/pictures"
  mv "$there.part" "$there"
fi
if [ -f "$here/{second}" ] && [ -d "$there" ] && [ ! -d "$there/site/nvidia/dali" ]; then
  tar -xJf "$here/{second}" -C "$there"
fi
[ -d "$there" ] || {{ echo "The first call's folder has not run here." >&2; exit 1; }}
export FOREBAY_BIN=$there/site/forebay/bin/forebay PYTHONPATH=$there/site${{PYTHONPATH:+:$PYTHONPATH}}
exec "$there/benches/gpu/run" --pictures "$there/pictures" "$@"
"""


def main() -> int:
    """The exit code: 1 where something that has to be in it is not there, or where it is too large."""
    arguments = argparse.ArgumentParser(prog="benches/gpu/pack", description=__doc__)
    arguments.add_argument("folder", type=Path, help="is made anew")
    arguments.add_argument("--wheel", type=Path, help="of this project; left out, the one that `make build` has made")
    arguments.add_argument("--pictures", type=Path, help="a folder of JPEGs, of which up to 300 go with it")
    arguments.add_argument(
        "--mib", type=int, default=52, help="what each may take; fewer pictures go with the first then"
    )
    arguments.add_argument(
        "--no-peers", action="store_true", help="without nvImageCodec, nvJPEG and DALI, which pip fetches"
    )
    options = arguments.parse_args()
    wheel = options.wheel or next(iter(sorted((ROOT / "target/wheels/release").glob("*.whl"))), None)
    if wheel is None or not wheel.exists():
        print("There is no wheel: `make build` makes one in target/wheels/release, --wheel names it.", file=sys.stderr)
        return 1
    folder = options.folder.absolute()
    shutil.rmtree(folder, ignore_errors=True)
    most = options.mib << 20
    first, second = folder / "first", folder / "second"
    with tempfile.TemporaryDirectory() as scratch:
        binary = _program(Path(scratch), wheel, options.no_peers)
        first.mkdir(parents=True)
        _compressed(Path(scratch), first / PROGRAM)
        _command(first, _sum(first / PROGRAM))
        _pictures(options.pictures, binary, first / "pictures", most - _size(first))
    second.mkdir()
    _command(second, _sum(first / PROGRAM))
    if not options.no_peers:
        with tempfile.TemporaryDirectory() as scratch:
            _fetched((DALI,), Path(scratch) / "site")
            slim(Path(scratch) / "site", GENERATION)
            _compressed(Path(scratch), second / SECOND)
    return _told(folder, most)


def _sum(file: Path) -> str:
    """Short: one program is not taken for another."""
    return hashlib.sha256(file.read_bytes()).hexdigest()[:16]


def _command(folder: Path, total: str) -> None:
    run = folder / "run"
    run.write_text(RUN.format(python=f"{PYTHON[0]}.{PYTHON[1:]}", program=PROGRAM, second=SECOND, sum=total))
    run.chmod(0o755)


def _program(folder: Path, wheel: Path, without_peers: bool) -> Path:
    """What is run there, unpacked, and the binary in it."""
    site = folder / "site"
    site.mkdir()
    _unpack(wheel, site)
    binary = site / "forebay/bin/forebay"
    binary.chmod(0o755)
    if not without_peers:
        _fetched((*PEERS, *IMPORTED), site)
    benches = folder / "benches"
    for part in ("gpu/gpu", "measuring/measuring"):
        shutil.copytree(HERE.parent / part, benches / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(HERE / "run", benches / "gpu/run")
    return binary


def _compressed(folder: Path, to: Path) -> None:
    """Libraries for GPUs become a third of their size."""
    with tarfile.open(to, "w:xz") as archive:
        for part in sorted(folder.iterdir()):
            archive.add(part, part.name)


def _unpack(wheel: Path, site: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site, [name for name in archive.namelist() if _is_needed(name)])


def _is_needed(name: str) -> bool:
    """Of nvImageCodec one Python, with its decoder for the GPU alone; no headers and no tools."""
    other_extension = "/extensions/" in name and "libnvjpeg_ext" not in name
    made_for = re.search(r"\.cpython-(\d+)t?-", name)
    other_python = made_for is not None and f".cpython-{PYTHON}-" not in name
    return not (other_extension or other_python or "/include/" in name or "/tools/" in name or "/test/" in name)


def _fetched(packages: tuple[str, ...], site: Path) -> None:
    """Unpacks them. What pip cannot get is left out, and absent in the measurement."""
    site.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        form = [word for platform in PLATFORMS for word in ("--platform", platform)]
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        for package in packages:
            options = ["--only-binary=:all:", "--python-version", PYTHON, *form, "--dest", folder, package]
            if subprocess.run([*command, *options]).returncode != 0:
                print(f"{package} cannot be had, and is left out.", file=sys.stderr)
        for wheel in sorted(Path(folder).glob("*.whl")):
            _unpack(wheel, site)


def _pictures(given: Path | None, binary: Path, folder: Path, room: int) -> None:
    """The given ones in turn, as far as they fit, or generated ones."""
    if given is None:
        subprocess.run([binary, "sample", folder, "--count", str(COUNT)], check=True, stdout=subprocess.DEVNULL)
        return
    folder.mkdir()
    for number, picture in enumerate(pictures(given)[:COUNT]):
        room -= picture.stat().st_size
        if room >= 0:
            shutil.copy(picture, folder / f"{number:03}.jpg")


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def _told(folder: Path, most: int) -> int:
    """Each folder is carried by a call of its own, and may take so much."""
    for call in sorted(folder.iterdir()):
        for part in sorted(call.iterdir()):
            size = _size(part) if part.is_dir() else part.stat().st_size
            print(f"{size / (1 << 20):6.1f} MiB  {call.name}/{part.name}")
        print(f"{_size(call) / (1 << 20):6.1f} MiB in all, of {most >> 20}")
    print("There, one after the other, with one folder for all results:")
    for number, call in enumerate(("first", "second"), 1):
        print(f"  {folder.name}/{call}/run --results RESULTS --call {number}")
    return 0 if all(_size(call) <= most for call in folder.iterdir()) else 1


if __name__ == "__main__":
    sys.exit(main())
