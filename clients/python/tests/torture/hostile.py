"""A hostile trainer of the torture test: it attaches as it should, and then does what no trainer may.

First it does what the daemon must take no notice of, or must take for what it is. After each such act it must still be
attached, and must not hold more than it was granted. Then it does one thing for which it must be evicted. At last it
leaves half of a handshake open until it is sent a line, while it still has the ring.

Its journal has the batches that it consumed, as that of any trainer (`got EPOCH RECORDS`), its acts (`ignored DEED`,
and in the end `expelled DEED: TEXT`), and what must not be (`fault TEXT`).
"""

import ctypes
import fcntl
import mmap
import os
import random
import select
import signal
import struct
import sys
import time

import wire
from wire import PATIENCE, Offer, Wire, ack, number, release

LARGEST = (1 << 64) - 1
CREDITS = (1 << 32) - 1
# Packets that are answered, and more of them than a socket takes.
UNREAD = 4000
F_ADD_SEALS, F_SEAL_WRITE = 1033, 8
PUNCH_A_HOLE = 3


class Hostile:
    """The trainer and its journal."""

    def __init__(self, socket: str, stream: str, journal: str, seed: str, group: str) -> None:
        self.path, self.stream, self.group = socket, stream, group
        self.chance = random.Random(int(seed))
        self.fd = os.open(journal, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        # Whether it knows itself which batches it holds.
        self.is_sure = True
        self.calls = 0

    def note(self, *words: object) -> None:
        """Writes a line of the journal."""
        os.write(self.fd, (" ".join(map(str, words)) + "\n").encode())

    def run(self) -> None:
        """Everything, from the first word to the last."""
        takes_all = self.chance.random() < 0.2
        self.attach(CREDITS if takes_all else self.chance.randrange(1, 5))
        acts = [
            *(self.receipts_of_others, self.absurd_credits, self.consumes_twice, self.half_receipt),
            *(self.absurd_deadlines, self.writes_to_the_ring, self.lets_go_of_views),
        ]
        chosen = self.chance.choices(acts, k=self.chance.randrange(2, 6))
        if self.chance.random() < 0.3:
            chosen.append(self.returns_twice)
        for act in chosen:
            act()
            self.is_ignored(act.__name__)
        acts = [
            *(self.cut_short, self.words_of_others, self.descriptors, self.no_calls),
            *(self.does_not_read, self.says_goodbye),
        ]
        if self.is_sure:
            acts.append(self.wrong_sums)
        last = self.chance.choice(acts)
        last()
        self.is_evicted(last.__name__)
        half = wire.attach(self.stream, self.group, 1)
        again = Wire(self.path)
        again.send(half[: self.chance.choice([4, 8, 80, len(half) // 2, len(half) - 1])])
        self.note("expelled", f"{last.__name__}: {self.wire.evicted}")
        # The slots that it held are not filled before it ends. So many of them would soon be missed.
        if not takes_all:
            sys.stdin.readline()
        if self.chance.random() < 0.5:
            os.kill(os.getpid(), signal.SIGKILL)

    def attach(self, asked: int) -> None:
        """Asks until it is let in: the daemon may be short of something."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            self.wire = Wire(self.path)
            self.wire.send(wire.attach(self.stream, self.group, asked))
            if self.wire.until(lambda: self.wire.granted):
                return
            self.wire.close()
            time.sleep(0.02)
        raise TimeoutError("it was not let in")

    def batch(self) -> Offer:
        """A batch that it holds, or may hold."""
        if not self.wire.offers:
            self.wire.send(number(wire.CREDIT, 1))
            assert self.wire.until(lambda: self.wire.offers), f"no batch came: {self.wire.evicted}"
        return self.chance.choice(self.wire.offers)

    def gives_back(self, offer: Offer, returned: int) -> None:
        """Sends a RELEASE. It may get the same batch again at once."""
        self.wire.offers.remove(offer)
        self.wire.send(release(offer, returned))

    # What happens after an act.

    def is_ignored(self, act: str) -> None:
        """Nothing must have come of it."""
        self.calls += 1
        self.wire.send(wire.call(self.calls, wire.AUDIT))
        if not self.wire.until(lambda: self.wire.answered == self.calls):
            self.note("fault", f"after {act} there was no answer: {self.wire.evicted}")
        elif self.is_sure and len(self.wire.offers) > self.wire.granted:
            self.note("fault", f"after {act} it had more than {self.wire.granted} batches: {self.wire.offers}")
        self.note("ignored", act)

    def is_evicted(self, act: str) -> None:
        """The daemon must have hung up."""
        self.wire.until(lambda: self.wire.closed)
        if not self.wire.closed:
            self.note("fault", f"it was not evicted for {act}")

    # What the daemon is to ignore, or to take for what it is.

    def receipts_of_others(self) -> None:
        """Receipts of batches that it does not hold, of other fillings of a slot, and of slots that there are not."""
        offer = self.batch()
        sums = self.wire.rings[offer.ring].sums(offer)
        for _ in range(self.chance.randrange(1, 30)):
            field = self.chance.choice(["ring", "seq", "generation", "slot"])
            most = LARGEST if field in {"seq", "generation"} else CREDITS
            right = getattr(offer, field)
            near = right + self.chance.choice([1, 2, 3, -1, -2, -3])
            other = offer._replace(**{field: self.chance.choice([near & most, self.chance.randrange(most), most])})
            if other != offer:
                more = self.chance.choice([0, CREDITS])
                self.wire.send(ack(other, sums, freed=self.chance.randrange(2), more=more))
                self.wire.send(release(other, self.chance.choice([0, 1, CREDITS])))

    def absurd_credits(self) -> None:
        """More offers than there will ever be."""
        for more in (LARGEST, 0, CREDITS, LARGEST):
            self.wire.send(number(wire.CREDIT, more))

    def consumes_twice(self) -> None:
        """Consumes a batch, and says so again and again."""
        offer = self.batch()
        ring = self.wire.rings[offer.ring]
        sums = ring.sums(offer)
        self.note("got", offer.epoch, *ring.own(offer))
        for _ in range(self.chance.randrange(2, 4)):
            self.wire.send(ack(offer, sums))
        for _ in range(self.chance.randrange(2, 4)):
            self.wire.send(ack(offer, sums, freed=1, more=CREDITS))
            self.wire.send(release(offer, self.chance.randrange(2)))
        self.wire.offers.remove(offer)

    def returns_twice(self) -> None:
        """Gives a batch back that it does not have any more, if it was not offered the same one again."""
        offer = self.batch()
        for returned in (1, 1, 0, 1):
            self.wire.send(release(offer, returned))
        self.is_sure = False

    def half_receipt(self) -> None:
        """Begins a receipt, with what it has not seen, and gives the batch back without its end."""
        offer = self.batch()
        garbage = [self.chance.randrange(1 << 128) for _ in range(offer.claims - 1)]
        self.wire.send(ack(offer, garbage, last=0))
        self.gives_back(offer, self.chance.randrange(2))

    def absurd_deadlines(self) -> None:
        """Asks for deadlines that there are not."""
        for known in (0, LARGEST, LARGEST - 1, self.chance.randrange(LARGEST)):
            self.wire.send(number(wire.DEADLINE, known))

    def lets_go_of_views(self) -> None:
        """Has no view of a batch any more that it has not consumed."""
        self.gives_back(self.batch(), 0)

    def writes_to_the_ring(self) -> None:
        """Tries all ways to change what others see."""
        ring = self.wire.rings[self.batch().ring]
        libc = ctypes.CDLL(None, use_errno=True)
        again = f"/proc/self/fd/{ring.fd}"

        def with_another(act) -> None:
            # The superuser may open it, whatever its mode says.
            fd = os.open(again, os.O_RDWR)
            try:
                act(fd)
            finally:
                os.close(fd)

        def punch(fd: int) -> None:
            size = ctypes.c_long(2 << 20)
            if libc.fallocate(fd, PUNCH_A_HOLE, ctypes.c_long(ring.slots), size):
                raise OSError(ctypes.get_errno(), "fallocate")

        ways = {
            "written": lambda: with_another(lambda fd: os.pwrite(fd, bytes(4096), ring.slots)),
            "mapped": lambda: with_another(lambda fd: mmap.mmap(fd, 4096, mmap.MAP_SHARED, mmap.PROT_WRITE)),
            "cut": lambda: with_another(lambda fd: os.ftruncate(fd, 0)),
            "punched": lambda: with_another(punch),
            "sealed": lambda: with_another(lambda fd: fcntl.fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE)),
        }
        for way, act in ways.items():
            try:
                act()
            except OSError:
                continue
            self.note("fault", f"the ring was {way}")

    # What it must be evicted for.

    def cut_short(self) -> None:
        """A packet with less than its head says, or more."""
        offer, sums = self.batch(), [self.chance.randrange(1 << 128) for _ in range(self.chance.randrange(1, 9))]
        packets = [ack(offer, sums), release(offer, 0), number(wire.CREDIT, 1), wire.call(1, wire.AUDIT)]
        packet = self.chance.choice([*packets, number(wire.BYE, 0)])
        shorter, longer = self.chance.randrange(len(packet)), len(packet) + 1
        length = self.chance.choice([shorter, longer, wire.LONGEST, wire.LONGEST + 1])
        self.wire.send((packet + bytes(wire.LONGEST))[:length])

    def words_of_others(self) -> None:
        """A message that only the daemon or a parent sends, or one that there is not."""
        kind = self.chance.choice([*wire.OF_OTHERS, *wire.UNKNOWN])
        lengths = {1: 420, 2: 68, 4: 68, 14: 36, 15: 44, 24: 36}
        self.wire.send(struct.pack("<I", kind) + self.chance.randbytes(lengths.get(kind, 12)))

    def wrong_sums(self) -> None:
        """A receipt whose sums are not as many as the batch's claims."""
        offer = self.batch()
        sums = self.wire.rings[offer.ring].sums(offer)
        first, count = self.chance.choice([(0, 0), (0, offer.claims + 1), (0, 1024), (1, offer.claims), (CREDITS, 0)])
        self.wire.send(ack(offer, (sums * 1025)[:count], first))

    def descriptors(self) -> None:
        """Descriptors that do not belong to a message. The daemon must close them."""
        reading, writing = os.pipe()
        packets = [number(wire.CREDIT, 1), ack(self.batch(), []), wire.call(1, wire.AUDIT), struct.pack("<I", 99)]
        # The kernel takes 253. Of more than 4, the daemon gets none.
        count = self.chance.choice([1, 2, 4, 5, 12, 253])
        self.wire.send(self.chance.choice(packets), (writing,) * count)
        os.close(writing)
        if not select.select([reading], [], [], PATIENCE)[0]:
            self.note("fault", "a descriptor is still open that did not belong to its message")
        os.close(reading)

    def no_calls(self) -> None:
        """A call that is none: no protobuf, or of another length, or in memory that is not sealed."""
        reading, writing = os.pipe()
        unsealed = os.memfd_create("hostile")
        os.write(unsealed, wire.AUDIT)
        ways = [
            lambda: self.wire.send(wire.call(1, b"\xff" * self.chance.randrange(1, 400))),
            lambda: self.wire.send(wire.call(1, wire.AUDIT, self.chance.choice([1, 3, CREDITS]))),
            lambda: self.wire.send(wire.call(1, b""), (self.chance.choice([reading, writing, unsealed, 0]),)),
        ]
        self.chance.choice(ways)()
        for fd in (reading, writing, unsealed):
            os.close(fd)

    def does_not_read(self) -> None:
        """Has itself answered, and does not take the answers."""
        for _ in range(UNREAD):
            self.wire.send(number(wire.DEADLINE, 0))

    def says_goodbye(self) -> None:
        """Speaks on after its last words."""
        offer = self.batch()
        self.wire.send(number(wire.BYE, self.chance.randrange(LARGEST)))
        self.wire.send(ack(offer, []))
        self.wire.send(number(wire.CREDIT, LARGEST))


if __name__ == "__main__":
    Hostile(*sys.argv[1:]).run()
