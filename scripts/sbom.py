"""Prints a software bill of materials of programs of this workspace, in CycloneDX's JSON.

Usage: sbom.py [--target TRIPLE] PACKAGE...      (packages of cargo, such as forebay)

It lists the crates that are linked, and the C libraries that some of them compile. It has no time and no random number:
the same input prints the same bytes.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

from crates import ROOT, Key, known, linked

REPOSITORY = "https://github.com/forebay/forebay"
# C libraries that crates compile: the crate, and the file and lines of its sources that say the library's version.
IN_CRATES = {
    "forebay-avif": ("dav1d", "config/vcs_version.h", r'DAV1D_VERSION "([0-9.]+)"'),
    "forebay-webp": (
        "libwebp",
        "libwebp/src/dec/vp8i_dec.h",
        r"DEC_MAJ_VERSION (\d+)\n.*DEC_MIN_VERSION (\d+)\n.*DEC_REV_VERSION (\d+)",
    ),
    "turbojpeg-sys": ("libjpeg-turbo", "libjpeg-turbo/CMakeLists.txt", r"^set\(VERSION ([0-9.]+)\)"),
    "zstd-sys": ("zstd", "Cargo.toml", r'^version = ".*\+zstd\.([0-9.]+)"'),
}
# Crates whose `links` names no library with a version of its own: code of the crate's, or Python, which is not linked.
NO_LIBRARY = {"pyo3", "pyo3-ffi", "ring"}


def checksums() -> dict[Key, str]:
    """The SHA-256 of each crate's archive, from Cargo.lock."""
    entry = r'^name = "(.+)"\nversion = "(.+)"\nsource = ".+"\nchecksum = "([0-9a-f]{64})"$'
    lock = (ROOT / "Cargo.lock").read_text()
    return {(name, version): checksum for name, version, checksum in re.findall(entry, lock, re.MULTILINE)}


def expression(crate: dict[str, Any]) -> list[dict[str, Any]]:
    """A crate's licence. Some still write `/` for `OR`."""
    if licence := crate["license"]:
        return [{"expression": licence.replace("/", " OR ")}]
    return [{"license": {"name": crate["license_file"]}}]


def purl(key: Key) -> str:
    """The address of a crate as a package of cargo."""
    name, version = key
    return f"pkg:cargo/{name}@{version.replace('+', '%2B')}"


def component(key: Key, crate: dict[str, Any], checksum: str | None) -> dict[str, Any]:
    """A crate, with the C library in it if there is one."""
    name, version = key
    made: dict[str, Any] = {"type": "library", "bom-ref": purl(key), "name": name, "version": version}
    if checksum:
        made["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    made["licenses"] = expression(crate)
    # This workspace's own crates are in no registry.
    if crate["source"]:
        made["purl"] = purl(key)
    if name in IN_CRATES:
        library, file, line = IN_CRATES[name]
        text = (Path(crate["manifest_path"]).parent / file).read_text(errors="replace")
        found = re.search(line, text, re.MULTILINE) or sys.exit(f"sbom.py: {name}'s {file} does not say a version")
        version = ".".join(found.groups())
        made["components"] = [
            {"type": "library", "bom-ref": f"{purl(key)}#{library}", "name": library, "version": version}
        ]
    elif crate["links"] and name not in NO_LIBRARY:
        sys.exit(f"sbom.py: {name} links a library: write into IN_CRATES where its sources say the version")
    return made


def document(packages: list[str], target: str | None) -> dict[str, Any]:
    """The bill of materials of some packages."""
    crates, sums = known(), checksums()
    wanted = sorted(linked(packages, target))
    version = next(crate["version"] for (name, _), crate in crates.items() if name == packages[0])
    main = {"type": "application", "bom-ref": "forebay", "name": "forebay", "version": version}
    main["licenses"] = [{"expression": "MIT OR Apache-2.0"}]
    main["purl"] = f"pkg:pypi/forebay@{version}"
    main["externalReferences"] = [{"type": "vcs", "url": REPOSITORY}]
    components = [component(key, crates[key], sums.get(key)) for key in wanted]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": main,
            "properties": [{"name": "forebay:linked", "value": " ".join(packages)}],
        },
        "components": components,
        "dependencies": [{"ref": "forebay", "dependsOn": [purl(key) for key in wanted if key[0] in packages]}]
        + [{"ref": purl(key), "dependsOn": depended(key, crates, wanted)} for key in wanted],
    }


def depended(key: Key, crates: dict[Key, dict[str, Any]], wanted: list[Key]) -> list[str]:
    """What of the linked crates a crate depends on. Of two linked versions, both are named."""
    names = {dependency["name"] for dependency in crates[key]["dependencies"] if dependency["kind"] in (None, "normal")}
    return [purl(other) for other in wanted if other[0] in names and other != key]


def main() -> int:
    """Prints the document."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("packages", nargs="+", metavar="PACKAGE", help="a package of cargo, such as forebay")
    parser.add_argument("--target", help="the triple that they are built for, by default this machine's")
    asked = parser.parse_args()
    json.dump(document(asked.packages, asked.target), sys.stdout, indent=1)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
