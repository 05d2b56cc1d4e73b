"""Puts all that a run takes into one folder to be carried: the wheel, peers made small, pictures, this program."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

from measuring.pictures import pictures

from gpu.forebay import COUNT, ROOT

HERE = Path(__file__).resolve().parents[1]
PEERS = ("nvidia-nvimgcodec-cu13", "nvidia-nvjpeg")
# The Python there, as wheels name it.
PYTHON = "312"
PLATFORMS = ("manylinux_2_28_x86_64", "manylinux2014_x86_64", "manylinux_2_17_x86_64")
PROGRAM = "program.tar.xz"
RUN = """\
#!/usr/bin/env bash
# Measures with the files beside it; FOREBAY_PYTHON names a Python {python} with torch, torchvision, Pillow and NumPy.
# The program is unpacked once, where the next call finds it.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
sum=$(sha256sum "$here/{program}")
there=${{XDG_CACHE_HOME:-$HOME/.cache}}/forebay-gpu-${{sum:0:16}}
if [ ! -d "$there" ]; then
  mkdir -p "$there.part"
  tar -xJf "$here/{program}" -C "$there.part"
  mv "$there.part" "$there"
fi
export FOREBAY_BIN=$there/site/forebay/bin/forebay PYTHONPATH=$there/site${{PYTHONPATH:+:$PYTHONPATH}}
exec "$there/benches/gpu/run" --pictures "$here/pictures" "$@"
"""


def main() -> int:
    """The exit code: 1 where something that has to be in it is not there, or where it is too large."""
    arguments = argparse.ArgumentParser(prog="benches/gpu/pack", description=__doc__)
    arguments.add_argument("folder", type=Path, help="is made anew")
    arguments.add_argument("--wheel", type=Path, help="of this project; left out, the one that `make build` has made")
    arguments.add_argument("--pictures", type=Path, help="a folder of JPEGs, of which up to 300 go with it")
    arguments.add_argument(
        "--mib", type=int, default=52, help="what all of it may take; fewer pictures go with it then"
    )
    arguments.add_argument("--no-peers", action="store_true", help="without nvImageCodec and nvJPEG, which pip fetches")
    options = arguments.parse_args()
    wheel = options.wheel or next(iter(sorted((ROOT / "target/wheels/release").glob("*.whl"))), None)
    if wheel is None or not wheel.exists():
        print("There is no wheel: `make build` makes one in target/wheels/release, --wheel names it.", file=sys.stderr)
        return 1
    folder = options.folder.absolute()
    shutil.rmtree(folder, ignore_errors=True)
    most = options.mib << 20
    with tempfile.TemporaryDirectory() as scratch:
        binary = _program(Path(scratch), wheel, options.no_peers)
        folder.mkdir(parents=True)
        _compressed(Path(scratch), folder / PROGRAM)
        run = folder / "run"
        run.write_text(RUN.format(python=f"{PYTHON[0]}.{PYTHON[1:]}", program=PROGRAM))
        run.chmod(0o755)
        _pictures(options.pictures, binary, folder / "pictures", most - _size(folder))
    return _told(folder, most)


def _program(folder: Path, wheel: Path, without_peers: bool) -> Path:
    """What is run there, unpacked, and the binary in it."""
    site = folder / "site"
    site.mkdir()
    _unpack(wheel, site)
    binary = site / "forebay/bin/forebay"
    binary.chmod(0o755)
    if not without_peers:
        _peers(site)
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
    other_python = "nvimgcodec_impl" in name and f"cpython-{PYTHON}-" not in name
    return not (other_extension or other_python or "/include/" in name or "/tools/" in name)


def _peers(site: Path) -> None:
    """What pip cannot get is left out, and absent in the measurement."""
    with tempfile.TemporaryDirectory() as folder:
        form = [word for platform in PLATFORMS for word in ("--platform", platform)]
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        for peer in PEERS:
            options = ["--only-binary=:all:", "--python-version", PYTHON, *form, "--dest", folder, peer]
            if subprocess.run([*command, *options]).returncode != 0:
                print(f"{peer} cannot be had, and is left out.", file=sys.stderr)
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
    for part in sorted(folder.iterdir()):
        size = _size(part) if part.is_dir() else part.stat().st_size
        print(f"{size / (1 << 20):6.1f} MiB  {part.name}")
    size = _size(folder)
    print(f"{size / (1 << 20):6.1f} MiB in all, of {most >> 20}")
    print(
        f"There, in calls of less than ten minutes each, with one folder for all results:\n  {folder.name}/run", end=""
    )
    print(f" --results RESULTS --part lanes\n  {folder.name}/run --results RESULTS --part ring --part peers")
    return 0 if size <= most else 1


if __name__ == "__main__":
    sys.exit(main())
