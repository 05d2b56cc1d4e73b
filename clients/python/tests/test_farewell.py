"""Loaders that are never closed: garbage-collected, or left when the interpreter ends."""

import os
import shlex
import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.daemon


@pytest.fixture
def run(tmp_path):
    """Runs Python code, which must end without an error message. Gives what it printed."""

    def run(code, daemon, **names):
        head = "import forebay, os, signal, threading\n" + "".join(f"{k} = {str(v)!r}\n" for k, v in names.items())
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", head + textwrap.dedent(code)],
            env={**os.environ, "FOREBAY_BIN": str(daemon)},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    return run


@pytest.fixture
def script(tmp_path):
    """Makes a shell script that replaces the daemon's binary."""

    def make(text):
        path = tmp_path / "daemon"
        path.write_text(f"#!/bin/sh\n{textwrap.dedent(text)}")
        path.chmod(0o700)
        return path

    return make


def test_other_threads_run_while_a_collected_loader_waits_for_its_daemon_s_end(binary, pictures, run, script, tmp_path):
    os.mkfifo(tmp_path / "word")
    # The daemon's end takes a word of another thread.
    daemon = script(f'{shlex.quote(binary)} "$@"; read word <word; echo "$word" >ended')
    code = """
        def speak():
            with open("word", "w") as word:
                word.write("heard\\n")
        loader = forebay.Loader(folder, batch_size=4, size=8)
        threading.Thread(target=speak).start()
        del loader
        """
    run(code, daemon, folder=pictures(8))
    assert (tmp_path / "ended").read_text() == "heard\n", "it was killed before a thread could speak"


def test_signals_that_come_at_the_end_leave_no_zombie(binary, pictures, run, script):
    daemon = script(f'{shlex.quote(binary)} "$@"; sleep 0.2')
    code = """
        loader = forebay.Loader(folder, batch_size=4, size=8)
        signal.signal(signal.SIGALRM, lambda *_: None)
        signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)
        loader.close()
        signal.setitimer(signal.ITIMER_REAL, 0)
        try:
            os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            print("no child is left")
        """
    assert run(code, daemon, folder=pictures(8)) == "no child is left\n"


def test_a_loader_that_is_left_over_at_the_interpreter_s_end_is_quiet(binary, pictures, run):
    code = """
        loader = forebay.Loader(folder, batch_size=4, size=8)
        batch = loader.next()
        image = batch.images
        cycle = [loader]
        cycle.append(cycle)
        print("end")
        """
    assert run(code, binary, folder=pictures(8)) == "end\n"


def test_a_thread_that_still_waits_at_the_interpreter_s_end_is_quiet(pictures, run, script):
    daemon = script(": >started; exec cat")
    code = """
        def wait():
            forebay.Loader(folder, batch_size=4, size=8)
        threading.Thread(target=wait, daemon=True).start()
        while not os.path.exists("started"):
            pass
        print("end")
        """
    assert run(code, daemon, folder=pictures(8)) == "end\n"
