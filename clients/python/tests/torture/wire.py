"""A trainer's side of the daemon's socket and of the ring, byte by byte as docs/ring.md has it, without a client."""

import mmap
import os
import re
import select
import socket
import struct
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

# What docs/ring.md describes: the version, and for each kind of message who sends it.
DOCUMENT = (Path(__file__).resolve().parents[4] / "docs" / "ring.md").read_text()
PROTOCOL = int(re.search(r"newest version is\s(\d+)", DOCUMENT)[1])
SENDERS = {int(kind): sender for kind, sender in re.findall(r"(?m)^\| (\d+) \| [A-Z_]+ \| ([a-z ]+) \|", DOCUMENT)}
# Kinds of messages.
ATTACH, WELCOME, OFFER, ACK, RELEASE, CREDIT = 1, 2, 4, 5, 6, 7
EVICT, CALL, ANSWER, RING, BYE, DEADLINE = 11, 12, 13, 15, 16, 18
# Kinds that a trainer does not send once it is attached, and kinds that there are not.
OF_OTHERS = (ATTACH, *(kind for kind, sender in SENDERS.items() if sender not in {"trainer", "both"}))
UNKNOWN = (0, max(SENDERS) + 1, 1 << 31, (1 << 32) - 1)
# Seconds in which the daemon must have done what it has to. They end before those of the test that waits for this side.
PATIENCE = 45
LONGEST = 32 << 10
# Protobuf: a CallRequest that asks for the audit.
AUDIT = b"\x32\x00"


class Offer(NamedTuple):
    """A batch that the daemon offers: in which slot, and what of its receipt must be as offered."""

    ring: int
    seq: int
    generation: int
    epoch: int
    slot: int
    claims: int


class Ring:
    """A ring, mapped to be read."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        header = os.pread(fd, 120, 0)
        self.number, self.batch = struct.unpack_from("<I", header, 12)[0], struct.unpack_from("<I", header, 28)[0]
        self.slots, self.stride, _, self.records, self.mask, self.claims, total = struct.unpack_from("<7Q", header, 56)
        self.memory = mmap.mmap(fd, total, mmap.MAP_SHARED, mmap.PROT_READ)

    def own(self, offer: Offer) -> list[int]:
        """The batch's own records, by place."""
        at = self.slots + offer.slot * self.stride
        records = struct.unpack_from(f"<{self.batch}q", self.memory, at + self.records)
        mask = self.memory[at + self.mask : at + self.mask + self.batch]
        return [record for record, is_own in zip(records, mask) if is_own]

    def sums(self, offer: Offer) -> list[int]:
        """For each claim of a batch, the sum of its records' hashes."""
        records = iter(self.own(offer))
        sums = []
        for number in range(offer.claims):
            at = self.slots + offer.slot * self.stride + self.claims + 24 * number
            *_, length, bare = struct.unpack_from("<QQII", self.memory, at)
            sums.append(0 if bare else sum(record_hash(next(records)) for _ in range(length)) % (1 << 128))
        return sums


class Wire:
    """A connection to the daemon, with what came of it and is not done with."""

    def __init__(self, path: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.connect(path)
        self.rings: dict[int, Ring] = {}
        self.offers: list[Offer] = []
        self.granted = 0
        self.evicted, self.answered, self.closed = "", 0, False

    def send(self, packet: bytes, descriptors: tuple[int, ...] = ()) -> None:
        """Sends a packet. The daemon may have hung up."""
        with suppress(OSError):
            socket.send_fds(self.socket, [packet], list(descriptors))

    def receive(self, seconds: float) -> bool:
        """Takes a packet, if one comes in time."""
        if self.closed or not select.select([self.socket], [], [], seconds)[0]:
            return False
        try:
            packet, descriptors, *_ = socket.recv_fds(self.socket, LONGEST, 4)
        except ConnectionResetError:
            # Not all of what this side was sent was read. The rest may still be there.
            return True
        self.closed = not packet
        if packet:
            self.heed(*struct.unpack_from("<I", packet), packet, descriptors)
        return bool(packet)

    def heed(self, kind: int, packet: bytes, descriptors: list[int]) -> None:
        """Notes what a packet says."""
        if kind in {WELCOME, RING}:
            ring = Ring(descriptors.pop(0))
            self.rings[ring.number] = ring
        if kind == WELCOME:
            self.granted = struct.unpack_from("<I", packet, 24)[0]
        elif kind == OFFER:
            ring, seq, generation, epoch, slot, _, _, claims = struct.unpack_from("<IQQQIIII", packet, 4)
            self.offers.append(Offer(ring, seq, generation, epoch, slot, claims))
        elif kind == ANSWER:
            self.answered = struct.unpack_from("<Q", packet, 8)[0]
        elif kind == EVICT:
            self.evicted = packet[16:].decode()
        for descriptor in descriptors:
            os.close(descriptor)

    def until(self, condition, seconds: float = PATIENCE) -> bool:
        """Takes packets until something is so. False if the daemon hangs up first, or time is over."""
        end = time.monotonic() + seconds
        while not condition():
            if self.closed or time.monotonic() > end:
                return False
            self.receive(0.1)
        return True

    def close(self) -> None:
        """Hangs up."""
        self.socket.close()


def attach(stream: str, group: str, asked: int) -> bytes:
    """Asks for a stream, as a trainer that was never there before."""
    devices, trainer = bytes(256), int.from_bytes(os.urandom(8), "little") or 1
    return struct.pack(
        "<IIII64sIIQ256s64sIIQII",
        *(ATTACH, PROTOCOL, PROTOCOL, 0, stream.encode(), 0, 0, 0, devices, group.encode(), 0, 0, trainer, asked, 0),
    )


def ack(offer: Offer, sums: list[int], first: int = 0, last: int = 1, freed: int = 0, more: int = 0) -> bytes:
    """Says what was seen of a batch."""
    head = struct.pack(
        "<IIQQIIIIII",
        *(ACK, offer.slot, offer.seq, offer.generation, first, len(sums), last, offer.ring, freed, more),
    )
    return head + b"".join(struct.pack("<QQ", each >> 64, each % (1 << 64)) for each in sums)


def release(offer: Offer, returned: int) -> bytes:
    """Gives a batch's slot back, or the batch itself."""
    return struct.pack("<IIQQII", RELEASE, offer.slot, offer.seq, offer.generation, returned, offer.ring)


def number(kind: int, value: int) -> bytes:
    """A message of one number."""
    return struct.pack("<IIQ", kind, 0, value)


def call(number: int, body: bytes, length: int | None = None) -> bytes:
    """Asks something. The length may be another one than the body's."""
    return struct.pack("<IIQ", CALL, len(body) if length is None else length, number) + body


def record_hash(record: int) -> int:
    """The hash of a record's number, in 128 bits."""
    whole = (1 << 64) - 1
    high = finalise((record + 0x9E37_79B9_7F4A_7C15) & whole)
    low = finalise((finalise(record ^ 0xD1B5_4A32_D192_ED03) + 0x8CB9_2BA7_2F3D_8DD7) & whole)
    return high << 64 | low


def finalise(z: int) -> int:
    """The last steps of splitmix64."""
    whole = (1 << 64) - 1
    z = (z ^ (z >> 30)) * 0xBF58_476D_1CE4_E5B9 & whole
    z = (z ^ (z >> 27)) * 0x94D0_49BB_1331_11EB & whole
    return z ^ (z >> 31)
