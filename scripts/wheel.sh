#!/usr/bin/env bash
# Makes the Python package's wheel around a built forebay binary.
# Usage: wheel.sh PROFILE BINARY               for this machine, installed into .venv
#        wheel.sh PROFILE BINARY TARGET OUT    for a triple of Rust, by zig, into the folder OUT (scripts/manylinux.sh)
# PROFILE is a cargo profile: dev, release or dist. A TARGET's binary must have no debug information.
set -euo pipefail
cd "$(dirname "$0")/.."
profile=$1 binary=$2 target=${3:-}
out=${4:-target/wheels/$profile}
package=clients/python

mkdir -p "$package/python/forebay/bin" "$out"
# What pyproject.toml names beside the code. maturin takes no file from outside the package's folder.
cp LICENSE-APACHE LICENSE-MIT "$package"
python3 scripts/description.py >"$package/README.md"
linked=(${target:+--target "$target"} forebay forebay-python)
python3 scripts/notices.py "${linked[@]}" >"$package/NOTICES"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 scripts/sbom.py "${linked[@]}" >"$scratch/forebay.cyclonedx.json"
build=(build -q --locked --profile "$profile" -m "$package/Cargo.toml" --out "$out" --sbom-include "$scratch/forebay.cyclonedx.json")

if [ -z "$target" ]; then
  # Debug information would make the wheel ten times as large.
  strip -o "$package/python/forebay/bin/forebay" "$binary"
  rm -f "$out"/*.whl
  # "linux": for this machine; no check against older C libraries. What it says is shown where it fails.
  .venv/bin/maturin "${build[@]}" --compatibility linux --interpreter .venv/bin/python >"$out/log" 2>&1 || {
    cat "$out/log" >&2
    exit 1
  }
  .venv/bin/python -m pip install -q --disable-pip-version-check --no-input --no-deps --force-reinstall "$out"/*.whl
else
  cp "$binary" "$package/python/forebay/bin/forebay"
  rm -f "$out"/*"_${target%%-*}.whl"
  scripts/cross.sh "$profile" maturin "${build[@]}" --zig --target "$target" --compatibility manylinux_2_28 \
    --compression-level 9 >"$scratch/log" 2>&1 || {
    cat "$scratch/log" >&2
    exit 1
  }
fi
