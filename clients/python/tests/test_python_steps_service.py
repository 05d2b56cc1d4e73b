"""Functions in Python of a service, which runs only those below its folders (semantics rule 59)."""

import json
import os
import subprocess
import sys

import forebay
import pytest
from forebay import transforms
from processes import Daemon

pytestmark = [pytest.mark.daemon, pytest.mark.usefixtures("binary")]

BEFORE = [transforms.RandomResizedCrop(16), transforms.RandomHorizontalFlip()]


def served(binary, tmp_path, source, table, folders, **settings):
    """The command and the socket of a service with a stream of this list, which may run code below these folders."""
    sockets = tmp_path / "sockets"
    sockets.mkdir(mode=0o700, exist_ok=True)
    keys = {"source": str(source), "batch_size": 4, "epochs": 1, "transform": table, **settings}
    lines = [f"{key} = {json.dumps(value)}".replace('": ', '" = ') for key, value in keys.items()]
    head = f'drain_timeout = "1s"\n[control]\ndir = "{sockets}"\n[coordinator]\npath = "{tmp_path / "state"}"\n'
    allowed = f"[sources]\npython = {json.dumps([str(folder) for folder in folders])}\n"
    config = tmp_path / "forebay.toml"
    config.write_text(head + allowed + "[streams.train]\n" + "\n".join(lines) + "\n")
    return [binary, "serve", "--config", str(config)], sockets / "forebay.sock"


@pytest.mark.parametrize(
    ("function", "settings", "words"),
    [
        ("steps_module:inverted", {}, None),
        ("os:system", {}, "which a service does not run"),
        ("other_module:inverted", {"python_path": ["OTHER"]}, "python_path has"),
        ("steps_module:inverted", {"python": "/usr/bin/env"}, "a service starts no other"),
        ("linked:inverted", {}, "which a service does not run"),
    ],
)
def test_rule_59_a_service_runs_functions_only_from_below_its_folders(
    binary, jpegs, tmp_path, monkeypatch, function, settings, words
):
    folder, other = tmp_path / "steps", tmp_path / "other"
    for place in (folder, other):
        place.mkdir()
        (place / f"{place.name}_module.py").write_text("def inverted(picture, sample):\n    return 255 - picture\n")
    (folder / "linked.py").symlink_to(other / "other_module.py")
    # The service has no interpreter of its own here: it takes the first python3.
    monkeypatch.setenv("PATH", os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"])
    table = [*(step.to_settings() for step in BEFORE), {"python": {"function": function}}]
    settings = {key: [str(other)] if value == ["OTHER"] else value for key, value in settings.items()}
    command, socket = served(binary, tmp_path, jpegs, table, [folder], **settings)
    if words is not None:
        # A service whose only stream cannot be opened ends.
        told = subprocess.run(command, check=False, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        assert told.returncode != 0
        assert words in told.stderr, told.stderr
        return
    daemon = Daemon(command, socket)
    with forebay.Loader("stream:train", socket=daemon.socket) as loader:
        assert sum(batch.valid for batch in loader) == 12
    daemon.end()


def test_a_bench_calls_the_functions_of_a_configured_stream(binary, jpegs, tmp_path, monkeypatch):
    folder = tmp_path / "steps"
    folder.mkdir()
    code = 'import os\n\ndef mark(picture, sample):\n    open(f"{__file__}.{sample.record}", "a").close()\n'
    (folder / "steps_module.py").write_text(code)
    monkeypatch.setenv("PATH", os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"])
    table = [*(step.to_settings() for step in BEFORE), {"python": {"function": "steps_module:mark"}}]
    served(binary, tmp_path, jpegs, table, [folder])
    command = [binary, "bench", "--config", str(tmp_path / "forebay.toml"), "--seconds", "1", "--json"]
    told = subprocess.run(command, check=True, capture_output=True, text=True)
    assert json.loads(told.stdout)["pictures_per_second"] > 0, told.stdout
    assert len(list(folder.glob("steps_module.py.*"))) == 12
