#!/usr/bin/env bash
# What becomes of the service and of its socket when it is stopped, started, killed and given a bad configuration: the units of
# deploy/, without their sandbox, under a systemd of a user in a mount namespace of its own, which needs root.
# Prints a line per test, as units.sh does.
set -euo pipefail
cd "$(dirname "$0")/.."

name="the service's life under systemd"
if [ "${1:-}" != inside ]; then
  for needed in unshare dbus-daemon systemctl /usr/lib/systemd/systemd; do
    command -v $needed >/dev/null || { echo "skipped: $name: there is no $needed here" && exit 0; }
  done
  [ "$(id -u)" = 0 ] || { echo "skipped: $name: only root may make a mount namespace" && exit 0; }
  unshare -m true 2>/dev/null || { echo "skipped: $name: no mount namespace can be made" && exit 0; }
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  if unshare -m "$0" inside "$scratch" >"$scratch/log" 2>&1; then
    grep -E '^(passed|skipped): ' "$scratch/log"
    exit 0
  fi
  printf 'failed: %s\n%s\n' "$name" "$(tail -n 60 "$scratch/log")"
  exit 1
fi

scratch=$2
mount -t tmpfs tmpfs /run
mkdir -p /run/systemd/system /run/user/0
chmod 700 /run/user/0
export XDG_RUNTIME_DIR=/run/user/0 XDG_STATE_HOME=$scratch/state XDG_CACHE_HOME=$scratch/cache HOME=$scratch
export SYSTEMD_UNIT_PATH=$scratch/units: DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/0/bus
mkdir "$scratch/units"
target/debug/forebay sample "$scratch/pictures" --count 20 --width 64 --height 48
sed -e "s|^ExecStart=.*|ExecStart=/bin/sh -c 'test ! -e $scratch/mistake \|\| exit 2; sleep infinity \& exec $PWD/target/debug/forebay serve $scratch/pictures'|" \
  -e '/^User=/d' -e '/^Group=/d' -e '/^ExecReload=/d' -e '/^MemorySwapMax=/,/^SystemCallErrorNumber=/d' \
  deploy/systemd/forebay.service >"$scratch/units/forebay.service"
sed -e 's|/run/forebay|%t/forebay|' -e '/^SocketUser=/d' -e '/^SocketGroup=/d' \
  deploy/systemd/forebay.socket >"$scratch/units/forebay.socket"
dbus-daemon --session --address=unix:path=/run/user/0/bus --nofork &
bus=$!
for _ in {1..200}; do [ -S /run/user/0/bus ] && break || sleep 0.05; done
/usr/lib/systemd/systemd --user &
manager=$!
trap 'kill $manager $bus; sleep 1; kill -9 $manager $bus 2>/dev/null || true' EXIT
for _ in {1..200}; do systemctl --user show-environment >/dev/null 2>&1 && break || sleep 0.1; done
if ! systemctl --user show-environment >/dev/null; then
  echo "skipped: $name: systemd does not run here"
  exit 0
fi

socket=/run/user/0/forebay/forebay.sock
# The states of the service and of the socket, and whether trainers find it.
state() {
  local found=absent
  [ -S $socket ] && found=there
  echo "$(systemctl --user is-active forebay.service) $(systemctl --user is-active forebay.socket) $found"
}
# Waits for a state: a trainer, or systemd itself, may need a moment.
becomes() {
  for _ in {1..300}; do [ "$(state)" = "$2" ] && echo "passed: $name: $1" && return || sleep 0.1; done
  echo "$1: $(state) instead of $2"
  systemctl --user status forebay.service forebay.socket --no-pager || true
  return 1
}
trainer() {
  timeout 120 .venv/bin/python - "$@" <<'END'
import sys, forebay
with forebay.Loader("default", socket=sys.argv[1]) as loader:
    batch = loader.next()
    if len(sys.argv) > 2:
        print("attached", flush=True)
        sys.stdin = open(sys.argv[2])
        sys.stdin.read()
END
}

systemctl --user start forebay.service
becomes "a start opens the socket" "active active there"
trainer $socket
systemctl --user stop forebay.service
becomes "a stop closes the socket" "inactive inactive absent"
systemctl --user start forebay.service
becomes "a start after a stop opens the socket again" "active active there"
trainer $socket
mkfifo "$scratch/end"
trainer $socket "$scratch/end" >"$scratch/attached" &
attached=$!
for _ in {1..300}; do grep -q attached "$scratch/attached" && break || sleep 0.1; done
systemctl --user stop forebay.service
becomes "a stop is not undone by a trainer that was attached" "inactive inactive absent"
kill $attached
wait $attached || true
systemctl --user start forebay.service
pid() {
  systemctl --user show -p MainPID --value forebay.service
}
killed=$(pid)
kill -9 "$killed"
# systemd may need a moment to notice.
for _ in {1..300}; do [ "$(pid)" != "$killed" ] && [ "$(pid)" != 0 ] && break || sleep 0.1; done
# The `sleep` is left, as children of a daemon that was killed are, so that its end takes systemd more than one step.
becomes "a killed daemon is started again with its socket" "active active there"
trainer $socket
systemctl --user restart forebay.service
becomes "a restart leaves the socket open" "active active there"
touch "$scratch/mistake"
systemctl --user restart forebay.service || true
becomes "a mistake in the configuration closes the socket" "failed inactive absent"
rm "$scratch/mistake"
systemctl --user start forebay.service
becomes "a start after the mistake is mended opens the socket again" "active active there"
trainer $socket
