#!/usr/bin/env bash
# Makes the Python package's wheel around a built forebay binary and installs it into .venv.
# Usage: wheel.sh PROFILE BINARY      (PROFILE is a cargo profile: dev or release)
set -euo pipefail
cd "$(dirname "$0")/.."
profile=$1 binary=$2
out=target/wheels/$profile
package=clients/python

mkdir -p "$package/python/forebay/bin" "$out"
# Debug information would make the wheel ten times as large.
strip -o "$package/python/forebay/bin/forebay" "$binary"
# What pyproject.toml names beside the code. maturin takes no file from outside the package's folder.
cp LICENSE-APACHE LICENSE-MIT "$package"
python3 scripts/description.py >"$package/README.md"
python3 scripts/notices.py forebay forebay-python >"$package/NOTICES"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 scripts/sbom.py forebay forebay-python >"$scratch/forebay.cyclonedx.json"
rm -f "$out"/*.whl
# "linux": for this machine; no check against older C libraries. What it says is shown where it fails.
.venv/bin/maturin build -q --locked --profile "$profile" --compatibility linux --interpreter .venv/bin/python \
  --sbom-include "$scratch/forebay.cyclonedx.json" -m "$package/Cargo.toml" --out "$out" >"$out/log" 2>&1 || {
  cat "$out/log" >&2
  exit 1
}
.venv/bin/python -m pip install -q --disable-pip-version-check --no-input --no-deps --force-reinstall "$out"/*.whl
