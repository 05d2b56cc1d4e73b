#!/usr/bin/env bash
# Prints a folder with a browser for tests, `chromium`: Debian's chromium-headless-shell with the libraries and fonts that this machine
# lacks, unpacked into target/browser and not installed. Prints why there is none, and fails, where that is not possible.
set -euo pipefail
cd "$(dirname "$0")/.."
PACKAGES=(chromium-headless-shell fonts-dejavu-core)

folder=$PWD/target/browser
if [ "$(cat "$folder/packages" 2>/dev/null)" != "${PACKAGES[*]}" ]; then
  if ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then
    echo "no browser can be had: there is no apt-get to get one by" >&2
    exit 1
  fi
  rm -rf "$folder"
  mkdir -p "$folder"/archives/partial
  # What this machine has already is not downloaded.
  options=(-qq -y -o Debug::NoLocking=1 -o Dir::Cache::archives="$folder/archives" -o APT::Sandbox::User= -o Acquire::Retries=1
    -o Acquire::http::Timeout=20)
  if ! apt-get "${options[@]}" install --reinstall --download-only --no-install-recommends "${PACKAGES[@]}" >"$folder/log" 2>&1; then
    echo "no browser can be had: $(tail -n 1 "$folder/log")" >&2
    exit 1
  fi
  for package in "$folder"/archives/*.deb; do dpkg-deb -x "$package" "$folder"; done
  rm -rf "$folder/archives"
  # Last, so that an unpacking that was ended begins anew.
  echo "${PACKAGES[*]}" >"$folder/packages"
fi

cat >"$folder/fonts.conf" <<END
<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>$folder/usr/share/fonts</dir><cachedir>$folder/fonts</cachedir></fontconfig>
END
shell=$(find "$folder/usr/lib" -name 'chromium-headless-shell' -o -name 'headless_shell' -type f | head -n 1)
libraries=$folder/usr/lib/$(uname -m)-linux-gnu
# Its sandbox needs rights that a container may lack. It shows nothing but the page of the test.
cat >"$folder/chromium" <<END
#!/bin/sh
export LD_LIBRARY_PATH=$libraries:$libraries/nss:$libraries/pulseaudio FONTCONFIG_FILE=$folder/fonts.conf HOME=$folder
exec $shell --no-sandbox --disable-gpu --disable-dev-shm-usage "\$@"
END
chmod +x "$folder/chromium"
echo "$folder"
