#!/usr/bin/env bash
# The life of the Debian package on a machine: installed, enabled, upgraded beside a trainer, removed and purged.
# Runs as root in a Debian that systemd has booted, with the packages and a trainer in C in /ship. Prints a line for each step.
set -euo pipefail
export LC_ALL=C
cd /ship

. ./steps.sh
epochs() { grep -c '^epoch' trainer.log || true; }
# Waits until the trainer has read two more epochs, so that the last of them began afterwards.
reads_on() {
  local before
  before=$(epochs)
  for _ in {1..600}; do [ "$(epochs)" -ge $((before + 2)) ] && return || sleep 0.1; done
  tail -n 5 trainer.log
  return 1
}

expect "the first package is installed" install_package forebay_*-1_*.deb
expect "nothing is started" test "$(state forebay.service) $(state forebay.socket) $(state forebay-coordinator.service) $(state forebay-page.service)" = "inactive inactive inactive inactive"
expect "nothing is enabled" test "$(systemctl is-enabled forebay.service forebay.socket | xargs)" = "disabled disabled"
expect "the configuration has no mistakes" as_forebay forebay config --check /etc/forebay/forebay.toml
expect "the manual page is there" test -f /usr/share/man/man1/forebay-serve.1.gz
expect "an upgrade starts no service that was not enabled" install_package forebay_*-2_*.deb
expect "it is not started" test "$(state forebay.service) $(state forebay.socket)" = "inactive inactive"
install_package --force-downgrade forebay_*-1_*.deb

expect "the service is enabled and started" systemctl enable -q --now forebay.socket forebay.service
expect "the daemon answers its user" as_forebay forebay status --wait=60s --socket-dir /run/forebay
expect "others do not reach the sockets" test "$(runuser -u nobody -- ls /run/forebay 2>&1 | grep -c 'Permission denied')" = 1

install_package libforebay*_*.deb
# A line for each epoch at once.
runuser -u forebay -- stdbuf -oL ./train train 1000000 /run/forebay/forebay.sock >trainer.log 2>&1 &
trainer=$!
expect "a trainer in C reads" reads_on
first=$(pid)
expect "a package is installed beside a running trainer" install_package forebay_*-2_*.deb
expect "the daemon is another one" test "$(pid)" != "$first" -a "$(pid)" != 0
expect "the trainer reads on" reads_on
expect "the trainer is the same process" kill -0 $trainer
expect "the audit adds up" as_forebay forebay audit train --socket-dir /run/forebay

second=$(pid)
cp /etc/forebay/forebay.toml good.toml
echo 'no_such_key = 3' >>/etc/forebay/forebay.toml
expect "a package is installed over a configuration with a mistake" install_package forebay_*-2_*.deb
expect "the message names it" grep -q 'the service runs on with the earlier version' dpkg.log
expect "the daemon is the same one" test "$(pid)" = "$second"
expect "the trainer reads on beside it" reads_on
cp good.toml /etc/forebay/forebay.toml

systemctl stop forebay.service
expect "an upgrade leaves a stopped service stopped" install_package forebay_*-2_*.deb
expect "it stays stopped" test "$(state forebay.service) $(state forebay.socket)" = "inactive inactive"
# Without its service, it may have ended by itself.
kill $trainer 2>/dev/null || true
wait $trainer 2>/dev/null || true
systemctl start forebay.service

dpkg -r forebay >dpkg.log 2>&1
expect "a removal stops the service" test "$(state forebay.service) $(state forebay.socket)" = "inactive inactive"
expect "a removal keeps the ledgers and the configuration" test -f /var/lib/forebay/ledger.redb -a -f /etc/forebay/forebay.toml
dpkg -P forebay >dpkg.log 2>&1
left=$(find / -xdev \( -path /proc -o -path /sys -o -path /ship -o -path /var/log -o -path /var/lib/dpkg -o -name 'libforebay*' \) -prune \
  -o -name '*forebay*' -print | grep -v '^/etc/systemd/system/ship' || true)
expect "a purge leaves nothing${left:+, but: }$(xargs <<<"$left")" test -z "$left"
expect "the user stays" getent passwd forebay
echo "passed: all"
