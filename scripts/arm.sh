#!/usr/bin/env bash
# Prints a folder in which `run COMMAND...` runs programs for 64-bit ARM on this machine, by QEMU, and in which `system` is a
# Debian for ARM, with Python. Debian's packages are unpacked into target/arm and not installed.
# Prints why there is none, and fails, where that is not possible.
set -euo pipefail
cd "$(dirname "$0")/.."
QEMU=qemu-user-static
IN_SYSTEM=(libc6 libgcc-s1 libstdc++6 python3 python3-venv ca-certificates)

folder=$PWD/target/arm
unpacked=$(scripts/unpack.sh arm/qemu $QEMU)
if [ "$(cat "$folder/packages" 2>/dev/null)" != "${IN_SYSTEM[*]}" ]; then
  # As an ARM machine with nothing installed would: with lists of packages and a state of its own.
  apt=$folder/apt
  rm -rf "$apt" "$folder/system" "$folder/packages"
  mkdir -p "$apt"/{lists/partial,archives/partial} "$folder/system"
  : >"$apt/status"
  options=(-qq -y -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State::lists="$apt/lists" -o Debug::NoLocking=1
    -o Dir::State::status="$apt/status" -o Dir::Cache="$apt" -o Dir::Cache::archives="$apt/archives" -o APT::Sandbox::User=
    -o Acquire::Retries=1 -o Acquire::http::Timeout=20)
  if ! { apt-get "${options[@]}" update &&
    apt-get "${options[@]}" install --download-only --no-install-recommends "${IN_SYSTEM[@]}"; } >"$folder/log" 2>&1; then
    echo "no Debian for ARM can be had: $(tail -n 1 "$folder/log")" >&2
    exit 1
  fi
  for package in "$apt"/archives/*.deb; do dpkg-deb -x "$package" "$folder/system"; done
  rm -rf "$apt"
  cat "$folder"/system/usr/share/ca-certificates/mozilla/*.crt >"$folder/system/etc/ssl/certs/ca-certificates.crt"
  # Last, so that an unpacking that was ended begins anew.
  echo "${IN_SYSTEM[*]}" >"$folder/packages"
fi

# Programs start others, so the kernel has to know QEMU: in a namespace of users, where this changes nothing for others.
# QEMU_PAGESIZE in the environment is the size of its pages.
cat >"$folder/run" <<END
#!/bin/sh
export QEMU_LD_PREFIX=$folder/system
exec unshare --user --map-root-user --mount sh -c '
  mount -t binfmt_misc none /proc/sys/fs/binfmt_misc || exit 125
  cat >"/proc/sys/fs/binfmt_misc/register" <"$folder/format" || exit 125
  exec "\$@"' run "\$@"
END
chmod 755 "$folder/run"
# The magic of an ELF file for AArch64, as Debian's package has it; F: also where the folder is not seen.
printf '%s' ":arm:M::\\x7fELF\\x02\\x01\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x02\\x00\\xb7\\x00:\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\x00\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xfe\\xff\\xff\\xff:$unpacked/usr/bin/qemu-aarch64-static:F" >"$folder/format"
if ! said=$("$folder/run" "$folder"/system/usr/bin/python3.[0-9]* -c '' 2>&1); then
  echo "programs for ARM cannot be run: $said" >&2
  exit 1
fi
echo "$folder"
