#!/usr/bin/env bash
# What systemd says of the units: no complaint from `verify`, and an exposure of at most LIMIT (of 100) from `security`.
# Prints a line per test: "passed: ...", "skipped: ..." or "failed: ...".
set -euo pipefail
cd "$(dirname "$0")/.."
LIMIT=20

if ! command -v systemd-analyze >/dev/null; then
  echo "skipped: systemd units: there is no systemd-analyze here"
  exit 0
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# `verify` wants to see the program, which is not installed here.
cp deploy/systemd/forebay.socket "$scratch"
sed "s|/usr/local/bin/forebay|$PWD/target/debug/forebay|" deploy/systemd/forebay.service >"$scratch/forebay.service"

failed=0
said=$(systemd-analyze verify "$scratch/forebay.service" "$scratch/forebay.socket" 2>&1) || failed=1
# Of other units on this machine it may say what it likes.
said=$(grep -F forebay <<<"$said" || true)
if [ -n "$said" ] || [ $failed = 1 ]; then
  printf 'failed: systemd-analyze verify\n%s\n' "$said"
  failed=1
else
  echo "passed: systemd-analyze verify"
fi

if ! systemd-analyze --help | grep -q -- --threshold; then
  echo "skipped: systemd-analyze security: this systemd is older than 250"
elif said=$(systemd-analyze security --no-pager --offline=true --threshold=$LIMIT "$scratch/forebay.service" 2>&1); then
  echo "passed: systemd-analyze security: exposure $(grep -oE 'forebay.service: [0-9.]+' <<<"$said" | tail -1)"
else
  printf 'failed: systemd-analyze security\n%s\n' "$said"
  failed=1
fi
exit $failed
