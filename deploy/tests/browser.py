"""A headless browser that a test steers over two pipes, by Chrome's DevTools protocol."""

from __future__ import annotations

import base64
import json
import os
import select
import subprocess
import time
from pathlib import Path
from typing import Any

PATIENCE = 120


class Browser:
    """One browser with one page.

    Attributes:
        complaints: What the console and the policy of the page have said since the last `open`.
    """

    def __init__(self, program: Path, profile: Path) -> None:
        reads, self._to = os.pipe()
        self._from, writes = os.pipe()
        command = f'exec "$0" "$@" 3<&{reads} 4>&{writes}'
        arguments = ["--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"]
        self._process = subprocess.Popen(
            ["bash", "-c", command, str(program), *arguments],
            pass_fds=(reads, writes),
            stdin=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(reads)
        os.close(writes)
        self._received = b""
        self._number = 0
        self._session: str | None = None
        self._events: list[dict[str, Any]] = []
        self.complaints: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Audits", "Accessibility"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Asks the browser, and waits for its answer."""
        self._number += 1
        asked = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            asked["sessionId"] = self._session
        os.write(self._to, json.dumps(asked).encode() + b"\0")
        until = time.monotonic() + PATIENCE
        while True:
            message = self._message(until)
            if message.get("id") == self._number:
                assert "error" not in message, f"{method}: {message['error']}"
                return message["result"]

    def open(self, url: str, width: int, scheme: str) -> None:
        """Shows a URL in a window of this width, in light or dark, and waits until it is loaded."""
        sizes = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **sizes)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.complaints = []
        self._events = []
        failed = self.call("Page.navigate", url=url).get("errorText")
        assert not failed, f"{url}: {failed}"
        self.wait_for("Page.loadEventFired")

    def wait_for(self, event: str) -> None:
        """Waits for an event of the page, unless it has come."""
        until = time.monotonic() + PATIENCE
        while not any(message["method"] == event for message in self._events):
            self._message(until)

    def value(self, script: str) -> Any:
        """What an expression gives in the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def roles(self) -> list[tuple[str, str]]:
        """The role and name of all that readers of screens are told."""
        nodes = self.call("Accessibility.getFullAXTree")["nodes"]
        told = (node for node in nodes if not node.get("ignored"))
        return [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in told]

    def picture(self, file: Path) -> None:
        """Writes the whole page as a PNG."""
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        file.write_bytes(base64.b64decode(shot))

    def close(self) -> None:
        """Ends the browser."""
        self._process.kill()
        self._process.wait()
        os.close(self._to)
        os.close(self._from)

    def _message(self, until: float) -> dict[str, Any]:
        while b"\0" not in self._received:
            left = until - time.monotonic()
            ready = left > 0 and select.select([self._from], [], [], left)[0]
            assert ready, "the browser does not answer"
            part = os.read(self._from, 1 << 20)
            assert part, "the browser has ended"
            self._received += part
        text, _, self._received = self._received.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        self._note(message)
        return message

    def _note(self, message: dict[str, Any]) -> None:
        method, said = message.get("method"), message.get("params", {})
        if method is not None:
            self._events.append(message)
        if method == "Log.entryAdded" and said["entry"]["level"] in ("error", "warning"):
            self.complaints.append(f"{said['entry']['text']} {said['entry'].get('url', '')}")
        elif method == "Runtime.consoleAPICalled" and said["type"] in ("error", "warning", "assert"):
            self.complaints.append(f"console: {said['args']}")
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(f"an exception: {said['exceptionDetails']}")
        elif method == "Audits.issueAdded":
            self.complaints.append(f"an issue: {said['issue']}")
