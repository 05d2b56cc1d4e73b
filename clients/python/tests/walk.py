"""Random walks of a trainer, each in a process of its own.

`python clients/python/tests/walk.py CALLS [FIRST_SEED]` walks until that many calls are made, and ends with the number
of findings. A finding names the seed and the calls that led there.
"""

import json
import os
import random
import sys
import tempfile
import time
import traceback
from pathlib import Path

from walks.walk import Walk


def walk(seed, calls):
    """Walks in a process of its own. Gives the numbers of calls and of states at an epoch's end, and the finding."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        words = ""
        with tempfile.TemporaryDirectory() as folder:
            os.environ["STATE_DIRECTORY"] = folder + "/runs"
            here = Walk(seed, Path(folder))
            try:
                here.run(calls)
            except BaseException:
                told, scene = ", ".join(here.log[-30:]), here.scene
                words = f"seed {seed} ({scene.kind}, {scene.records} records, {scene.stream()}): {told}\n"
                words += traceback.format_exc(limit=-3)
            with os.fdopen(writer, "w") as pipe:
                json.dump([here.calls, here.borders, words], pipe)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        told = pipe.read()
    os.waitpid(child, 0)
    return tuple(json.loads(told)) if told else (0, 0, f"seed {seed}: the process died")


def main():
    """The long form of `test_walk.py`."""
    calls, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    made, at_ends, walks, findings, began = 0, 0, 0, 0, time.monotonic()
    while made < calls:
        done, borders, words = walk(seed, random.Random(seed).randrange(5, 150))
        made, at_ends, walks, seed = made + done, at_ends + borders, walks + 1, seed + 1
        if words:
            findings += 1
            print(words, flush=True)
    print(f"{made} calls in {walks} walks, {findings} findings, {time.monotonic() - began:.0f} s")
    print(f"{at_ends} states at the end of an epoch")
    sys.exit(findings > 0)


if __name__ == "__main__":
    main()
