"""What a walk's Loaders read: generated pictures, settings at random, and a daemon that is killed."""

import json
import os
import signal
import time

import forebay
from forebay import _command
from processes import Daemon, private_daemons

BATCH_SIZES = [1, 2, 3, 8, 16, 50]
# How often the client starts a private daemon again.
DEATHS = 3
# Seconds. A new daemon keeps what its trainers had for 0.8 s, and may then give it to others. If the machine is so busy
# that the trainer returns later, a walk ends.
GRACE = 0.5


class Scene:
    """A dataset, the settings of its stream, and the daemon: this process's own, or a service."""

    def __init__(self, chance, folder):
        self.chance = chance
        self.folder = folder
        self.records = chance.choice([1, 2, 5, 16, 17, 33, 64, 100])
        self.batch_size = chance.choice(BATCH_SIZES)
        policy = chance.choice(["partial", "partial", "fill", "drop"])
        self.epochs = chance.choice([1, 2, 3, 5, None])
        if policy == "drop" and self.records < self.batch_size:
            policy = "fill"
        self.drops = policy == "drop"
        # In lockstep, this trainer is the only rank.
        self.is_rank = chance.random() < 0.25
        self.settings = {
            "shuffle": chance.random() < 0.5,
            "seed": chance.randrange(100),
            "last_batch_policy": policy,
            **({"epochs": self.epochs} if self.epochs else {}),
        }
        self.kind = chance.choice(["private", "named", "service"])
        self.pictures = self._draw()
        self.daemon = None
        self.deaths = 0
        # When the daemon was killed, until the trainer has returned to it.
        self.killed = None

    def _draw(self):
        folder = self.folder / "pictures"
        folder.mkdir()
        for number in range(self.records):
            (folder / f"{number:04}.ppm").write_bytes(b"P6 8 8 255\n" + bytes([number, 100, 200]) * 64)
        return folder

    def open(self):
        """A Loader."""
        if self.kind == "service":
            if self.daemon is None:
                self.daemon = self._service()
            sharding = forebay.Lockstep(rank=0, world_size=1) if self.is_rank else None
            return forebay.Loader("stream:train", socket=self.daemon.socket, sharding=sharding)
        run = {"run": "walk"} if self.kind == "named" else {}
        batch = {"batch_size": self.batch_size}
        if self.is_rank:
            batch = {"sharding": forebay.Lockstep(self.batch_size, rank=0, world_size=1)}
        return forebay.Loader(self.pictures, size=8, **batch, **self.settings, **run)

    def stream(self):
        """The settings of the stream."""
        lockstep = {"assignment": "lockstep", "global_batch": self.batch_size}
        return {"size": 8, **(lockstep if self.is_rank else {"batch_size": self.batch_size}), **self.settings}

    def _service(self):
        sockets = self.folder / "sockets"
        sockets.mkdir(mode=0o700, exist_ok=True)
        self._configure()
        command = [_command.binary(), "serve", "--config", str(self.folder / "forebay.toml")]
        return Daemon(command, sockets / "forebay.sock")

    def _configure(self):
        stream = {"source": str(self.pictures), **self.stream()}
        lines = [f"{key} = {json.dumps(value)}" for key, value in stream.items()]
        head = [f'[control]\ndir = "{self.folder / "sockets"}"', f'[coordinator]\npath = "{self.folder / "state"}"']
        (self.folder / "forebay.toml").write_text("\n".join(['drain_timeout = "1s"', *head, "[streams.train]", *lines]))

    def resize(self):
        """Sets another batch size for the next daemon, which a run allows. Returns it in words, for the log."""
        if self.drops or self.is_rank:
            return ""
        self.batch_size = self.chance.choice(BATCH_SIZES)
        if self.daemon:
            self._configure()
        return f" {self.batch_size}"

    def kill(self):
        """Kills the daemon, unless it would stay dead. Returns the next one's batch size in words, if it is another."""
        words = ""
        if self.daemon:
            self.daemon.kill()
            if self.chance.random() < 0.3:
                words = self.resize()
            self.killed = time.monotonic()
            self.daemon.start()
        elif self.deaths < DEATHS:
            self.deaths += 1
            for pid in private_daemons():
                os.kill(pid, signal.SIGKILL)
            self.killed = time.monotonic()
        return words

    def begin_call(self):
        """A private daemon is started by the call that misses it, and not before."""
        if self.daemon is None:
            self.killed = self.killed and time.monotonic()

    def is_late(self):
        """Whether the trainer returns to its daemon so late that others may have got its records."""
        return self.killed is not None and time.monotonic() - self.killed > GRACE

    def end(self):
        """Ends the service."""
        if self.daemon:
            self.daemon.end()
