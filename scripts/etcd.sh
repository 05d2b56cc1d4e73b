#!/usr/bin/env bash
# Prints the folder of an etcd for tests: the system's, or Debian's package, unpacked into target/etcd and not installed.
# Prints why there is none, and fails, where that is not possible.
set -euo pipefail
cd "$(dirname "$0")/.."

if found=$(command -v etcd); then
  dirname "$found"
  exit
fi
folder=$(scripts/unpack.sh etcd etcd-server)
echo "$folder/usr/bin"
