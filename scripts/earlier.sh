#!/usr/bin/env bash
# Prints the folder bin/ of an environment that has the wheel of an earlier build: the last one whose newest version of the
# protocol is the one before today's. It is built in target/earlier, once. Prints why it cannot be, and fails.
set -euo pipefail
cd "$(dirname "$0")/.."

# Raise it together with the version of the protocol in ring/src/protocol.rs: the commit before the one that raises it.
COMMIT=445fced80726b20d254e0ddac0d9460a88a2d858

folder=$PWD/target/earlier
if [ "$(cat "$folder/commit" 2>/dev/null)" != $COMMIT ]; then
  if ! git cat-file -e "$COMMIT^{commit}" 2>/dev/null; then
    echo "the history of this checkout does not have $COMMIT, the build of the version before: fetch all of it" >&2
    exit 1
  fi
  rm -rf "$folder"
  mkdir -p "$folder"
  if ! {
    git clone -q --shared --no-checkout . "$folder/source" &&
      cd "$folder/source" &&
      git checkout -q $COMMIT &&
      scripts/deps.sh &&
      export PYO3_PYTHON=$PWD/.venv/bin/python PYO3_BUILD_EXTENSION_MODULE=1 CARGO_INCREMENTAL=0 &&
      cargo build -q --locked -p forebay -p forebay-python &&
      scripts/wheel.sh dev target/debug/forebay
  } >"$folder/log" 2>&1 </dev/null; then
    echo "the build of the version before failed: $(tail -n 1 "$folder/log")" >&2
    exit 1
  fi
  rm -rf "$folder/source/target"
  # Last, so that a build that was interrupted begins anew.
  echo $COMMIT >"$folder/commit"
fi
echo "$folder/source/.venv/bin"
