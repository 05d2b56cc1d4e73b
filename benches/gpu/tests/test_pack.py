"""What is carried to a machine without a network."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parents[1]


def packed(folder, wheel, pictures):
    command = [
        sys.executable,
        "-m",
        "gpu.pack",
        folder / "pack",
        "--wheel",
        wheel,
        "--no-peers",
        "--pictures",
        pictures,
    ]
    return subprocess.run(
        command, env={**os.environ, "PYTHONPATH": f"{HERE}:{HERE.parent / 'measuring'}"}, capture_output=True, text=True
    )


def test_a_pack_has_the_wheel_the_pictures_the_program_and_a_command_that_starts_it(tmp_path):
    wheel = tmp_path / "forebay-1-cp39-abi3-linux_x86_64.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("forebay/bin/forebay", "#!/bin/sh\necho 'driver   none'\n")
        archive.writestr("nvidia/nvimgcodec/nvimgcodec_impl.cpython-311-x86_64.so", "for another Python")
        archive.writestr("nvidia/nvimgcodec/extensions/libjpeg_turbo_ext.so", "on the CPU")
        archive.writestr("nvidia/nvimgcodec/extensions/libnvjpeg_ext.so", "on the GPU")
    pictures = tmp_path / "pictures" / "some"
    pictures.mkdir(parents=True)
    (pictures / "a.JPEG").write_bytes(b"a")
    (pictures / "b.png").write_bytes(b"b")
    done = packed(tmp_path, wheel, pictures.parent)
    assert done.returncode == 0, done.stderr
    assert "MiB in all, of 52" in done.stdout
    first, second = tmp_path / "pack/first", tmp_path / "pack/second"
    assert [file.name for file in (first / "pictures").iterdir()] == ["000.jpg"]
    assert sorted(file.name for file in first.iterdir()) == ["pictures", "program.tar.xz", "run"]
    assert [file.name for file in second.iterdir()] == ["run"]
    environment = {**os.environ, "FOREBAY_PYTHON": sys.executable, "XDG_CACHE_HOME": str(tmp_path / "cache")}

    def started(call):
        return subprocess.run([call / "run", "--part", "soak"], env=environment, capture_output=True, text=True)

    early = started(second)
    assert early.returncode == 1
    assert "has not run here" in early.stderr
    if shutil.which("xz") is None:
        pytest.skip("there is no xz here, which unpacks the program")
    for call in (first, first, second):
        done = started(call)
        assert done.returncode == 0, done.stderr
        assert "No GPU decodes on this machine" in done.stdout
    (unpacked,) = (tmp_path / "cache").iterdir()
    assert [file.name for file in (unpacked / "site/nvidia").rglob("*.so")] == ["libnvjpeg_ext.so"]


def test_without_a_wheel_it_says_how_to_make_one(tmp_path):
    done = packed(tmp_path, tmp_path / "none.whl", tmp_path)
    assert done.returncode == 1
    assert "make build" in done.stderr
