#!/usr/bin/env bash
# Fuzzes each target in turn: scripts/fuzz.sh [SECONDS [TARGET...]]. Seeds are generated pictures, the cases in fuzz/seeds, AVIFs of tests,
# small datasets for the targets that read them and, where the shared test data is present, its hostile and odd files below
# 64 KiB. Needs what `make deps-fuzz` installs.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-600}
shift || true
if ! cargo +nightly fuzz --version >/dev/null 2>&1 || ! command -v c++ >/dev/null; then
  echo "fuzz: cargo-fuzz, the nightly toolchain or g++ is missing: run \`make deps-fuzz\`" >&2
  exit 1
fi
# cargo-fuzz has no --locked; this fails where Cargo.lock does not say everything, and cargo-fuzz then keeps to it.
cargo +nightly fetch -q --locked --manifest-path fuzz/Cargo.toml

targets=("$@")
[ ${#targets[@]} -gt 0 ] || mapfile -t targets < <(cargo +nightly fuzz list)

data=${FOREBAY_TEST_DATA:-../shared/data}
seeds=fuzz/corpus/seeds
cargo run -q --locked -p forebay-pixels --example seeds -- "$seeds"
cp -f fuzz/seeds/* avif/tests/pictures/*.avif "$seeds"
for set in hostile conformance; do
  if [ -d "$data/$set" ]; then
    find "$data/$set" -type f -size -64k ! -name '*.tsv' -exec cp -f -t "$seeds" {} +
  else
    echo "fuzz: $data/$set is absent; generated seeds alone"
  fi
done

datasets=fuzz/corpus/datasets
[ ! -d "$data" ] || genuine=$data
.venv/bin/python scripts/seeds.py "$datasets" ${genuine:+"$genuine"}

for target in "${targets[@]}"; do
  own=$seeds
  [ ! -d "$datasets/$target" ] || own=$datasets/$target
  echo "== $target, $seconds s"
  mkdir -p "fuzz/corpus/$target"
  cargo +nightly fuzz run "$target" "fuzz/corpus/$target" "$own" -- \
    -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=65536 -print_final_stats=1
done
