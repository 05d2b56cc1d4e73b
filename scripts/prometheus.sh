#!/usr/bin/env bash
# Prints a folder with prometheus and promtool for tests: the system's, or Debian's package, unpacked into target/prometheus
# and not installed. Prints why there is none, and fails, where that is not possible.
set -euo pipefail
cd "$(dirname "$0")/.."

if found=$(command -v promtool) && command -v prometheus >/dev/null; then
  dirname "$found"
  exit
fi
folder=$(scripts/unpack.sh prometheus prometheus)
echo "$folder/usr/bin"
