#!/usr/bin/env bash
# Fuzzes each target in turn: scripts/fuzz.sh [SECONDS [TARGET...]]. Seeds are generated pictures and, where the shared
# test data is present, its hostile and odd files below 64 KiB. Needs cargo-fuzz and a nightly toolchain.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-600}
shift || true
if ! cargo +nightly fuzz --version >/dev/null 2>&1; then
  echo "fuzz: cargo-fuzz or the nightly toolchain is missing: run \`make deps-fuzz\`" >&2
  exit 1
fi
targets=("$@")
[ ${#targets[@]} -gt 0 ] || mapfile -t targets < <(cargo +nightly fuzz list)

data=${FOREBAY_TEST_DATA:-../shared/data}
seeds=fuzz/corpus/seeds
cargo run -q --locked -p forebay-pixels --example seeds -- "$seeds"
for set in hostile conformance; do
  if [ -d "$data/$set" ]; then
    find "$data/$set" -type f -size -64k ! -name '*.tsv' -exec cp -f -t "$seeds" {} +
  else
    echo "fuzz: $data/$set is absent; generated seeds alone"
  fi
done

for target in "${targets[@]}"; do
  echo "== $target, $seconds s"
  mkdir -p "fuzz/corpus/$target"
  cargo +nightly fuzz run "$target" "fuzz/corpus/$target" "$seeds" -- \
    -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=65536 -print_final_stats=1
done
