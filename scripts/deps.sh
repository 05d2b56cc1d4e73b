#!/usr/bin/env bash
# What a build needs: installs it where it may (apt-get, as root or with a passwordless sudo), else names it; then
# the virtual environment .venv for Python. `deps.sh test`, `deps.sh fuzz`: also what the tests of C and
# C++, and what fuzzing needs. Asks nothing, and is instant when all is there.
set -euo pipefail
cd "$(dirname "$0")/.."

purpose=${1:-build}

has() { command -v "$1" >/dev/null 2>&1; }
python_is_new() { python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null; }
has_venv() { python3 -c 'import ensurepip, venv' 2>/dev/null; }

# Names of what is missing, in Debian's words; the other distributions' follow from them.
missing() {
  has cc || echo gcc
  # Tests compile a trainer in C++, and libFuzzer is C++.
  [ "$purpose" = build ] || has c++ || echo g++
  # Tests compile trainers as their authors do.
  [ "$purpose" != test ] || has pkg-config || echo pkg-config
  has cmake || echo cmake
  # libjpeg-turbo has assembler for x86-64 alone that needs nasm.
  [ "$(uname -m)" != x86_64 ] || has nasm || echo nasm
  has protoc || echo protobuf-compiler
  has python3 || echo python3
  ! has python3 || has_venv || echo python3-venv
}

# Runs a command as root where that needs no password.
as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

install() {
  has apt-get || return 1
  [ "$(id -u)" = 0 ] || { has sudo && sudo -n true 2>/dev/null; } || return 1
  echo "deps: apt-get install $*"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq </dev/null &&
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" </dev/null >/dev/null
}

in_fedora() { sed 's/python3-venv/python3-pip/; s/g++/gcc-c++/; s/pkg-config/pkgconf-pkg-config/' <<<"$*"; }
in_arch() { sed 's/protobuf-compiler/protobuf/; s/python3-venv/python/; s/python3/python/; s/g++/gcc/; s/pkg-config/pkgconf/' <<<"$*"; }

system_packages() {
  local lacking
  lacking=$(missing | xargs)
  [ -n "$lacking" ] || return 0
  # shellcheck disable=SC2086 # the names are words
  install $lacking || true
  lacking=$(missing | xargs)
  [ -n "$lacking" ] || return 0
  cat >&2 <<END
deps: missing and not installed from here: $lacking
  Debian, Ubuntu:  sudo apt-get install $lacking
  Fedora:          sudo dnf install $(in_fedora "$lacking")
  Arch:            sudo pacman -S $(in_arch "$lacking")
END
  exit 1
}

rust() {
  if ! has cargo; then
    echo "deps: cargo is missing: install a Rust toolchain, 1.90 or later, from https://rustup.rs" >&2
    exit 1
  fi
  local component
  for component in rustfmt clippy; do
    cargo "${component#rust}" --version >/dev/null 2>&1 && continue
    has rustup && rustup component add "$component" && continue
    echo "deps: cargo ${component#rust} is missing: install the Rust component $component" >&2
    exit 1
  done
}

# A nightly toolchain, for the sanitizers, and cargo-fuzz.
fuzzing() {
  if ! cargo +nightly --version >/dev/null 2>&1; then
    if ! has rustup; then
      echo "deps: a nightly toolchain is missing, and so is rustup, which installs one: see https://rustup.rs" >&2
      exit 1
    fi
    rustup toolchain install nightly --profile minimal
  fi
  cargo +nightly fuzz --version >/dev/null 2>&1 || cargo +nightly install --locked cargo-fuzz
}

environment() {
  if ! python_is_new; then
    echo "deps: python3 is $(python3 --version 2>&1); Forebay needs Python 3.9 or later" >&2
    exit 1
  fi
  local stamp=.venv/requirements wanted
  wanted=$(python3 --version; cat scripts/requirements.txt)
  [ "$(cat $stamp 2>/dev/null)" = "$wanted" ] && .venv/bin/python -c '' 2>/dev/null && return 0
  echo "deps: making .venv"
  rm -rf .venv
  python3 -m venv .venv
  .venv/bin/python -m pip install -q --disable-pip-version-check --no-input -r scripts/requirements.txt
  printf '%s\n' "$wanted" >$stamp
}

system_packages
rust
environment
[ "$purpose" != fuzz ] || fuzzing
