"""A relay between a trainer and a daemon's socket. It makes one of them a program of another version for the other."""

import os
import selectors
import socket
import struct
import threading
from pathlib import Path

ATTACH, WELCOME, REFUSED = 1, 2, 3
# As docs/ring.md has them: no packet is longer, and none has more descriptors.
LONGEST, DESCRIPTORS = 32 << 10, 16


class Relay:
    """Passes on all packets and descriptors between a socket of its own and the daemon's.

    `to_daemon` and `to_trainer` get each packet, and return those that are passed on in its place. The last of them has
    its descriptors. The threads are of this process, which is the peer that the daemon sees.
    """

    def __init__(self, path, daemon, to_daemon=lambda packet: [packet], to_trainer=lambda packet: [packet]):
        self.path, self.daemon = Path(path), daemon
        self.changes = (to_daemon, to_trainer)
        self.kinds = []
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listener.bind(str(path))
        self.listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # This also wakes the thread that accepts.
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def _accept(self):
        while True:
            try:
                trainer, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._pass_on, args=(trainer,), daemon=True).start()

    def _pass_on(self, trainer):
        daemon = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        daemon.connect(str(self.daemon))
        ways = {trainer: (daemon, self.changes[0]), daemon: (trainer, self.changes[1])}
        with trainer, daemon, selectors.DefaultSelector() as selector:
            for end in ways:
                selector.register(end, selectors.EVENT_READ)
            while True:
                for key, _ in selector.select():
                    other, change = ways[key.fileobj]
                    try:
                        packet, fds, _, _ = socket.recv_fds(key.fileobj, LONGEST, DESCRIPTORS)
                        if not packet:
                            return
                        self.kinds.append(struct.unpack_from("<I", packet)[0])
                        *before, last = change(packet)
                        for each in before:
                            other.send(each)
                        socket.send_fds(other, [last], fds)
                    except OSError:
                        # One of both has hung up.
                        return
                    for fd in fds:
                        os.close(fd)


def speaks(newest, oldest, more=b""):
    """A change that makes a trainer one of these versions of the protocol. Its ATTACH has `more` at its end."""

    def change(packet):
        kind = struct.unpack_from("<I", packet)[0]
        return [packet[:4] + struct.pack("<II", newest, oldest) + packet[12:] + more] if kind == ATTACH else [packet]

    return change
