"""The alerts and the dashboard, beside promtool and a Prometheus that reads a real daemon and a real coordinator."""

import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import forebay
from monitoring import ROOT, RULES, Nodes, programs, queries, until

# Panels that are empty on a machine without GPUs, or while nothing is wrong.
WITHOUT_GPUS = {"Left to the next lane A", "Switched off A", "Memory of GPUs A"}
SCRAPE = ROOT / "deploy" / "prometheus" / "prometheus.yml"
TESTS = ROOT / "deploy" / "prometheus" / "forebay.rules.test.yml"


def promtool(*arguments: str | Path) -> str:
    """Runs promtool, which must find nothing wrong."""
    done = subprocess.run(
        [programs() / "promtool", *arguments], capture_output=True, text=True, cwd=RULES.parent, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_promtool_accepts_the_rules_and_the_configuration():
    assert "SUCCESS" in promtool("check", "rules", RULES.name)
    assert "SUCCESS" in promtool("check", "config", SCRAPE.name)


def test_simulated_faults_raise_their_alerts_and_others_do_not():
    assert "SUCCESS" in promtool("test", "rules", TESTS.name)


def test_a_fault_that_raises_no_alert_fails_the_simulation(tmp_path):
    (tmp_path / TESTS.name).write_text(TESTS.read_text())
    deaf = RULES.read_text().replace("forebay_stream_up == 0", "forebay_stream_up == 2")
    assert deaf != RULES.read_text()
    (tmp_path / RULES.name).write_text(deaf)
    command = [programs() / "promtool", "test", "rules", TESTS.name]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode != 0
    assert "ForebayStreamDown" in done.stdout + done.stderr


def on_the_spot(expression: str) -> str:
    """A query of the dashboard, as Grafana would ask it for everything within a short time."""
    for name in ("job", "instance", "stream"):
        expression = expression.replace(f"${name}", ".*")
    assert "$" not in expression.replace("$__rate_interval", "")
    return expression.replace("$__rate_interval", "10s")


def test_a_prometheus_reads_a_daemon_and_a_coordinator_and_every_panel_has_data(tmp_path):
    nodes = Nodes(tmp_path)
    config = SCRAPE.read_text().replace("train-1:9464", f"127.0.0.1:{nodes.ports['daemon']}")
    config = config.replace("coordinator:9465", f"127.0.0.1:{nodes.ports['coordinator']}")
    config = re.sub(r", \"train-2:9464\"", "", config) + "global:\n  scrape_interval: 2s\n  evaluation_interval: 1s\n"
    with nodes.files(), nodes.coordinator(), nodes.daemon() as daemon, nodes.prometheus(config) as prometheus:
        stopped = threading.Event()
        threads = [
            threading.Thread(target=train, args=(name, tmp_path / "sockets" / "forebay.sock", stopped))
            for name in ("train", "remote")
        ]
        for thread in threads:
            thread.start()
        try:
            until(lambda: len(prometheus.query('up{job=~"forebay.*"} == 1')) == 2)
            for name, expression in queries().items():
                if name not in WITHOUT_GPUS:
                    print(name, file=sys.stderr)
                    until(lambda expression=expression: prometheus.query(on_the_spot(expression)))
            assert not prometheus.query('ALERTS{alertstate="firing"}')
            alerts = {rule["name"]: rule for group in prometheus.get("rules")["groups"] for rule in group["rules"]}
            assert {rule["health"] for rule in alerts.values()} == {"ok"}
            # Trainers would wait for the daemon, so they leave before it hangs.
            stopped.set()
            for thread in threads:
                thread.join()
            daemon.send_signal(signal.SIGKILL)
            down = until(lambda: prometheus.query('ALERTS{alertname="ForebayDown"}'))
            assert [series["metric"]["job"] for series in down] == ["forebay-daemon"]
        finally:
            stopped.set()


def train(stream: str, socket: Path, stopped: threading.Event) -> None:
    """Takes batches until it is told to stop."""
    with forebay.Loader(f"stream:{stream}", socket=str(socket)) as loader:
        while not stopped.is_set():
            for _ in loader:
                if stopped.wait(0.05):
                    break
