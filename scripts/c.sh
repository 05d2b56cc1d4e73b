#!/usr/bin/env bash
# Builds the library for C and installs it: header, shared and static library, file for pkg-config.
# Usage: c.sh PROFILE PREFIX      (PROFILE is a cargo profile: dev or release. DESTDIR is put before PREFIX, as usual)
set -euo pipefail
cd "$(dirname "$0")/.."
profile=$1 prefix=$2
built=${CARGO_TARGET_DIR:-target}/$([ "$profile" = dev ] && echo debug || echo "$profile")
into=${DESTDIR:-}$prefix

cargo build -q --locked --profile "$profile" -p forebay-c
version=$(cargo metadata --no-deps --offline --format-version 1 |
  sed 's/.*"name":"forebay-c","version":"\([^"]*\)".*/\1/')
mkdir -p "$into/include" "$into/lib/pkgconfig"
install -m 644 clients/c/include/forebay.h "$into/include/forebay.h"
# Debug information would make them ten times as large.
strip --strip-debug -o "$into/lib/libforebay.a" "$built/libforebay.a"
strip --strip-debug -o "$into/lib/libforebay.so.$version" "$built/libforebay.so"
chmod 644 "$into/lib/libforebay.a"
chmod 755 "$into/lib/libforebay.so.$version"
# The name that programs remember: build.rs in clients/c makes it of the version.
soname=$(readelf -d "$built/libforebay.so" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
ln -sf "libforebay.so.$version" "$into/lib/$soname"
ln -sf "$soname" "$into/lib/libforebay.so"
sed "s|@PREFIX@|$prefix|; s|@VERSION@|$version|" clients/c/forebay.pc.in >"$into/lib/pkgconfig/forebay.pc"
