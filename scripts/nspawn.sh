#!/usr/bin/env bash
# Boots the Debian in FOLDER with systemd-nspawn of Debian's package, which is unpacked and not installed. It needs root.
# What is written there is gone afterwards. The arguments after FOLDER are those of systemd-nspawn.
# Usage: nspawn.sh FOLDER [ARGUMENT...]      (FOLDER is one of debian.sh, with systemd)
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$1
shift
[ "$(id -u)" = 0 ] || { echo "a Debian is booted as root" >&2 && exit 1; }
tools=$(scripts/unpack.sh nspawn systemd-container)
# It is linked to libraries of its own version, which the folder has.
libraries=$(echo "$folder"/usr/lib/*-linux-gnu)
LD_LIBRARY_PATH=$libraries:$libraries/systemd exec "$tools/usr/bin/systemd-nspawn" --quiet --register=no --keep-unit --private-network \
  --volatile=overlay --directory="$folder" --machine="forebay-test-$$" --boot "$@"
