"""Processes of the torture test that are none of its trainers: each does one thing, and then stays for a while."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from processes import wait_until


class SideProcess:
    """A process that writes a journal, and goes on when it is told to."""

    def __init__(self, program: str, journal: Path, socket: Path, stream: str, *words: object) -> None:
        self.journal = journal
        command = [sys.executable, Path(__file__).with_name(program), socket, stream, journal, *words]
        with journal.with_name("errors").open("a") as errors:
            self.process = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stderr=errors)

    def lines(self, what: str) -> list[str]:
        """What its journal says of this."""
        lines = self.journal.read_text().splitlines() if self.journal.exists() else []
        return [rest for first, _, rest in (line.partition(" ") for line in lines) if first == what]

    def wait_for(self, what: str) -> str:
        """What it writes of this, when it does."""
        wait_until(lambda: self.lines(what) or self.process.poll() is not None)
        assert self.lines(what), self.how_it_ended()
        return self.lines(what)[-1]

    def how_it_ended(self) -> str:
        """How, and what was said meanwhile."""
        said = self.journal.with_name("errors").read_text()
        return f"{self.journal.name} ended with {self.process.returncode}:\n{said}"

    def tell(self, line: str = "") -> None:
        """It goes on, or does what the line says."""
        with suppress(BrokenPipeError):
            self.process.stdin.write(f"{line}\n".encode())
            self.process.stdin.flush()

    def end(self) -> None:
        """It goes on to its end, and must not have failed by then."""
        self.tell()
        assert self.process.wait(60) in (0, -signal.SIGKILL), self.how_it_ended()

    def close(self) -> None:
        """Ends it, whatever it does."""
        self.process.kill()
        self.process.wait()
        with suppress(BrokenPipeError):
            self.process.stdin.close()


class SideProcesses:
    """All that were there, and the few that still are."""

    def __init__(self, folder: Path, socket: Path, most: int) -> None:
        self.folder, self.socket, self.most = folder, socket, most
        self.all: list[SideProcess] = []
        self.staying: list[SideProcess] = []

    def come(self, program: str, stream: str, *words: object) -> SideProcess:
        """Another one comes. The one that has stayed longest leaves, if there are too many."""
        while len(self.staying) >= self.most:
            self.staying.pop(0).end()
        name = f"{program.partition('.')[0]}-{len(self.all)}"
        process = SideProcess(program, self.folder / name, self.socket, stream, *words)
        self.all.append(process)
        self.staying.append(process)
        return process

    def finish(self) -> None:
        """All leave."""
        while self.staying:
            self.staying.pop().end()

    def findings(self) -> Iterator[str]:
        """What they saw that must not be."""
        for process in self.all:
            for what in ("wrong", "fault"):
                yield from (f"{process.journal.name}: {what} {words}" for words in process.lines(what))

    def count(self, what: str) -> int:
        """How often their journals say this."""
        return sum(len(process.lines(what)) for process in self.all)

    def close(self) -> None:
        """Ends all."""
        for process in self.all:
            process.close()
