#!/usr/bin/env bash
# What systemd says of the units: no complaint from `verify`, and an exposure of at most LIMIT (of 100) from `security`;
# and whether a trainer that comes before the daemon finds it there, by a socket that was opened for both.
# The unit must forbid the network, and its drop-in file for the network must allow it.
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
for unit in forebay forebay-coordinator forebay-page; do
  sed "s|/usr/local/bin/forebay|$PWD/target/debug/forebay|" deploy/systemd/$unit.service >"$scratch/$unit.service"
done
# The service as docs/operating.md installs it for a network.
network=$scratch/network
install -D -m 644 deploy/systemd/forebay-network.conf "$network/forebay.service.d/network.conf"
cp "$scratch"/forebay.service "$scratch"/forebay.socket "$network"

failed=0
said=$(systemd-analyze verify "$scratch"/forebay.service "$scratch"/forebay-coordinator.service "$scratch"/forebay-page.service "$scratch"/forebay.socket 2>&1) || failed=1
said+=$'\n'$(systemd-analyze verify "$network/forebay.service" 2>&1) || failed=1
# Of other units on this machine it may say what it likes, and before 254 that it does not know the intervals of restarts.
said=$(grep -F forebay <<<"$said" | grep -vE "Unknown key( name)? '(RestartSteps|RestartMaxDelaySec)'" || true)
if [ -n "$said" ] || [ $failed = 1 ]; then
  printf 'failed: systemd-analyze verify\n%s\n' "$said"
  failed=1
else
  echo "passed: systemd-analyze verify"
fi

if ! systemd-analyze --help | grep -q -- --threshold; then
  echo "skipped: systemd-analyze security: this systemd is older than 250"
else
  for unit in forebay forebay-coordinator forebay-page network/forebay; do
    if said=$(systemd-analyze security --no-pager --offline=true --threshold=$LIMIT "$scratch/$unit.service" 2>&1); then
      echo "passed: systemd-analyze security: exposure $unit.service: $(sed -n 's/.*exposure level .*: \([0-9.]*\) .*/\1/p' <<<"$said")"
    else
      printf 'failed: systemd-analyze security\n%s\n' "$said"
      failed=1
    fi
  done
  # The unit alone has no network. With the drop-in file, it has.
  for expected in "forebay no" "network/forebay yes"; do
    read -r unit expectation <<<"$expected"
    said=$(systemd-analyze security --no-pager --offline=true "$scratch/$unit.service" 2>&1 || true)
    namespace=$(grep -oE "Service has (no )?access to the host's network" <<<"$said" || true)
    sockets=$(grep -oE "Service (may|cannot) allocate Internet sockets" <<<"$said" || true)
    case "$namespace, $sockets" in
      "Service has access to the host's network, Service may allocate Internet sockets") has=yes ;;
      "Service has no access to the host's network, Service cannot allocate Internet sockets") has=no ;;
      *) has="'$namespace, $sockets'" ;;
    esac
    if [ "$has" = "$expectation" ]; then
      echo "passed: systemd units: network of $unit.service: $has"
    else
      echo "failed: systemd units: network of $unit.service: $has instead of $expectation"
      failed=1
    fi
  done
fi

# As forebay.socket and forebay.service do it: the daemon is started by the first trainer.
activated() {
  local run=$scratch/run daemon trainer=0
  mkdir -m 750 "$run"
  mkdir "$scratch/state"
  target/debug/forebay sample "$scratch/pictures" --count 20 --width 64 --height 48
  RUNTIME_DIRECTORY=$run STATE_DIRECTORY=$scratch/state systemd-socket-activate --seqpacket \
    -l "$run/forebay.sock" -E RUNTIME_DIRECTORY -E STATE_DIRECTORY target/debug/forebay serve "$scratch/pictures" &
  daemon=$!
  for _ in {1..100}; do [ -S "$run/forebay.sock" ] && break || sleep 0.1; done
  .venv/bin/python - "$run/forebay.sock" <<'END' || trainer=1
import sys, forebay
with forebay.Loader("default", socket=sys.argv[1]) as loader:
    assert sum(batch.valid for batch in loader) == 20
END
  kill $daemon
  wait $daemon || return 1
  return $trainer
}
if ! command -v systemd-socket-activate >/dev/null; then
  echo "skipped: socket activation: there is no systemd-socket-activate here"
elif activated >"$scratch/log" 2>&1; then
  echo "passed: socket activation"
else
  printf 'failed: socket activation\n%s\n' "$(cat "$scratch/log")"
  failed=1
fi
scripts/lifecycle.sh || failed=1
exit $failed
