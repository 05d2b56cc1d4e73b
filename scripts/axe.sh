#!/usr/bin/env bash
# Prints a folder with axe.min.js, the rules by which axe-core judges whether a page can be used by everyone, as a package of the
# Python package index has them for tests: unpacked into target/axe and not installed.
# Prints why there is none, and fails, where that is not possible.
set -euo pipefail
cd "$(dirname "$0")/.."
AXE=axe-playwright-python==0.1.8

folder=$PWD/target/axe
if [ "$(cat "$folder/version" 2>/dev/null)" != "$AXE" ]; then
  rm -rf "$folder"
  mkdir -p "$folder"
  python=.venv/bin/python
  [ -x "$python" ] || python=python3
  if ! "$python" -m pip install -q --disable-pip-version-check --no-input --only-binary :all: --no-deps \
    --target "$folder/python" "$AXE" >"$folder/log" 2>&1; then
    echo "axe cannot be installed: $(tail -n 1 "$folder/log")" >&2
    exit 1
  fi
  echo "$AXE" >"$folder/version"
fi
echo "$folder/python/axe_playwright_python"
