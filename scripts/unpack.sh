#!/usr/bin/env bash
# Unpacks Debian packages into target/NAME, without installing them, and prints the folder. It downloads only what is missing.
# Prints why it cannot, and fails, where that is so. Packages that these depend on must be named as well.
# Usage: unpack.sh NAME PACKAGE...
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$PWD/target/$1
shift
if [ "$(cat "$folder/packages" 2>/dev/null)" != "$*" ]; then
  if ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then
    echo "$*: there is no apt-get to get them by" >&2
    exit 1
  fi
  mkdir -p "$folder"
  scratch=$(mktemp -d "$folder/unpack.XXXXXX")
  trap 'rm -rf "$scratch"' EXIT
  # apt-get drops its rights for a download, and may then not write here, which it says.
  if ! (cd "$scratch" && apt-get download -qq -o Acquire::Retries=1 -o Acquire::http::Timeout=20 "$@" >apt.log 2>&1); then
    echo "$*: cannot be downloaded: $(tail -n 1 "$scratch/apt.log")" >&2
    exit 1
  fi
  for package in "$scratch"/*.deb; do dpkg-deb -x "$package" "$folder"; done
  # Last, so that an unpacking that was ended begins anew.
  echo "$*" >"$folder/packages"
fi
echo "$folder"
