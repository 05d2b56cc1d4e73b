"""How often a call is made by a thread until another thread gets the interpreter."""

import sys
import threading


def rounds_until_seen(call, most):
    """Calls in a thread until the main thread goes on, but at most so often.

    No thread has to give the interpreter up by itself: the main thread goes on only if a call lets it.
    """
    started, seen = threading.Event(), threading.Event()
    rounds = []

    def work():
        started.set()
        while not seen.is_set() and len(rounds) < most:
            call()
            rounds.append(1)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        thread = threading.Thread(target=work)
        thread.start()
        started.wait()
        seen.set()
        thread.join()
    finally:
        sys.setswitchinterval(interval)
    return len(rounds)
