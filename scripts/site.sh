#!/usr/bin/env bash
# Builds docs/ as a site, with a search. A broken link or anchor is an error.
# Usage: site.sh [FOLDER]      the default is target/site
set -euo pipefail
folder=$(realpath -m "${1:-$(dirname "$0")/../target/site}")
cd "$(dirname "$0")/.."

tools=$(scripts/mkdocs.sh)
mkdir -p "$(dirname "$folder")"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# Not --quiet: mkdocs would then not count warnings, and be strict about none. The same commit gives the same site.
if ! SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)} "$tools/mkdocs" build --strict \
  --config-file scripts/site/mkdocs.yml --site-dir "$folder" >"$log" 2>&1; then
  grep -v "^INFO" "$log" >&2
  exit 1
fi
echo "$folder"
