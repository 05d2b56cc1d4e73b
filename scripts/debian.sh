#!/usr/bin/env bash
# Makes a minimal Debian with further packages in target/debian/NAME, by debootstrap, and prints the folder. It needs root.
# Prints why there is none, and fails, where that is not possible.
# Usage: [SUITE=bullseye] debian.sh NAME [PACKAGE...]      (SUITE is a release of Debian, by default this machine's. Its
# debootstrap may not know newer ones, and has the same steps for all.)
set -euo pipefail
cd "$(dirname "$0")/.."

name=$1
shift
folder=$PWD/target/debian/$name
if [ "$(cat "$folder.packages" 2>/dev/null)" != "$*${SUITE:+ from $SUITE}" ]; then
  [ "$(id -u)" = 0 ] || { echo "a Debian is made as root" >&2 && exit 1; }
  tools=$(scripts/unpack.sh debootstrap debootstrap)
  # The archive that this machine uses.
  read -r mirror suite < <(apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT)' 'Created-By: Packages' |
    sed -n 's/^\([^ ]*\) \([a-z]*\) main$/\1 \2/p' | head -n 1) || true
  suite=${SUITE:-${suite:-}}
  [ -n "$suite" ] || { echo "apt-get names no archive to take a Debian from" >&2 && exit 1; }
  rm -rf "$folder" "$folder.packages"
  mkdir -p "$folder"
  include=$(tr ' ' , <<<"$*")
  if ! DEBOOTSTRAP_DIR=$tools/usr/share/debootstrap "$tools/usr/sbin/debootstrap" --variant=minbase \
    ${include:+--include="$include"} "$suite" "$folder" "$mirror" ${SUITE:+"$tools/usr/share/debootstrap/scripts/sid"} >"$folder.log" 2>&1; then
    echo "no Debian can be made: $(tail -n 1 "$folder.log")" >&2
    exit 1
  fi
  echo "$*${SUITE:+ from $SUITE}" >"$folder.packages"
fi
echo "$folder"
