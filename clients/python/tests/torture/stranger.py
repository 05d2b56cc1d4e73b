"""What a process that is no trainer may do to the daemon's socket: silence, nonsense, and descriptors for nothing."""

import os
import socket
import struct
from contextlib import suppress

# Kinds of messages, and numbers that are none.
KINDS = 27
# Longer than any message.
LONGEST = 40_000


class Strangers:
    """Connections to a daemon's socket. Some of them are left open, with nothing or half of what was to come."""

    def __init__(self, path, chance):
        self.path, self.chance = os.fspath(path), chance
        self.open = []

    def be_silent(self):
        """Connects, and says nothing."""
        self.connect(lambda _: None)

    def say_nonsense(self):
        """Sends packets that look like messages of any kind, or like none."""

        def say(connection):
            for _ in range(self.chance.randrange(1, 5)):
                length = self.chance.choice([0, 1, 12, 60, 420, LONGEST])
                words = struct.pack("<I", self.chance.randrange(KINDS)) + self.chance.randbytes(length)
                connection.send(words, socket.MSG_DONTWAIT)

        self.connect(say)

    def pass_descriptors(self):
        """Sends more descriptors than any message has."""

        def send(connection):
            null = os.open(os.devnull, os.O_RDONLY)
            try:
                packet = struct.pack("<I", self.chance.randrange(KINDS)) + self.chance.randbytes(60)
                socket.send_fds(connection, [packet], [null] * self.chance.randrange(1, 12), socket.MSG_DONTWAIT)
            finally:
                os.close(null)

        self.connect(send)

    def connect(self, act):
        """Does something with a connection, and leaves it open for a while. The daemon may be away, or hang up."""
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with suppress(OSError):
            connection.connect(self.path)
            act(connection)
        self.open.append(connection)
        while len(self.open) > self.chance.randrange(8):
            self.open.pop(0).close()

    def close(self):
        """Closes all of them."""
        while self.open:
            self.open.pop().close()
