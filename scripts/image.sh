#!/usr/bin/env bash
# Makes images of containers around a built binary, from nothing but it and Debian's C library: there is no shell in them.
# With a WHEEL, also an image that has Python, numpy and the Python package, for readers in Python and for trainers.
# Each becomes an archive in OCI's format, and one in Docker's, which has a health check. The same input makes the same bytes in
# OCI's format. In Docker's, buildah writes the number of its container.
# Usage: image.sh BINARY OUT [WHEEL]
# SOURCE_DATE_EPOCH and FOREBAY_NOTICES are as in deb.sh.
set -euo pipefail
umask 022
export LC_ALL=C

binary=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
wheel=${3:+$(realpath "$3")}
cd "$(dirname "$0")/.."
commands=$(scripts/containers.sh)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
scratch=$(mktemp -d)
container=
ended() {
  rm -rf "$scratch"
  [ -z "$container" ] || "$commands/buildah" rm "$container" >/dev/null
}
trap ended EXIT

read -r _ version < <("$binary" --version)
case $(readelf -h "$binary" | sed -n 's/^ *Machine: *//p') in
  *X86-64*) architecture=amd64 ;;
  AArch64) architecture=arm64 ;;
esac
if [ "$architecture" != "$(dpkg --print-architecture)" ]; then
  echo "image.sh: $binary is for $architecture, and Debian's packages here are for $(dpkg --print-architecture)" >&2
  exit 1
fi

# A folder with what Debian's packages have, without what nothing here reads. Their copyrights stay.
system() {
  local root=$1 package link
  shift
  mkdir -p "$root"
  for package in "$@"; do
    # A folder for each, so that both images share what is downloaded.
    cp -a "$(scripts/unpack.sh "image/$package" "$package")/." "$root"
  done
  # Packages of one source share a copyright, by a link to the folder of one of them.
  for link in $(find "$root/usr/share/doc" -xtype l); do
    package=$(basename "$(readlink "$link")")
    cp -a "$(scripts/unpack.sh "image/$package" "$package")/usr/share/doc/$package" "$root/usr/share/doc/"
  done
  rm -rf "$root/packages" "$root"/usr/lib/*/gconv "$root/usr/share/man" "$root/usr/share/lintian" "$root/usr/share/bug" \
    "$root/usr/share/locale" "$root"/usr/share/doc/*/examples
  find "$root/usr/share/doc" -type f ! -name copyright -delete
  find "$root" -type d -empty -delete
}

# The root of the image: the daemon, its user, and the folders that volumes are mounted on.
filesystem() {
  local root=$1
  shift
  system "$root" libc6 libgcc-s1 ca-certificates "$@"
  mkdir -p "$root"/{etc/ssl/certs,etc/forebay,tmp,usr/bin,usr/share/doc/forebay} "$root"/run "$root"/var/{lib,cache}
  cat "$root"/usr/share/ca-certificates/mozilla/*.crt >"$root/etc/ssl/certs/ca-certificates.crt"
  rm -rf "$root/usr/share/ca-certificates" "$root/usr/sbin" "$root/etc/ca-certificates"
  echo "hosts: files dns" >"$root/etc/nsswitch.conf"
  printf '%s\n' root:x:0:0:root:/:/nologin forebay:x:10001:10001:Forebay:/nonexistent:/nologin >"$root/etc/passwd"
  printf '%s\n' root:x:0: forebay:x:10001: >"$root/etc/group"

  strip -o "$root/usr/bin/forebay" "$binary"
  chmod 755 "$root/usr/bin/forebay"
  if [ -n "${FOREBAY_NOTICES:-}" ]; then cp "$FOREBAY_NOTICES" "$scratch/notices"; else python3 scripts/notices.py forebay >"$scratch/notices"; fi
  gzip -9n <"$scratch/notices" >"$root/usr/share/doc/forebay/NOTICES.gz"
  cp LICENSE-MIT LICENSE-APACHE "$root/usr/share/doc/forebay/"

  chmod 1777 "$root/tmp"
  chown -R 0:0 "$root"
  # A volume that is new takes the owner and the mode of the folder that it is mounted on.
  install -d -o 10001 -g 10001 -m 750 "$root/run/forebay"
  install -d -o 10001 -g 10001 -m 700 "$root/var/lib/forebay" "$root/var/cache/forebay"
}

# Takes the image's name, its title, and its root.
image() {
  local name=$1 title=$2 root=$3 key archive
  tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --numeric-owner -C "$root" -cf "$scratch/$name.tar" .
  container=$("$commands/buildah" from scratch)
  "$commands/buildah" add --quiet "$container" "$scratch/$name.tar" / >/dev/null
  rm "$scratch/$name.tar"
  # The sockets, ledgers and indexes are where those of a service are, and commands and trainers find them there.
  "$commands/buildah" config --user 10001:10001 --workingdir / --stop-signal SIGTERM \
    --env XDG_RUNTIME_DIR=/run --env XDG_STATE_HOME=/var/lib --env XDG_CACHE_HOME=/var/cache --env PATH=/usr/bin \
    --entrypoint '["/usr/bin/forebay"]' --cmd "serve --config /etc/forebay/forebay.toml" "$container"
  for key in "title=$title" "description=Training batches from picture files, in shared memory" "version=$version" \
    "licenses=MIT OR Apache-2.0" "source=https://github.com/forebay/forebay" "revision=$(git rev-parse HEAD)"; do
    "$commands/buildah" config --label "org.opencontainers.image.$key" --annotation "org.opencontainers.image.$key" "$container"
  done
  archive=$out/$name-$version-$architecture
  rm -f "$archive".oci.tar "$archive".docker.tar
  "$commands/buildah" commit --quiet --timestamp "$SOURCE_DATE_EPOCH" --format oci \
    "$container" "oci:$scratch/oci:$name:$version" >/dev/null
  # buildah's own archive has the times of its files.
  tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=go=u-w -C "$scratch/oci" \
    -cf "$archive.oci.tar" blobs index.json oci-layout
  rm -rf "$scratch/oci"
  # OCI's format has no health check.
  "$commands/buildah" config --healthcheck 'CMD /usr/bin/forebay status --timeout 5s' --healthcheck-interval 30s \
    --healthcheck-timeout 10s --healthcheck-start-period 60s "$container" 2>/dev/null
  "$commands/buildah" commit --quiet --timestamp "$SOURCE_DATE_EPOCH" --format docker \
    "$container" "docker-archive:$archive.docker.tar:$name:$version" >/dev/null
  "$commands/buildah" rm "$container" >/dev/null
  container=
  printf '%s\n' "$archive.oci.tar" "$archive.docker.tar"
}

# Python as Debian has it, and the package for it, whose `forebay` is the image's.
python_filesystem() {
  local root=$1 python packages
  python=$(apt-cache depends python3-minimal | sed -n 's/.*Depends: \(python3\.[0-9]*\)-minimal$/\1/p' | head -n 1)
  [ -n "$python" ] || { echo "image.sh: apt-cache knows no python3-minimal" >&2 && exit 1; }
  filesystem "$root" "$python-minimal" "lib$python-minimal" "lib$python-stdlib" libexpat1 zlib1g libssl3 libffi8 libbz2-1.0 liblzma5 \
    libcrypt1 libuuid1 libstdc++6
  ln -s "$python" "$root/usr/bin/python3"
  packages=$root/usr/local/lib/$python/dist-packages
  # For the image's Python, whatever this machine's is.
  .venv/bin/python -m pip install -q --disable-pip-version-check --no-input --no-compile --only-binary :all: --target "$packages" \
    --python-version "${python#python}" --implementation cp --platform "manylinux2014_$(uname -m)" \
    --platform "manylinux_2_28_$(uname -m)" numpy
  # Scripts name the Python that installed them.
  rm -rf "$packages/bin"
  .venv/bin/python -m pip install -q --disable-pip-version-check --no-input --no-compile --no-deps --target "$packages" "$wheel"
  rm -rf "$packages/bin"
  ln -sf /usr/bin/forebay "$packages/forebay/bin/forebay"
  chown -R 0:0 "$root/usr/local"
}

filesystem "$scratch/forebay"
image forebay "Forebay" "$scratch/forebay"
rm -rf "$scratch/forebay"
if [ -n "$wheel" ]; then
  python_filesystem "$scratch/python"
  image forebay-python "Forebay, with Python for readers and trainers" "$scratch/python"
fi
