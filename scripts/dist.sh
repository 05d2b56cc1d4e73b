#!/usr/bin/env bash
# Makes what a release has in dist/, with SHA256SUMS: the wheels, the Debian packages, the documents as a site,
# and the images, which need root.
# Usage: dist.sh                                 builds all of it with the profile `dist`
#        dist.sh BINARY C_PREFIX WHEEL...        packs what is built; the first wheel is for this machine
# Where there is no zig, there is one wheel, which needs a C library as new as this machine's.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ $# = 0 ]; then
  machine=$(uname -m)
  if why=$(scripts/release_tools.sh 2>&1 >/dev/null); then
    out=target/wheels/manylinux-dist
    scripts/manylinux.sh dist "$out"
    others=$(ls "$out"/*.whl | grep -v "_$machine.whl")
    set -- "target/$machine-unknown-linux-gnu/dist/forebay" target/c-dist "$out"/*_"$machine.whl" $others
  else
    echo "dist.sh: only a wheel for this machine: $why" >&2
    cargo build --profile dist --locked -p forebay
    scripts/wheel.sh dist target/dist/forebay
    set -- target/dist/forebay target/c-dist target/wheels/dist/*.whl
  fi
  scripts/c.sh dist "$PWD/target/c-dist"
fi
binary=$1 c_prefix=$2 wheel=$3
shift 2
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 scripts/notices.py forebay >"$scratch/notices"
python3 scripts/notices.py forebay-c >"$scratch/c-notices"
export FOREBAY_NOTICES=$scratch/notices FOREBAY_C_NOTICES=$scratch/c-notices

rm -rf dist
mkdir dist
cp "$@" dist/
if command -v dpkg-deb >/dev/null; then
  scripts/deb.sh "$binary" dist "$c_prefix"
else
  echo "dist.sh: no Debian packages: there is no dpkg-deb here" >&2
fi
if why=$(scripts/containers.sh 2>&1 >/dev/null); then
  scripts/image.sh "$binary" dist "$wheel"
else
  echo "dist.sh: no images: $why" >&2
fi
if site=$(scripts/site.sh "$scratch/forebay-docs"); then
  tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX \
    -C "$(dirname "$site")" -c "$(basename "$site")" | gzip -9n >"dist/forebay-docs-$version.tar.gz"
else
  echo "dist.sh: no site of the documents" >&2
fi
(cd dist && sha256sum -- * >"$scratch/sums" && mv "$scratch/sums" SHA256SUMS)
cat dist/SHA256SUMS
