#!/usr/bin/env bash
# Makes the Debian packages around a built binary: forebay, and if the library for C is installed below C_PREFIX (scripts/c.sh),
# libforebayN and forebay-dev. The same input makes the same bytes.
# Usage: deb.sh BINARY OUT [C_PREFIX]
# SOURCE_DATE_EPOCH is the time of the files, by default that of the last commit. DEB_REVISION (1), DEBFULLNAME and DEBEMAIL are
# as in Debian's tools. FOREBAY_NOTICES and FOREBAY_C_NOTICES name files with the output of scripts/notices.py, if it is there
# already.
set -euo pipefail
umask 022
export LC_ALL=C

binary=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
c_prefix=${3:+$(realpath "$3")}
cd "$(dirname "$0")/.."
for needed in dpkg-deb readelf strip gzip; do
  command -v $needed >/dev/null || { echo "deb.sh: there is no $needed here; install dpkg and binutils" >&2 && exit 1; }
done
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
# With several threads, xz divides what it compresses, and makes other bytes.
export DPKG_DEB_THREADS_MAX=1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

read -r _ upstream < <("$binary" --version)
# Debian sorts `~` before the release.
version=$(sed 's/-/~/' <<<"$upstream")-${DEB_REVISION:-1}
maintainer="${DEBFULLNAME:-Forebay developers} <${DEBEMAIL:-forebay@users.noreply.github.com}>"
machine=$(readelf -h "$binary" | sed -n 's/^ *Machine: *//p')
case $machine in
  *X86-64*) architecture=amd64 triplet=x86_64-linux-gnu ;;
  AArch64) architecture=arm64 triplet=aarch64-linux-gnu ;;
  *) echo "deb.sh: $binary is for $machine, and packages are for x86-64 and AArch64" >&2 && exit 1 ;;
esac

# The C library's packages that a program needs. What else it may be linked to is a mistake of the build. A program for an old
# glibc names parts of it that are in libc.so.6 today.
libraries_of() {
  local libraries others glibc
  libraries=$(readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
  others=$(grep -vE '^(libc|libm|libpthread|libdl|librt|libgcc_s|ld-linux.*)\.so\.' <<<"$libraries" || true)
  [ -z "$others" ] || { echo "deb.sh: $1 is linked to" $others >&2 && exit 1; }
  glibc=$(readelf -V "$1" | grep -oE 'GLIBC_[0-9.]+' | sort -uV | tail -n 1)
  echo "libc6 (>= ${glibc#GLIBC_})$(grep -q '^libgcc_s' <<<"$libraries" && echo ", libgcc-s1")"
}

packed() {
  mkdir -p "$(dirname "$2")"
  gzip -9n <"$1" >"$2"
}

# What each package has: copyright, notices of what is linked, and changelogs. Takes the package and the file with the notices.
documents() {
  local package=$1 notices=$2 folder=$scratch/$1/usr/share/doc/$1
  mkdir -p "$folder"
  {
    cat deploy/debian/forebay.copyright
    printf 'License: Expat\n'
    sed -e '1,/^Copyright/d' -e '/./,$!d' -e 's/^$/./' -e 's/^/ /' LICENSE-MIT
    printf '\nLicense: Apache-2.0\n On Debian systems, the text is in /usr/share/common-licenses/Apache-2.0.\n'
  } >"$folder/copyright"
  packed "$notices" "$folder/NOTICES.gz"
  packed CHANGELOG.md "$folder/changelog.gz"
  printf '%s (%s) unstable; urgency=medium\n\n  * Version %s. changelog.gz beside this file says what has changed.\n\n -- %s  %s\n' \
    "$package" "$version" "$upstream" "$maintainer" "$(date -uRd "@$SOURCE_DATE_EPOCH")" >"$scratch/changelog"
  packed "$scratch/changelog" "$folder/changelog.Debian.gz"
  mkdir -p "$scratch/$package/usr/share/lintian/overrides"
  cat deploy/debian/lintian-overrides $(ls "deploy/debian/$package.lintian-overrides" 2>/dev/null) \
    >"$scratch/$package/usr/share/lintian/overrides/$package"
}

# The kilobytes of a package as dpkg-gencontrol counts them: each file rounded up, and one for each folder and link.
size_of() {
  find "$1" -path "$1/DEBIAN" -prune -o -type f -printf '%s\n' -o -printf '1\n' |
    awk '{ kilobytes += int(($1 + 1023) / 1024) } END { print kilobytes }'
}

# Takes the package and the fields of its control file from `Section` on; makes the package of the folder $scratch/PACKAGE.
package() {
  local package=$1 folder=$scratch/$1
  mkdir -p "$folder/DEBIAN"
  (cd "$folder" && find . -path ./DEBIAN -prune -o -type f -printf '%P\0' | sort -z | xargs -0 md5sum) >"$scratch/md5sums"
  mv "$scratch/md5sums" "$folder/DEBIAN/md5sums"
  {
    printf 'Package: %s\nSource: forebay\nVersion: %s\nArchitecture: %s\n' "$package" "$version" "$architecture" |
      if [ "$package" = forebay ]; then grep -v ^Source; else cat; fi
    printf 'Maintainer: %s\nInstalled-Size: %s\n' "$maintainer" "$(size_of "$folder")"
    printf 'Priority: optional\nHomepage: https://github.com/forebay/forebay\n'
    cat
  } >"$folder/DEBIAN/control"
  find "$folder" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
  dpkg-deb --root-owner-group --build "$folder" "$out/${package}_${version}_$architecture.deb" >/dev/null
  echo "$out/${package}_${version}_$architecture.deb"
}

forebay() {
  local root=$scratch/forebay unit script depends
  mkdir -p "$root/DEBIAN" "$root/usr/bin" "$root/usr/share/forebay" "$root/usr/share/man/man1"
  strip -o "$root/usr/bin/forebay" "$binary"
  chmod 755 "$root/usr/bin/forebay"

  mkdir -p "$root/lib/systemd/system"
  for unit in forebay.service forebay.socket forebay-coordinator.service forebay-page.service; do
    sed 's|/usr/local/bin/|/usr/bin/|g' "deploy/systemd/$unit" >"$root/lib/systemd/system/$unit"
  done
  install -D -m 644 deploy/systemd/forebay.sysusers.conf "$root/usr/lib/sysusers.d/forebay.conf"
  install -m 644 deploy/systemd/forebay-network.conf deploy/prometheus/forebay.rules.yml "$root/usr/share/forebay/"

  # Generated pictures, so that the configuration is right from the start and the service can be tried.
  "$binary" sample "$root/usr/share/forebay/pictures" --count 12 --classes 3 --width 160 --height 120 >/dev/null
  mkdir -p "$root/etc/forebay"
  sed -e 's|^source = .*|# Generated pictures. Name the folder of your own here.\nsource = "/usr/share/forebay/pictures"|' \
    -e 's|^batch_size = .*|batch_size = 4|' deploy/systemd/forebay.toml >"$root/etc/forebay/forebay.toml"
  grep -q /usr/share/forebay/pictures "$root/etc/forebay/forebay.toml"
  echo /etc/forebay/forebay.toml >"$root/DEBIAN/conffiles"

  mkdir "$scratch/man"
  "$binary" man "$scratch/man" >/dev/null
  for page in "$scratch"/man/*.1; do packed "$page" "$root/usr/share/man/man1/${page##*/}.gz"; done
  mkdir -p "$root"/usr/share/{bash-completion/completions,zsh/vendor-completions,fish/vendor_completions.d}
  "$binary" completions bash >"$root/usr/share/bash-completion/completions/forebay"
  "$binary" completions zsh >"$root/usr/share/zsh/vendor-completions/_forebay"
  "$binary" completions fish >"$root/usr/share/fish/vendor_completions.d/forebay.fish"

  for script in postinst prerm postrm; do install -m 755 "deploy/debian/forebay.$script" "$root/DEBIAN/$script"; done
  [ -n "${FOREBAY_NOTICES:-}" ] || python3 scripts/notices.py forebay >"$scratch/notices"
  depends=$(libraries_of "$root/usr/bin/forebay")
  documents forebay "${FOREBAY_NOTICES:-$scratch/notices}"
  package forebay <<END
Section: science
Depends: $depends, systemd | systemd-standalone-sysusers | systemd-sysusers
Recommends: ca-certificates
Suggests: python3
Description: training batches from picture files, in shared memory
 Forebay reads pictures as people keep them, decodes, crops and transforms
 them, and puts finished batches into shared memory, which trainers on the
 machine map without a copy. Every record of an epoch is delivered, also
 after a crash, and an audit proves it.
 .
 This package has the daemon, the coordinator of several nodes, and their
 systemd units. Trainers in Python use the wheel.
END
}

library() {
  local built soname library root dev depends
  built=$(echo "$c_prefix"/lib/libforebay.so.*.*.*)
  soname=$(readelf -d "$built" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
  library=libforebay${soname#libforebay.so.}
  root=$scratch/$library/usr/lib/$triplet dev=$scratch/forebay-dev/usr
  [ -n "${FOREBAY_C_NOTICES:-}" ] || python3 scripts/notices.py forebay-c >"$scratch/c-notices"

  mkdir -p "$root" "$scratch/$library/DEBIAN"
  strip --strip-unneeded -o "$root/${built##*/}" "$built"
  chmod 644 "$root/${built##*/}"
  ln -s "${built##*/}" "$root/$soname"
  echo "libforebay ${soname#libforebay.so.} $library (>= ${version%-*})" >"$scratch/$library/DEBIAN/shlibs"
  echo "activate-noawait ldconfig" >"$scratch/$library/DEBIAN/triggers"
  depends=$(libraries_of "$root/${built##*/}")
  documents "$library" "${FOREBAY_C_NOTICES:-$scratch/c-notices}"
  package "$library" <<END
Section: libs
Multi-Arch: same
Depends: $depends
Description: training batches from picture files - library for trainers
 Forebay decodes pictures into batches in shared memory. Trainers in C and
 C++ attach to a stream of its daemon with this library.
END

  mkdir -p "$dev/lib/$triplet/pkgconfig" "$dev/include"
  install -m 644 "$c_prefix/include/forebay.h" "$dev/include/forebay.h"
  install -m 644 "$c_prefix/lib/libforebay.a" "$dev/lib/$triplet/libforebay.a"
  ln -s "$soname" "$dev/lib/$triplet/libforebay.so"
  sed "s|@PREFIX@|/usr|; s|@VERSION@|$upstream|; s|^libdir=.*|libdir=\${prefix}/lib/$triplet|" clients/c/forebay.pc.in \
    >"$dev/lib/$triplet/pkgconfig/forebay.pc"
  documents forebay-dev "${FOREBAY_C_NOTICES:-$scratch/c-notices}"
  package forebay-dev <<END
Section: libdevel
Multi-Arch: same
Depends: $library (= $version)
Suggests: pkg-config
Description: training batches from picture files - development files
 Forebay decodes pictures into batches in shared memory. This package has
 the header, the static library and the file for pkg-config with which
 trainers in C and C++ are built.
END
}

forebay
if [ -z "$c_prefix" ]; then
  echo "deb.sh: no library for C is given, so there is no forebay-dev" >&2
else
  library
fi
