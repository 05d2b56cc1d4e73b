"""The Helm chart, rendered, and its containers as processes of this machine."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from monitoring import ROOT

CHART = ROOT / "deploy" / "kubernetes" / "forebay"
PLAIN = ROOT / "deploy" / "kubernetes" / "plain.yaml"
VALUES = sorted((CHART / "ci").glob("*-values.yaml"))
# Their definitions come with the operator of Prometheus.
OPERATORS = {"ServiceMonitor", "PrometheusRule"}

Object = dict[str, Any]


@lru_cache
def tools() -> Path:
    """The folder of helm and kubernetes-validate. Without them, the test is skipped."""
    found = subprocess.run([ROOT / "scripts" / "kubernetes.sh"], capture_output=True, text=True)
    if found.returncode != 0:
        pytest.skip(found.stderr.strip())
    return Path(found.stdout.strip())


def load(text: str) -> list[Object]:
    """The objects of a file of YAML, by the library that came with kubernetes-validate."""
    libraries = str(tools().parent / "python")
    if libraries not in sys.path:
        sys.path.append(libraries)
    import yaml

    return [each for each in yaml.safe_load_all(text) if each]


def helm(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Runs helm, without the settings of this machine."""
    home = {"HOME": "/nonexistent", "PATH": os.environ["PATH"]}
    return subprocess.run([tools() / "helm", *arguments], capture_output=True, text=True, env=home)


def rendered(*arguments: str | Path) -> str:
    """The text of the chart with these options."""
    done = helm("template", "forebay", CHART, "--namespace", "training", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def render(*arguments: str | Path) -> list[Object]:
    """The objects of the chart with these options."""
    return load(rendered(*arguments))


def one(objects: list[Object], kind: str, name: str = "") -> Object:
    """The object of a kind, of which there is one, or one whose name ends so."""
    (found,) = (each for each in objects if each["kind"] == kind and each["metadata"]["name"].endswith(name))
    return found


def pods(objects: list[Object]) -> dict[str, Object]:
    """The templates of pods, by the name of what makes them."""
    return {
        f"{each['kind']} {each['metadata']['name']}": each["spec"]["template"]
        for each in objects
        if each["kind"] in ("DaemonSet", "StatefulSet", "Job")
    }


def containers(pod: Object) -> list[Object]:
    """All containers of the template of a pod."""
    return [*pod["spec"].get("initContainers", []), *pod["spec"]["containers"]]


class Node:
    """A folder in the place of a pod's file system, whose paths are replaced in configurations and commands."""

    def __init__(self, folder: Path, paths: list[str]) -> None:
        self.folder = folder
        self.paths = sorted(paths, key=len, reverse=True)
        for path in paths:
            self.at(path).mkdir(parents=True, exist_ok=True)

    def at(self, path: str) -> Path:
        """Where a path of the pod is on this machine."""
        return self.folder / path.lstrip("/")

    def here(self, text: str) -> str:
        """A text with the places of this machine for those of the pod."""
        pattern = "|".join(map(re.escape, self.paths))
        return re.sub(rf"(?<![\w/])({pattern})(?=[/\"'\s,]|$)", lambda found: str(self.at(found[1])), text)
