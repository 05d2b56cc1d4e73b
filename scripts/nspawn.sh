#!/usr/bin/env bash
# Boots the Debian in FOLDER with systemd-nspawn of Debian's package, which is unpacked and not installed. It needs root.
# What is written there is gone afterwards, but not while the Debian boots again. The arguments after FOLDER are those of
# systemd-nspawn.
# Usage: nspawn.sh FOLDER [ARGUMENT...]      (FOLDER is one of debian.sh, with systemd)
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$1
shift
[ "$(id -u)" = 0 ] || { echo "a Debian is booted as root" >&2 && exit 1; }
tools=$(scripts/unpack.sh nspawn systemd-container)
# It is linked to libraries of its own version, which the folder has.
libraries=$(echo "$folder"/usr/lib/*-linux-gnu)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch"/{root,changes,work}
# nspawn's own overlay would begin anew with each boot. With --keep-unit it ends with 133 instead of booting again.
unshare --mount bash -c 'mount -t overlay overlay -o "lowerdir=$1,upperdir=$2/changes,workdir=$2/work" "$2/root" || exit
  shift 2
  while "$@"; ended=$?; [ $ended = 133 ]; do :; done
  exit $ended' nspawn.sh "$folder" "$scratch" \
  env LD_LIBRARY_PATH="$libraries:$libraries/systemd" "$tools/usr/bin/systemd-nspawn" --quiet --register=no --keep-unit \
  --private-network --directory="$scratch/root" --machine="forebay-test-$$" --boot "$@"
