#!/usr/bin/env bash
# Prints the folder of the mkdocs that scripts/site.txt pins, and installs it into target/mkdocs if it is not there yet.
# Prints why there is none, and fails, where that is not possible.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$PWD/target/mkdocs
if ! cmp -s scripts/site.txt "$folder/requirements"; then
  rm -rf "$folder"
  mkdir -p "$folder"
  {
    python3 -m venv "$folder" &&
      "$folder/bin/python" -m pip install -q --disable-pip-version-check --no-input -r scripts/site.txt
  } >"$folder/log" 2>&1 || {
    echo "mkdocs cannot be installed: $(tail -n 1 "$folder/log")" >&2
    exit 1
  }
  # Written last: an installation that was interrupted is begun again.
  cp scripts/site.txt "$folder/requirements"
fi
echo "$folder/bin"
