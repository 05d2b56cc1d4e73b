#!/usr/bin/env bash
# Prints the folder of an etcd for tests: the system's, or Debian's package, unpacked into target/etcd and not installed.
# Prints why there is none, and fails, where that is not possible.
set -euo pipefail
cd "$(dirname "$0")/.."

if found=$(command -v etcd); then
  dirname "$found"
  exit
fi
folder=$PWD/target/etcd
if [ ! -x "$folder/usr/bin/etcd" ]; then
  if ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then
    echo "there is no etcd, and no apt-get to get it by; install etcd 3.4 or later" >&2
    exit 1
  fi
  mkdir -p "$folder"
  scratch=$(mktemp -d "$folder/unpack.XXXXXX")
  trap 'rm -rf "$scratch"' EXIT
  # apt-get drops its rights for a download, and may then not write here, which it says.
  if ! (cd "$scratch" && apt-get download -qq -o Acquire::Retries=1 -o Acquire::http::Timeout=20 etcd-server >apt.log 2>&1); then
    echo "etcd cannot be downloaded: $(tail -n 1 "$scratch/apt.log"); install etcd 3.4 or later" >&2
    exit 1
  fi
  # Moved when it is whole, so that an unpacking that was ended leaves no half of a server.
  dpkg-deb -x "$scratch"/etcd-server_*.deb "$scratch/whole"
  rm -rf "$folder/usr"
  mv "$scratch/whole/usr" "$folder/usr"
fi
echo "$folder/usr/bin"
