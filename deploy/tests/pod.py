"""A pod of the chart as processes of this machine: with its users, groups, volumes, commands and probes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest
from chart import Object
from monitoring import daemon_binary


class Pod:
    """The template of a pod with folders in the place of its volumes. It needs root, which gives a pod its users."""

    def __init__(self, template: Object, node: str, name: str, volumes: dict[str, Path]) -> None:
        if os.geteuid() != 0 or not shutil.which("setpriv"):
            pytest.skip("this test needs root and setpriv, to run processes as the users of a pod")
        self.spec: Any = template["spec"]
        self.fields = {"spec.nodeName": node, "metadata.name": name}
        self.volumes = volumes
        for volume in self.spec["volumes"]:
            if "emptyDir" in volume:
                volumes[volume["name"]] = self._empty()

    def _empty(self) -> Path:
        """A folder as kubelet makes it: of root, open to all, and of the pod's group."""
        folder = Path(tempfile.mkdtemp(prefix="fb-pod-"))
        os.chown(folder, 0, self.spec["securityContext"]["fsGroup"])
        folder.chmod(0o2777)
        return folder

    def command(self, container: Object, words: list[str]) -> list[str | Path]:
        """The command as the user of a container, with the folders of this machine."""
        context = {**self.spec["securityContext"], **container["securityContext"]}
        groups = ",".join(map(str, [context["fsGroup"], *context["supplementalGroups"]]))
        kept = "".join(f",+{name.lower()}" for name in context["capabilities"].get("add", []))
        user = [f"--reuid={context['runAsUser']}", f"--regid={context['runAsGroup']}", f"--groups={groups}"]
        rights = ["--no-new-privs", f"--bounding-set=-all{kept}"]
        return ["setpriv", *user, *rights, *(self.here(container, word) for word in words)]

    def here(self, container: Object, word: str) -> str:
        """A word of a command, or a configuration, as it is on this machine."""
        word = re.sub(r"\$\((\w+)\)", lambda found: self.environment(container)[found[1]], word)
        word = word.replace("0.0.0.0", "127.0.0.1")
        # The only coordinator of a test has no name of its own here.
        word = re.sub(r"[\w-]+-coordinator-0\.[\w.-]+\.svc", "localhost", word)
        places = {mount["mountPath"]: str(self.volumes[mount["name"]]) for mount in container["volumeMounts"]}
        paths = "|".join(map(re.escape, sorted(places, key=len, reverse=True)))
        # All at once: a folder of this machine may be below a path of the pod, such as /tmp.
        word = re.sub(rf"(?<![\w/])({paths})(?![\w-])", lambda found: places[found[1]], word)
        return word.replace("/usr/bin/forebay", str(daemon_binary()))

    def environment(self, container: Object) -> dict[str, str]:
        """The variables of a container."""
        found = {"PATH": os.environ["PATH"]}
        for variable in container.get("env", []):
            field = variable.get("valueFrom", {}).get("fieldRef", {}).get("fieldPath")
            found[variable["name"]] = self.fields[field] if field else self.here(container, variable["value"])
        return found

    def initialise(self) -> None:
        """Runs the init containers, one after the other."""
        for container in self.spec.get("initContainers", []):
            self.ask(container, container["command"])

    def ask(self, container: Object, words: list[str]) -> subprocess.CompletedProcess[str]:
        """Runs a command in a container, which must succeed."""
        done = subprocess.run(
            self.command(container, words), capture_output=True, text=True, env=self.environment(container)
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done

    def passes(self, container: Object, kind: str) -> bool:
        """Whether a probe of a container succeeds."""
        probe = container[kind]
        if "exec" in probe:
            command = self.command(container, probe["exec"]["command"])
            seconds = probe["timeoutSeconds"]
            return subprocess.run(command, capture_output=True, timeout=seconds).returncode == 0
        if "grpc" in probe:
            return serving(probe["grpc"]["port"], probe["grpc"].get("service", ""))
        if "httpGet" in probe:
            url = f"http://127.0.0.1:{self.port(container, probe['httpGet'])}{probe['httpGet']['path']}"
            command = ["curl", "-sf", "-m", str(probe["timeoutSeconds"]), url]
            return subprocess.run(command, capture_output=True).returncode == 0
        port = self.port(container, probe["tcpSocket"])
        return subprocess.run(["bash", "-c", f": </dev/tcp/127.0.0.1/{port}"], capture_output=True).returncode == 0

    @staticmethod
    def port(container: Object, action: Object) -> int:
        """The number of the port that a probe names."""
        (port,) = (port["containerPort"] for port in container["ports"] if port["name"] == action["port"])
        return port

    def remove(self) -> None:
        """Removes the folders that it made."""
        for volume in self.spec["volumes"]:
            if "emptyDir" in volume:
                shutil.rmtree(self.volumes[volume["name"]])


def serving(port: int, service: str) -> bool:
    """Whether the health service of gRPC says SERVING, asked without TLS and without a token, as kubelet asks."""
    if "HTTP2" not in subprocess.run(["curl", "--version"], capture_output=True, text=True).stdout:
        pytest.skip("there is no curl with HTTP/2")
    # A frame of gRPC, in which is grpc.health.v1.HealthCheckRequest{service = 1}.
    message = b"\x0a" + bytes([len(service)]) + service.encode() if service else b""
    frame = b"\0" + len(message).to_bytes(4, "big") + message
    headers = ("-H", "content-type: application/grpc", "-H", "te: trailers")
    url = f"http://127.0.0.1:{port}/grpc.health.v1.Health/Check"
    done = subprocess.run(
        ["curl", "-s", "-m", "5", "--http2-prior-knowledge", *headers, "--data-binary", "@-", url],
        input=frame,
        capture_output=True,
    )
    return done.stdout == b"\0\0\0\0\x02\x08\x01"
