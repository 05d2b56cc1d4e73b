#!/usr/bin/env bash
# Makes a minimal Debian with further packages in target/debian/NAME, by debootstrap, and prints the folder. It needs root.
# Prints why there is none, and fails, where that is not possible.
# Usage: debian.sh NAME [PACKAGE...]
set -euo pipefail
cd "$(dirname "$0")/.."

name=$1
shift
folder=$PWD/target/debian/$name
if [ "$(cat "$folder.packages" 2>/dev/null)" != "$*" ]; then
  [ "$(id -u)" = 0 ] || { echo "a Debian is made as root" >&2 && exit 1; }
  tools=$(scripts/unpack.sh debootstrap debootstrap)
  # The archive that this machine uses.
  read -r mirror suite < <(apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT)' 'Created-By: Packages' |
    sed -n 's/^\([^ ]*\) \([a-z]*\) main$/\1 \2/p' | head -n 1) || true
  [ -n "${suite:-}" ] || { echo "apt-get names no archive to take a Debian from" >&2 && exit 1; }
  rm -rf "$folder" "$folder.packages"
  mkdir -p "$folder"
  include=$(tr ' ' , <<<"$*")
  if ! DEBOOTSTRAP_DIR=$tools/usr/share/debootstrap "$tools/usr/sbin/debootstrap" --variant=minbase \
    ${include:+--include="$include"} "$suite" "$folder" "$mirror" >"$folder.log" 2>&1; then
    echo "no Debian can be made: $(tail -n 1 "$folder.log")" >&2
    exit 1
  fi
  echo "$*" >"$folder.packages"
fi
echo "$folder"
