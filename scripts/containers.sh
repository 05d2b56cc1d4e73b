#!/usr/bin/env bash
# Prints a folder with the commands buildah and podman: those of Debian's packages, unpacked into target/containers and not
# installed, with their images and containers in that folder as well. They need root.
# Prints why there are none, and fails, where that is not possible.
set -euo pipefail
cd "$(dirname "$0")/.."

[ "$(id -u)" = 0 ] || { echo "buildah and podman are used as root here" >&2 && exit 1; }
# runc, because crun does not start where control groups have version 1 and not all controllers are there.
folder=$(scripts/unpack.sh containers buildah podman runc conmon containernetworking-plugins libassuan0 libgpgme11 libsubid4 libyajl2 \
  golang-github-containers-common golang-github-containers-image)
state=$folder/state
mkdir -p "$folder/commands" "$state"

cat >"$state/storage.conf" <<END
[storage]
driver = "vfs"
graphroot = "$state/graph"
runroot = "$state/run"
END
# Limits are named because the defaults are above what some machines allow.
cat >"$state/containers.conf" <<END
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
[network]
network_backend = "cni"
cni_plugin_dirs = ["$folder/usr/lib/cni"]
network_config_dir = "$state/cni"
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "runc"
conmon_path = ["$folder/usr/bin/conmon"]
static_dir = "$state/libpod"
volume_path = "$state/volumes"
tmp_dir = "$state/tmp"
[engine.runtimes]
runc = ["$folder/usr/sbin/runc"]
END
mkdir -p "$state/home/.config/containers"
echo '{"default": [{"type": "insecureAcceptAnything"}]}' >"$state/home/.config/containers/policy.json"
for command in buildah podman; do
  cat >"$folder/commands/$command" <<END
#!/bin/sh
export HOME=$state/home LD_LIBRARY_PATH=$(echo "$folder"/usr/lib/*-linux-gnu) PATH="$folder/usr/bin:$folder/usr/sbin:\$PATH"
export CONTAINERS_STORAGE_CONF=$state/storage.conf CONTAINERS_CONF=$state/containers.conf
export CONTAINERS_REGISTRIES_CONF=$folder/etc/containers/registries.conf
exec "$folder/usr/bin/$command" "\$@"
END
  chmod 755 "$folder/commands/$command"
done
echo "$folder/commands"
