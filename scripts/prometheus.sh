#!/usr/bin/env bash
# Prints a folder with prometheus and promtool for tests: the system's, or Debian's package, unpacked into target/prometheus
# and not installed. Prints why there is none, and fails, where that is not possible.
set -euo pipefail
cd "$(dirname "$0")/.."

if found=$(command -v promtool) && command -v prometheus >/dev/null; then
  dirname "$found"
  exit
fi
folder=$PWD/target/prometheus
if [ ! -x "$folder/usr/bin/promtool" ]; then
  if ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then
    echo "there is no prometheus, and no apt-get to get it by; install prometheus 2.42 or later" >&2
    exit 1
  fi
  mkdir -p "$folder"
  scratch=$(mktemp -d "$folder/unpack.XXXXXX")
  trap 'rm -rf "$scratch"' EXIT
  # apt-get drops its rights for a download, and may then not write here, which it says.
  if ! (cd "$scratch" && apt-get download -qq -o Acquire::Retries=1 -o Acquire::http::Timeout=20 prometheus >apt.log 2>&1); then
    echo "prometheus cannot be downloaded: $(tail -n 1 "$scratch/apt.log"); install prometheus 2.42 or later" >&2
    exit 1
  fi
  # Moved when it is whole, so that an unpacking that was ended leaves no half of a server.
  dpkg-deb -x "$scratch"/prometheus_*.deb "$scratch/whole"
  rm -rf "$folder/usr"
  mv "$scratch/whole/usr" "$folder/usr"
fi
echo "$folder/usr/bin"
