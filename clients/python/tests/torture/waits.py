"""How long trainers had to wait while nothing was done to their daemon that explains it."""

from typing import NamedTuple


class Trouble(NamedTuple):
    """A time in which trainers may have to wait, in seconds of the clock of the journals."""

    began: float
    ended: float
    # The stream whose trainers may have to wait; nothing if all may.
    stream: str = ""


class Wait(NamedTuple):
    """A time in which a trainer waited for a batch."""

    began: float
    ended: float


def waits(journal):
    """The waits that a trainer has written down."""
    for line in journal.read_text().splitlines():
        what, *words = line.split()
        if what == "waited":
            yield Wait(*map(float, words))


def attached(journal, after):
    """When a trainer was attached for the first time after this. Nothing if it was not."""
    times = (line.split() for line in journal.read_text().splitlines())
    return next((at for what, *words in times if what == "attached" and (at := float(words[0])) > after), None)


def calm(wait, troubles):
    """The longest part of a wait, in seconds, in which there was no trouble."""
    longest, since = 0.0, wait.began
    for trouble in sorted(troubles):
        longest = max(longest, min(trouble.began, wait.ended) - since)
        since = max(since, trouble.ended)
    return max(longest, wait.ended - since)


def gaps(present):
    """The times between the first and the last of these times, of which none is in any."""
    until = None
    for began, ended in sorted(present):
        if until is not None and began > until:
            yield until, began
        until = max(ended, until or ended)
