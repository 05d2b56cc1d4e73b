"""A server on the loopback interface that answers pyodps as MaxCompute's Tunnel does, and breaks as a test asks."""

from __future__ import annotations

import io
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from odps import types
from odps.models import Record, TableSchema
from odps.tunnel.io.writer import BaseRecordWriter


class Written(BaseRecordWriter):
    """Rows as the Tunnel sends them."""

    def __init__(self, columns: list[Any]) -> None:
        self.out = io.BytesIO()
        super().__init__(TableSchema(columns=columns), self.out)


class Tunnel:
    """A project with one table.

    Attributes:
        columns: (name, type) of its columns.
        partitions: Rows by the partition's name; a table without partitions has one without a name.
        faults: What happens to the next downloads, one after the other: "cut" ends the answer in the middle, "row" ends
            it behind whole rows, "expired" and "503" are refusals, None is none.
        pages: How many of the next requests for a session are answered with a page for people.
        asked: The row ranges and columns that were asked for.
    """

    def __init__(self, columns: list[tuple[str, str]], partitions: dict[str, list[list[Any]]]) -> None:
        self.columns, self.partitions = columns, partitions
        self.faults: list[str | None] = []
        self.pages = 0
        self.asked: list[tuple[int, int, str]] = []
        self.sessions: list[str] = []
        self.modified = "Tue, 14 Nov 2023 22:13:20 GMT"
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), type("Answers", (Answers,), {"tunnel": self}))
        self.endpoint = f"http://127.0.0.1:{self.server.server_port}/api"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def schema(self) -> dict[str, Any]:
        levels = [part.partition("=")[0] for part in next(iter(self.partitions)).split(",") if part]
        return {
            "columns": [{"name": name, "type": of} for name, of in self.columns],
            "partitionKeys": [{"name": level, "type": "string"} for level in levels],
        }

    def body(self, partition: str, start: int, count: int, names: list[str]) -> tuple[bytes, bytes]:
        """The answer, and where whole rows end in it before the last row."""
        columns = [types.Column(name, types.validate_data_type(of)) for name, of in self.columns if name in names]
        places = [[name for name, _ in self.columns].index(column.name) for column in columns]
        rows = self.partitions[partition][start : start + count]
        written = []
        for some in (rows, rows[:-1]):
            writer = Written(columns)
            for row in some:
                record = Record(columns)
                for place, of in enumerate(places):
                    record[place] = row[of]
                writer.write(record)
            rows_end = writer.n_bytes
            writer.close()
            written.append((writer.out.getvalue(), rows_end))
        whole, (shorter, end) = written[0][0], written[1]
        return whole, shorter[:end]


class Answers(BaseHTTPRequestHandler):
    """Answers one request."""

    tunnel: Tunnel
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        """The tests look at what is asked, not at a log."""

    def say(self, body: bytes | str, status: int = 200, length: int | None = None) -> None:
        body = body.encode() if isinstance(body, str) else body
        self.send_response(status)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.send_header("x-odps-request-id", "1")
        self.end_headers()
        self.wfile.write(body)
        if length is not None:
            self.close_connection = True

    def refuse(self, status: int, code: str) -> None:
        self.say(f"<Error><Code>{code}</Code><Message>asked for by the test</Message></Error>", status)

    def do_POST(self) -> None:
        self.answer()

    def do_GET(self) -> None:
        self.answer()

    def answer(self) -> None:
        split, tunnel = urlsplit(self.path), self.tunnel
        query = dict(parse_qsl(split.query, keep_blank_values=True))
        partition = query.get("partition", "")
        if "tunnel" in split.path:
            return self.say(tunnel.endpoint.removeprefix("http://"))
        if "partitions" in query:
            named = [name for name in tunnel.partitions if name.startswith(partition.replace("'", ""))]
            names = "".join(f"<Partition>{self.columns(name)}</Partition>" for name in named)
            return self.say(f"<Partitions>{names}</Partitions>")
        if "downloads" in query and tunnel.pages:
            tunnel.pages -= 1
            return self.say("<html><body>The service is being maintained.</body></html>")
        if "downloads" in query:
            if partition not in tunnel.partitions:
                return self.refuse(404, "NoSuchPartition")
            tunnel.sessions.append(partition)
            return self.session(len(tunnel.sessions) - 1)
        if "data" in query:
            return self.data(query)
        if "downloadid" in query:
            return self.session(int(query["downloadid"]))
        if split.path.endswith("/tables/photos"):
            schema = json.dumps(tunnel.schema())
            when = f"<LastModifiedTime>{tunnel.modified}</LastModifiedTime>"
            return self.say(
                f'<Table><Name>photos</Name><Schema format="Json"><![CDATA[{schema}]]></Schema>{when}</Table>'
            )
        return self.refuse(404, "NoSuchTable")

    def columns(self, partition: str) -> str:
        levels = (level.split("=") for level in partition.split(","))
        return "".join(f'<Column Name="{name}" Value="{value}"/>' for name, value in levels)

    def session(self, number: int) -> None:
        count = len(self.tunnel.partitions[self.tunnel.sessions[number]])
        said = {"DownloadID": str(number), "Status": "normal", "RecordCount": count, "Schema": self.tunnel.schema()}
        self.say(json.dumps(said))

    def data(self, query: dict[str, str]) -> None:
        tunnel = self.tunnel
        start, count = map(int, re.findall(r"\d+", query["rowrange"]))
        tunnel.asked.append((start, count, query["columns"]))
        fault = tunnel.faults.pop(0) if tunnel.faults else None
        if fault == "expired":
            return self.refuse(404, "NoSuchDownload")
        if fault == "503":
            return self.refuse(503, "ServiceUnavailable")
        partition = tunnel.sessions[int(query["downloadid"])]
        whole, rows = tunnel.body(partition, start, count, query["columns"].split(","))
        if fault == "cut":
            return self.say(whole[: len(whole) * 2 // 3], length=len(whole))
        return self.say(rows if fault == "row" else whole)
