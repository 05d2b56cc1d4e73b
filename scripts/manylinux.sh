#!/usr/bin/env bash
# Makes wheels for any Linux with glibc 2.28 or later, by zig: of this machine's kind and of others. auditwheel and twine check
# each. Binaries are left in target/TARGET. Prints why there are none, and fails, where that is not possible.
# Usage: manylinux.sh PROFILE OUT [TARGET...]      (PROFILE is a cargo profile, TARGET a triple of Rust; the default is all)
set -euo pipefail
cd "$(dirname "$0")/.."

profile=$1 out=$2
shift 2
[ $# -gt 0 ] || set -- x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu
tools=$(scripts/release_tools.sh)
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}

for target; do
  [ -d "$(rustc --print sysroot)/lib/rustlib/$target" ] || rustup target add "$target" >/dev/null 2>&1 || {
    echo "there is no Rust for $target here, and no rustup that could install it" >&2
    exit 1
  }
  rm -f "$out"/*"_${target%%-*}.whl"
  scripts/cross.sh "$profile" cargo-zigbuild zigbuild -q --locked --profile "$profile" --target "$target.2.28" -p forebay
  binary=target/$target/$([ "$profile" = dev ] && echo debug || echo "$profile")/forebay
  scripts/wheel.sh "$profile" "$binary" "$target" "$out"
  wheel=$(echo "$out"/*"_${target%%-*}.whl")
  said=$("$tools/auditwheel" show "$wheel")
  if ! grep -q "manylinux_2_28_${target%%-*}" <<<"$said"; then
    printf 'manylinux.sh: auditwheel says of %s:\n%s\n' "$wheel" "$said" >&2
    exit 1
  fi
  "$tools/twine" check --strict "$wheel" >&2
  echo "$wheel"
done
# What is left would be of the last machine, and no use here.
rm -f clients/python/python/forebay/bin/forebay
