# What the scripts that run in a booted Debian share: steps with a line for each, and what a step waits for.

passed() { echo "passed: $*"; }
# What it says of the service is for the reader of the log.
fail() {
  echo "failed: $*"
  systemctl status --no-pager forebay.service forebay.socket || true
  journalctl --no-pager -n 40 -u forebay.service || true
  exit 1
}
expect() {
  local what=$1
  shift
  "$@" || fail "$what"
  passed "$what"
}
state() { systemctl is-active "$1" || true; }
pid() { systemctl show -p MainPID --value forebay.service; }
as_forebay() { runuser -u forebay -- "$@"; }
install_package() { dpkg -i "$@" >dpkg.log 2>&1 || { cat dpkg.log && return 1; }; }

# Waits until a command succeeds, for a minute.
until_so() { for _ in {1..600}; do "$@" && return || sleep 0.1; done; return 1; }
states() { [ "$(state forebay.service) $(state forebay.socket)" = "$1" ]; }
is_another() { [ "$(pid)" != "$1" ] && [ "$(pid)" != 0 ]; }
# The states of the service and of its socket.
becomes() { until_so states "$1"; }
another_than() { until_so is_another "$1"; }
# A file has this line.
says() { until_so grep -qx "$1" "$2"; }
refused() { ! "$@"; }
