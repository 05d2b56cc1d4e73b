"""The pods of the chart, as processes with its users, groups, volumes and probes: a daemon serves a trainer."""

import contextlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from certificates import Authority
from chart import CHART, Object, one, pods, render
from monitoring import ROOT, daemon_binary, free_port, process, until
from pod import Pod

RECORDS = 24
NODE = "node-7.example"
TRAINER = """
import os, sys
import forebay, numpy
# The interpreter may be where only root can read, so it is loaded by now.
os.setgroups([int(group) for group in sys.argv[2].split(",") if group])
os.setgid(1000)
os.setuid(1000)
with forebay.Loader("stream:train", socket=sys.argv[1]) as loader:
    print(sum(batch.valid for batch in loader))
"""
CONFIG = """
[streams.train]
source = "/data/train"
batch_size = 8
size = 32
shuffle = true
unix_group = 2000
"""


@pytest.fixture
def folder():
    """A folder that every user may enter."""
    with tempfile.TemporaryDirectory(prefix="fb-chart-") as made:
        Path(made).chmod(0o755)
        data = Path(made) / "data"
        sample = [daemon_binary(), "sample", data / "train", "--count", str(RECORDS), "--width", "64", "--height", "48"]
        subprocess.run(sample, check=True, stdout=subprocess.DEVNULL)
        yield Path(made)


def secret(folder: Path, name: str, files: dict[str, bytes]) -> Path:
    """A volume of a secret: its files are of root, and the group of the pod may read them."""
    place = folder / name
    place.mkdir()
    for key, content in files.items():
        (place / key).write_bytes(content)
        (place / key).chmod(0o440)
        os.chown(place / key, 0, 10001)
    return place


def certificates(folder: Path) -> dict[str, Path]:
    """Volumes with the certificates of the coordinator and of the node."""
    authority = Authority(folder / "authority")
    sides = {"server": authority.sign("coordinator", "localhost"), "client": authority.sign("node", NODE)}
    files = {
        side: {"tls.crt": certificate.read_bytes(), "tls.key": key.read_bytes()}
        for side, (certificate, key) in sides.items()
    }
    ca = {"ca.crt": authority.ca.read_bytes()}
    return {
        "server": secret(folder, "server", {**files["server"], **ca}),
        "client": secret(folder, "client", files["client"]),
        "ca": secret(folder, "ca", ca),
    }


@pytest.fixture
def etcd(folder):
    """Starts an etcd, and gives its address. Without one, the test is skipped."""
    with contextlib.ExitStack() as stack:

        def start() -> str:
            found = subprocess.run([ROOT / "scripts" / "etcd.sh"], capture_output=True, text=True)
            if found.returncode != 0:
                pytest.skip(found.stderr.strip())
            client, peer = (f"http://127.0.0.1:{free_port()}" for _ in range(2))
            options = {
                "data-dir": folder / "etcd",
                **{"listen-client-urls": client, "advertise-client-urls": client, "listen-peer-urls": peer},
                **{"initial-advertise-peer-urls": peer, "initial-cluster": f"default={peer}"},
            }
            words = (word for key, value in options.items() for word in (f"--{key}", value))
            stack.enter_context(process(folder / "etcd.log", Path(found.stdout.strip()) / "etcd", *words))
            return client

        yield start


@pytest.mark.parametrize("security", ["token", "tls and token", "certificates", "etcd and token"])
def test_a_trainer_of_another_pod_reads_an_epoch(folder, security, etcd):
    ports = {"coordinator.port": free_port(), "metrics.daemonPort": free_port(), "metrics.coordinatorPort": free_port()}
    options = ["coordinator.enabled=true", "metrics.enabled=true", *(f"{key}={port}" for key, port in ports.items())]
    volumes, token = {}, secret(folder, "token", {"token": b"a-token-of-this-test\n"})
    if security != "certificates":
        options.append("coordinator.tokenSecret=token")
        volumes["token"] = token
    if security == "etcd and token":
        options += ["coordinator.store=etcd", "coordinator.replicas=1", f"coordinator.etcd.endpoints={{{etcd()}}}"]
    made = {}
    if "token" not in security or "tls" in security:
        options.append("coordinator.tls.secret=server")
        made = certificates(folder)
    if security == "certificates":
        options.append("coordinator.tls.clientSecret=client")
    config = folder / "config.toml"
    config.write_text(CONFIG)
    options += ["daemon.prepareHost=true"]

    def made_with(options: list[str]) -> list[Object]:
        words = (word for option in options for word in ("--set", option))
        return render(*words, "--set-file", f"daemon.config={config}")

    objects = made_with(options)
    # Probes that ask in other ways, of the same processes.
    quiet = pods(made_with([option for option in options if not option.startswith("metrics.")]))
    template = folder / "template"
    template.mkdir()
    (template / "forebay.toml").write_text(one(objects, "ConfigMap")["data"]["forebay.toml"])
    templates = pods(objects)
    sockets = folder / "sockets"
    sockets.mkdir(mode=0o755)
    ledgers = folder / "ledgers"
    ledgers.mkdir()
    os.chown(ledgers, 0, 10001)
    ledgers.chmod(0o2775)
    shared = {"sockets": sockets, "data": folder / "data", "template": template}
    daemon = Pod(
        templates["DaemonSet forebay"],
        NODE,
        "forebay-x1",
        {**shared, **volumes, **({"ca": made["ca"], "tls": made["client"]} if made else {})},
    )
    coordinator = Pod(
        templates["StatefulSet forebay-coordinator"],
        NODE,
        "forebay-coordinator-0",
        {"ledgers": ledgers, **volumes, **({"tls": made["server"]} if made else {})},
    )
    try:
        run(folder, daemon, coordinator, sockets, quiet)
    finally:
        daemon.remove()
        coordinator.remove()


def run(folder: Path, daemon: Pod, coordinator: Pod, sockets: Path, quiet: dict[str, Object]) -> None:
    """Starts both as Kubernetes does, and trains."""
    (ledger,) = coordinator.spec["containers"]
    (serve,) = daemon.spec["containers"]
    # With metrics and without.
    ledgers = [ledger, *quiet["StatefulSet forebay-coordinator"]["spec"]["containers"]]
    serves = [serve, *quiet["DaemonSet forebay"]["spec"]["containers"]]
    daemon.initialise()
    assert sockets.stat().st_uid == 10001
    # What the chart says of paths holds for the configuration too.
    written = daemon.volumes["config"] / "forebay.toml"
    assert f'node = "{NODE}"' in written.read_text()
    written.write_text(daemon.here(serve, written.read_text()))
    started = coordinator.command(ledger, ledger["command"] + ledger["args"])
    with process(folder / "coordinator.log", *started, **coordinator.environment(ledger)):
        for probed in ledgers:
            until(lambda probed=probed: coordinator.passes(probed, "readinessProbe"))
            assert coordinator.passes(probed, "livenessProbe")
        assert not any(daemon.passes(probed, "readinessProbe") for probed in serves)
        started = daemon.command(serve, serve["command"] + serve["args"])
        with process(folder / "daemon.log", *started, **daemon.environment(serve)) as running:
            for probed in serves:
                until(lambda probed=probed: daemon.passes(probed, "readinessProbe"))
                assert daemon.passes(probed, "livenessProbe")
            socket = sockets / "sockets" / "forebay.sock"
            assert trained(socket, "2000") == (0, f"{RECORDS}\n")
            assert trained(socket, "")[0] != 0
            running.terminate()
            assert running.wait(serve_seconds(daemon)) == 0
    assert not any(coordinator.passes(probed, "livenessProbe") for probed in ledgers)


def serve_seconds(pod: Pod) -> int:
    """How long Kubernetes waits for the pod to end."""
    return pod.spec["terminationGracePeriodSeconds"]


def trained(socket: Path, groups: str) -> tuple[int, str]:
    """The exit code and the output of a trainer with these groups."""
    done = subprocess.run([sys.executable, "-c", TRAINER, str(socket), groups], capture_output=True, text=True)
    return done.returncode, done.stdout


def test_the_example_trains_on_one_node(folder):
    pytest.importorskip("torch", reason="the examples need PyTorch, which is not installed")
    with serving(folder, "node", "train", "batch_size = 8", f'path = "{folder / "ledgers"}"'):
        assert said(example(folder / "node", "train")) == f"epoch 1: {2 * RECORDS} records so far"


def test_the_example_trains_over_two_nodes(folder):
    pytest.importorskip("torch", reason="the examples need PyTorch, which is not installed")
    port, meeting = free_port(), {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
    listen = ("--listen", f"127.0.0.1:{port}", "--path", folder / "ledgers")
    settings = 'assignment = "lockstep"\nglobal_batch = 8'
    with contextlib.ExitStack() as stack:
        stack.enter_context(process(folder / "coordinator.log", daemon_binary(), "coordinate", *listen))
        ranks = []
        for rank in (0, 1):
            ledgers = f'endpoint = "http://127.0.0.1:{port}"\nnode = "node-{rank}"'
            stack.enter_context(serving(folder, f"node-{rank}", "lockstep", settings, ledgers))
            place = {"RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_RANK": "0", **meeting}
            ranks.append(example(folder / f"node-{rank}", "lockstep", "--lockstep", **place))
        assert [said(rank) for rank in ranks] == [f"epoch 1: {RECORDS} records so far"] * 2


def serving(folder: Path, node: str, stream: str, settings: str, ledgers: str):
    """The daemon of a node, with one stream."""
    config = folder / f"{node}.toml"
    config.write_text(
        f'[streams.{stream}]\nsource = "{folder / "data" / "train"}"\nsize = 32\n{settings}\n'
        f'[control]\ndir = "{folder / node}"\n[coordinator]\n{ledgers}\n'
    )
    return process(folder / f"{node}.log", daemon_binary(), "serve", "--config", config)


def example(sockets: Path, stream: str, *options: str, **extra: str) -> subprocess.Popen[str]:
    """The job of the chart, as a process of this machine."""
    command = [sys.executable, CHART / "examples" / "train.py", f"--stream={stream}", *options]
    env = {**os.environ, "FOREBAY_SOCKET": str(sockets / "forebay.sock"), **extra}
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)


def said(trainer: subprocess.Popen[str]) -> str:
    """The last line of a trainer, which must end well."""
    output, _ = trainer.communicate(timeout=120)
    assert trainer.returncode == 0
    return output.splitlines()[-1]
