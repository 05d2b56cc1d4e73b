#!/usr/bin/env bash
# Prints the folder with the programs that scripts/release.txt pins, and installs them into target/release-tools if they are
# not there yet. Prints why there are none, and fails, where that is not possible.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$PWD/target/release-tools
if ! cmp -s scripts/release.txt "$folder/requirements"; then
  rm -rf "$folder"
  mkdir -p "$folder"
  {
    python3 -m venv "$folder" &&
      "$folder/bin/python" -m pip install -q --disable-pip-version-check --no-input -r scripts/release.txt
  } >"$folder/log" 2>&1 || {
    echo "zig and the other tools of a release cannot be installed: $(tail -n 1 "$folder/log")" >&2
    exit 1
  }
  # Written last: an installation that was interrupted is begun again.
  cp scripts/release.txt "$folder/requirements"
fi
echo "$folder/bin"
