"""The trainers of the torture test: who trains on which stream, in which language and group, and since when."""

import signal
import subprocess
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from processes import wait_until

from torture.remains import descriptors, left_behind
from torture.waits import Trouble, attached, gaps

# The streams that trainers share, and the one whose only trainer loads old states.
SPLIT, ALONE, EACH = ("shared", "filled"), "alone", "each"
# The groups of the stream `each` that have a name.
NAMED = ("first", "second")
# Those who are there from the start to the end: stream, language and group. If one dies, another takes the place.
CORE = [
    (ALONE, "python", ""),
    *((stream, language, "") for stream in SPLIT for language in ("python", "c", "rust")),
    (EACH, "python", ""),
    (EACH, "c", ""),
    (EACH, "rust", "first"),
    (EACH, "python", "first"),
    (EACH, "rust", "second"),
]
# Of these, those who are never killed nor told to end: they live through all daemons, unless their language is missing.
STEADY = [(SPLIT[0], "rust", ""), (EACH, "python", ""), (EACH, "c", "")]


class Post(NamedTuple):
    """A trainer's place. Whoever has it continues its journal."""

    stream: str
    language: str
    group: str
    journal: Path


class Trainers:
    """The trainers, which come and go."""

    def __init__(self, commands, missing, folder, socket, chance):
        self.commands, self.missing, self.folder, self.socket, self.chance = commands, missing, folder, socket, chance
        self.stop = folder / "stop"
        # Those who are there, and all who were.
        self.processes, self.posts = {}, []
        # The descriptors of a trainer that has just come, by language.
        self.usual = {}
        # Each process: its post, and when it was started and ended.
        self.tenures = []

    def begin(self):
        """Starts those who stay."""
        for stream, language, group in CORE:
            if language in self.commands:
                self.come(stream, language, group)
        wait_until(lambda: all(post.journal.exists() and attached(post.journal, 0) for post in self.posts))
        for post, process in self.processes.items():
            has = descriptors(process.pid, self.folder)
            # One of them may have opened something for a moment.
            self.usual[post.language] = self.usual.get(post.language, has) & has

    def come(self, stream, language, group):
        """A further trainer begins."""
        name = "-".join(word for word in (stream, group, language, str(len(self.posts))) if word)
        self.posts.append(Post(stream, language, group, self.folder / name))
        self.start(self.posts[-1])

    def visit(self):
        """Somebody begins who may leave later."""
        # A group has a name in Python and in Rust.
        language = self.chance.choices(list(self.commands), [2 if each == "python" else 3 for each in self.commands])[0]
        stream = self.chance.choice([*SPLIT, EACH])
        group = self.group() if stream == EACH and language != "c" else ""
        self.come(stream, language, group)

    def group(self):
        """A group for somebody who may leave. Others would wait for one in which nobody stays."""
        return self.chance.choice(["", *self.lasting_groups()])

    def transient(self):
        """Those who may leave."""
        core = sum(language in self.commands for _, language, _ in CORE)
        return [post for post in self.posts[core:] if post in self.processes]

    def lasting_groups(self):
        """The named groups in which somebody stays to the end. A language may be missing."""
        return sorted({group for _, language, group in CORE if group and language in self.commands})

    def leave(self):
        """A trainer leaves, and none takes its place."""
        post = self.chance.choice(self.transient())
        self.end(post)
        del self.processes[post]

    def start(self, post):
        """Starts a trainer, which continues its journal."""
        words = [self.socket, post.stream, post.journal, self.stop, self.chance.randrange(1 << 30)]
        if post.language != "c":
            words.append(post.group)
        if post.stream == ALONE:
            words.append("travels")
        with (self.folder / "errors").open("a") as errors:
            self.tenures.append([post, time.monotonic(), float("inf")])
            command = [*self.commands[post.language], *map(str, words)]
            self.processes[post] = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=errors)

    def anyone(self):
        """A trainer's post and process."""
        return self.chance.choice(list(self.processes.items()))

    def mortal(self):
        """The post of a trainer that may be killed, or told to end."""
        core = sum(language in self.commands for _, language, _ in CORE)
        steady = {post for post in self.posts[:core] if (post.stream, post.language, post.group) in STEADY}
        return self.chance.choice([post for post in self.processes if post not in steady])

    def left_behind(self, live, seconds):
        """What trainers have that they should not, while a daemon has these rings. They have time to let go of it."""
        found = {post: ["it was not looked at"] for post in self.processes}

        def nothing():
            # One that has had only that for a moment has left nothing behind.
            for post in [post for post, whats in found.items() if whats]:
                usual, pid = self.usual[post.language], self.processes[post].pid
                found[post] = [*left_behind(pid, self.folder, usual, live)]
            return not any(found.values())

        with suppress(AssertionError):
            wait_until(nothing, seconds)
        return [f"{post.journal.name}: {what}" for post, whats in found.items() for what in whats]

    def outlived(self, starts):
        """How many daemons each trainer has outlived, of those that were started at these times."""
        began = {post: started for post, started, _ in self.tenures}
        return [sum(start > began[post] for start in starts) for post in self.processes]

    @contextmanager
    def all_paused(self):
        """No trainer does anything inside a `with`."""
        for process in self.processes.values():
            process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            for process in self.processes.values():
                process.send_signal(signal.SIGCONT)

    def kill(self, post):
        """A trainer crashes."""
        self.note_end(post)
        self.processes[post].kill()
        self.processes[post].wait()

    def end(self, post):
        """A service manager ends a trainer."""
        self.note_end(post)
        self.processes[post].terminate()
        assert self.processes[post].wait(60) in (0, -signal.SIGTERM), f"{post.journal.name} did not end well"

    def note_end(self, post):
        """The last process of a post ends now."""
        next(tenure for tenure in reversed(self.tenures) if tenure[0] == post)[2] = time.monotonic()

    def absences(self):
        """Times in which the batches of a named group waited for a trainer, and so the other groups' too."""
        for group in NAMED:
            present = []
            for post, started, ended in self.tenures:
                is_member = post.group == group and post.journal.exists()
                if is_member and (at := attached(post.journal, started)) is not None:
                    present.append((at, ended))
            yield from (Trouble(*gap, EACH) for gap in gaps(present))

    def check(self):
        """Fails if a trainer has ended by itself."""
        for post, process in self.processes.items():
            if process.poll() is not None and not self.stop.exists():
                raise AssertionError(f"{post.journal.name} ended with {process.returncode}:\n{self.errors()}")

    def finish(self):
        """Lets the trainers finish their epoch."""
        self.stop.touch()
        # A group that came too late for this epoch would wait for the others in the next one.
        late = [process for post, process in self.processes.items() if post.stream == EACH]
        with suppress(AssertionError):
            wait_until(lambda: all(process.poll() is not None for process in late), seconds=5)
        for process in late:
            process.terminate()
        for post, process in self.processes.items():
            try:
                code = process.wait(120)
            except subprocess.TimeoutExpired:
                code = "nothing within 120 s"
            assert code in (0, -signal.SIGTERM), f"{post.journal.name} ended with {code}\n{self.errors()}"

    def errors(self):
        """What they said."""
        return (self.folder / "errors").read_text()

    def close(self):
        """Ends all."""
        for process in self.processes.values():
            process.kill()
            process.wait()
