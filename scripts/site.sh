#!/usr/bin/env bash
# Builds docs/ as a site, with a search. A broken link or anchor is an error.
# Usage: site.sh [FOLDER]      the default is target/site
set -euo pipefail
folder=$(realpath -m "${1:-$(dirname "$0")/../target/site}")
cd "$(dirname "$0")/.."

tools=$(scripts/mkdocs.sh)
mkdir -p "$(dirname "$folder")"
# The same commit gives the same site.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)} \
  NO_MKDOCS_2_WARNING=1 "$tools/mkdocs" build --quiet --strict --config-file scripts/site/mkdocs.yml --site-dir "$folder"
echo "$folder"
