"""What a process has: descriptors and shared memory; a daemon also connections of trainers, and processes to watch."""

import os
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path


def holdings(pid):
    """How many descriptors a process has, by what they are, and how many bytes of shared memory, by their file."""
    descriptors, memory = Counter(), Counter()
    for link in links(pid):
        # Of sockets and pipes, the number is left out.
        descriptors[f"descriptors of {re.sub(r':.[0-9]+.$', '', link)}"] += 1
    # The thread that watches child processes is started with the first one, and stays.
    names = [path.read_text().strip() for path in Path(f"/proc/{pid}/task").glob("*/comm")]
    descriptors["descriptors of anon_inode:[eventfd]"] -= any(name.startswith("forebay-child") for name in names)
    for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
        addresses, permissions, _, _, _, *file = line.split(maxsplit=5)
        if permissions.endswith("s"):
            begin, end = (int(address, 16) for address in addresses.split("-"))
            memory[f"bytes of shared memory of {file[0] if file else 'no file'}"] += end - begin
    return descriptors + memory


def differences(before, after):
    """What there is more or less of than before."""
    for what in sorted(before | after):
        if before[what] != after[what]:
            yield f"the daemon has {after[what]} {what}, and had {before[what]} before there were trainers"


def descriptors(pid: int, folder: Path) -> Counter:
    """How many descriptors a process has, by what they are, without those of files in the folder."""
    others = (link for link in links(pid) if not link.startswith(f"{folder}/"))
    return Counter(re.sub(r":.[0-9]+.$", "", link) for link in others)


def rings(pid: int) -> set[int]:
    """The memory files that a process maps, by their numbers, which no two of them have."""
    lines = (line.split(maxsplit=5) for line in Path(f"/proc/{pid}/maps").read_text().splitlines())
    return {int(inode) for *_, inode, file in (line for line in lines if len(line) == 6) if file.startswith("/memfd:")}


def left_behind(pid: int, folder: Path, usual: Counter, live: set[int]) -> Iterator[str]:
    """What a trainer has beside the usual descriptors and the rings of the daemon that lives, and what it lacks."""
    has = descriptors(pid, folder)
    for what in sorted(usual | has):
        if usual[what] != has[what]:
            yield f"it has {has[what]} descriptors of {what}, and one that has just come has {usual[what]}"
    mapped = rings(pid)
    if dead := mapped - live:
        yield f"it maps {len(dead)} rings that its daemon does not have"
    if not mapped & live:
        yield "it maps no ring of its daemon"


def known(pid, socket):
    """Connections to the daemon's socket that it has open, and processes that it watches."""
    open_links = links(pid)
    sockets = {link.removeprefix("socket:[").removesuffix("]") for link in open_links if link.startswith("socket:")}
    rows = [line.split() for line in Path("/proc/net/unix").read_text().splitlines()[1:]]
    # 03 is connected. Those that the daemon has accepted have its own path.
    connected = [row for row in rows if row[5] == "03" and row[-1] == str(socket) and row[6] in sockets]
    return len(connected), sum("pidfd" in link for link in open_links)


def links(pid):
    """What the descriptors of a process are. One may be closed meanwhile."""
    found = []
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):
            found.append(os.readlink(descriptor))
    return found
