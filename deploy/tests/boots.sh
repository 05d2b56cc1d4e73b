#!/usr/bin/env bash
# The service over two boots of a machine: activation by the socket, a kill, a hang, a reload, the journal, and a reboot in the
# middle of an epoch. Runs as root at each boot, in a Debian that systemd has booted, with the packages and the trainer of part.c
# in /ship. Prints a line for each step.
set -euo pipefail
export LC_ALL=C
cd /ship
. ./steps.sh

SOCKET=/run/forebay/forebay.sock
RECORDS=96

# All of these files' lines are numbers of records.
has_each_record_once() { [ "$(sort -n -u "$@" | wc -l)" = $RECORDS ] && [ "$(cat "$@" | wc -l)" = $RECORDS ]; }
# The records of the epoch that the ledger has as delivered.
has_delivered() { as_forebay forebay status --socket-dir /run/forebay 2>/dev/null | grep -q "^  epoch .*; $1 records delivered"; }
counts() { until_so has_delivered "$1"; }

if [ -e rebooted ]; then
  expect "the service is started at boot" becomes "active active"
  expect "the daemon answers" as_forebay forebay status --wait=60s --socket-dir /run/forebay
  expect "the epoch is in its middle" counts 32
  runuser -u forebay -- ./part train 0 $SOCKET >second
  expect "the rest of the epoch has each record that was missing, once" has_each_record_once first second
  as_forebay forebay audit train --socket-dir /run/forebay >audit || fail "the audit adds up"
  expect "the audit has the whole epoch, with equal checksums" grep -q "epoch 0.*$RECORDS.*checksum equal" audit
  expect "the journal of the boot before is there" journalctl -q -b -1 -u forebay.service --grep 'the stream is open' -n 1
  passed all
  exit
fi

mkdir -p /var/log/journal
systemctl restart systemd-journald
install_package forebay_*-1_*.deb libforebay*_*.deb
forebay sample /srv/pictures --count $RECORDS --classes 3 --width 64 --height 48 >/dev/null
sed -i -e 's|^source = .*|source = "/srv/pictures"|' -e 's|^batch_size = .*|batch_size = 8|' /etc/forebay/forebay.toml
expect "the configuration has no mistakes" as_forebay forebay config --check /etc/forebay/forebay.toml

systemctl start forebay.socket
expect "the socket alone starts no daemon" test "$(state forebay.service) $(state forebay.socket)" = "inactive active"
runuser -u forebay -- ./part train 0 $SOCKET >first
expect "a trainer at the socket starts it, and reads" has_each_record_once first
expect "the service is active" becomes "active active"
expect "the journal has its lines" journalctl -q -u forebay.service --grep 'the stream is open' -n 1
# The stages below begin with an epoch of which nothing was read.
as_forebay forebay run new train --socket-dir /run/forebay >/dev/null

runuser -u forebay -- ./part train 2 $SOCKET >first &
trainer=$!
expect "a trainer has read two batches" says waits first
expect "they are delivered" counts 16
killed=$(pid)
kill -9 "$killed"
expect "a killed daemon is started again" another_than "$killed"
expect "its trainer is the same process" kill -0 $trainer
expect "nothing that was delivered is forgotten" counts 16

mkdir -p /etc/systemd/system/forebay.service.d
printf '[Service]\nWatchdogSec=10s\n' >/etc/systemd/system/forebay.service.d/ship.conf
systemctl daemon-reload
systemctl restart forebay.service
hangs=$(pid)
kill -STOP "$hangs"
expect "a daemon that hangs is ended by the watchdog, and started again" another_than "$hangs"
expect "the journal says so" journalctl -q -u forebay.service --grep 'Watchdog timeout' -n 1
expect "the trainer is the same process after that" kill -0 $trainer
rm -r /etc/systemd/system/forebay.service.d
systemctl daemon-reload

running=$(pid)
printf '\n[streams.more]\nsource = "/srv/pictures"\nbatch_size = 4\nsize = 32\nunix_group = "forebay"\n' >>/etc/forebay/forebay.toml
expect "a reload is accepted" systemctl reload forebay.service
expect "the new stream is open" as_forebay forebay audit more --socket-dir /run/forebay
cp /etc/forebay/forebay.toml good.toml
echo 'no_such_key = 3' >>/etc/forebay/forebay.toml
expect "a reload of a mistake fails" refused systemctl reload forebay.service
expect "the journal names it" journalctl -q -u forebay.service --grep no_such_key -n 1
cp good.toml /etc/forebay/forebay.toml
expect "the daemon is the same one" test "$(pid)" = "$running"

kill $trainer
wait $trainer 2>/dev/null || true
systemctl enable -q forebay.socket forebay.service
runuser -u forebay -- ./part train 2 $SOCKET >more &
expect "another trainer has read two batches more" says waits more
expect "all four are delivered" counts 32
sed -i /waits/d first more
cat more >>first
# The unit that runs this script boots the machine again.
touch rebooted again
passed "the machine is told to boot again"
