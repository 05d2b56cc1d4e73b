#!/usr/bin/env bash
# Runs a command, such as cargo-zigbuild, as all builds for other machines are run: with zig as compiler of C and as linker.
# Usage: cross.sh PROFILE COMMAND...      (PROFILE is a cargo profile)
set -euo pipefail
cd "$(dirname "$0")/.."

profile=$1
shift
tools=$(scripts/release_tools.sh)
export PATH=$tools:$PATH
# Nothing that is built so keeps its debug information, which would take gigabytes in target/.
profile=$(tr a-z- A-Z_ <<<"$profile")
export "CARGO_PROFILE_${profile}_DEBUG=0" "CARGO_PROFILE_${profile}_STRIP=symbols"
# A binary names the sources of its panics. Folders of this machine would make other bytes elsewhere.
sources=${CARGO_HOME:-$HOME/.cargo}/registry/src
export RUSTFLAGS="--remap-path-prefix=$PWD=forebay --remap-path-prefix=$sources=crates"
export CFLAGS="-ffile-prefix-map=$PWD=forebay -ffile-prefix-map=$sources=crates"
# PyO3 would look for the other machine's Python, and the stable ABI needs none.
unset PYO3_PYTHON
exec "$@"
