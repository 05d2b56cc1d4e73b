"""Reads tables of MaxCompute (ODPS) with pyodps. A child process of the daemon runs it as it runs a user's reader."""

from __future__ import annotations

import base64
import json
import os
import random
import time
from collections.abc import Iterator
from http.client import HTTPException
from typing import Any, NamedTuple

try:
    from odps import ODPS, options
    from odps.errors import ODPSError
    from odps.tunnel import TableTunnel
    from urllib3.exceptions import HTTPError
except ImportError as error:
    raise ImportError(
        f"the source odps: needs pyodps ({error}). Install it with: pip install 'forebay[odps]'"
    ) from None

# Without this, pyodps decodes STRING cells as UTF-8, and old tables have pictures in them.
options.tunnel.string_as_binary = True

# The environment variables that ElasticDL reads.
KEY_ID, KEY_SECRET, PROJECT = "MAXCOMPUTE_AK", "MAXCOMPUTE_SK", "MAXCOMPUTE_PROJECT"
ENDPOINT, TUNNEL_ENDPOINT = "MAXCOMPUTE_ENDPOINT", "MAXCOMPUTE_TUNNEL_ENDPOINT"
PICTURES, LABELS = ("image", "img", "picture"), ("label", "labels")
# Which columns of a batch the types of a table become.
TYPES = {
    "tinyint": "i8",
    "smallint": "i16",
    "int": "i32",
    "bigint": "i64",
    "float": "f32",
    "double": "f64",
    "boolean": "bool",
    "string": "u8 [*]",
    "binary": "u8 [*]",
}
# Errors of a request for a session that a retry cannot change.
FINAL = {"NoSuchObject", "AuthorizationRequired", "NoPermission", "SignatureNotMatch", "InvalidArgument"}
# Consecutive attempts that bring no row, and the wait before the second one. Each further wait is twice as long.
ATTEMPTS = 6
FIRST_WAIT = 0.25

Row = Any


class Chosen(NamedTuple):
    """The columns of the table that are read."""

    picture: str
    label: str | None
    targets: dict[str, str]


class ShortDownloadError(Exception):
    """A download ended before its last row, for example because its connection was cut."""


class WrongTableError(Exception):
    """The table does not have the rows that it had. No other error of a download is taken for this one."""


def choose(table: dict[str, str], named: str, batch: dict[str, str], labelled: bool) -> Chosen:
    """Chooses the columns of the table that have the picture, the label and further values.

    Args:
        table: Types by the names of the table's columns.
        named: The option `columns`: the picture's column, the label's, and further ones.
        batch: The stream's `columns`: the column of the table for each column of a batch.
        labelled: Whether the stream has labels.
    """

    def find(wanted: str) -> str:
        for name in (part.strip() for part in wanted.split(";")):
            if name.lower() in table:
                return name.lower()
        raise ValueError(f"the table has no column {wanted!r}; it has {', '.join(table)}")

    names = [find(name) for name in named.split(",") if name.strip()]
    if names and batch:
        raise ValueError("give the option columns, or the stream's columns, but not both")
    wanted = {name: find(part) for name, part in batch.items()}
    binary = [name for name, kind in table.items() if kind == "binary"]
    likely = [name for name in PICTURES if name in table] or binary
    picture = names[0] if names else wanted.pop("images", None)
    if picture is None and not likely:
        raise ValueError(f"no column looks like a picture; name it with columns=. The table has {', '.join(table)}")
    label = names[1] if len(names) > 1 else wanted.pop("labels", None)
    if label is None and not names:
        label = next((name for name in LABELS if name in table and name not in wanted.values()), None)
    return Chosen(picture or likely[0], label if labelled else None, wanted or {name: name for name in names[2:]})


class OdpsReader:
    """Reads one table, or partitions of it. Rows are numbered from 0 in each partition."""

    def __init__(self, table: str, **given: str) -> None:
        project, _, name = table.rpartition("/")
        project = project or os.environ.get(PROJECT, "")
        endpoint = given.get("endpoint") or os.environ.get(ENDPOINT)
        lacking = [variable for variable in (KEY_ID, KEY_SECRET) if not os.environ.get(variable)]
        if lacking:
            raise ValueError(f"set {' and '.join(lacking)} in the environment of the daemon")
        if not (project and name and endpoint) or "/" in project:
            raise ValueError(f"give odps://PROJECT/TABLE, and the option endpoint or the variable {ENDPOINT}")
        key = os.environ[KEY_ID], os.environ[KEY_SECRET]
        tunnel_endpoint = given.get("tunnel_endpoint") or os.environ.get(TUNNEL_ENDPOINT)
        client = ODPS(*key, project, endpoint=endpoint, tunnel_endpoint=tunnel_endpoint)
        self.tunnel = TableTunnel(client, endpoint=tunnel_endpoint)
        self.table = client.get_table(name)
        self.partition = given.get("partition", "")
        self.is_base64 = given.get("encoding") == "base64"
        schema = self.table.table_schema
        self.levels = [str(column.name).lower() for column in schema.partitions]
        simple = {str(column.name).lower(): str(column.type).lower() for column in schema.simple_columns}
        columns = json.loads(given.get("batch_columns") or "{}")
        self.chosen = choose(simple, given.get("columns", ""), columns, given.get("labels") != "none")
        self.types = {name: TYPES.get(simple[column]) for name, column in self.chosen.targets.items()}
        unfit = next((name for name, kind in self.types.items() if kind is None), None)
        if unfit is not None:
            of = simple[self.chosen.targets[unfit]]
            raise ValueError(
                f"the column {unfit!r} cannot have values of the type {of}; it can have {', '.join(TYPES)}"
            )
        if self.chosen.label is None:
            self.labels = None
        if not self.chosen.targets:
            self.columns = None
        self.sessions: dict[str, Any] = {}
        self.counts: dict[str, int] = {}

    def create_shards(self) -> list[tuple[str, int, int]]:
        """A shard for each partition, in the order of their names."""
        return [(name, 0, self.session(name).count) for name in self.partitions()]

    def version(self) -> str:
        """When the table was last written. A later write makes it a different dataset."""
        return f"{self.table.last_data_modified_time}"

    def labels(self) -> list[int | str]:
        """The labels of all rows."""
        label = self.chosen.label
        return [self.label_of(row[label], name, number) for name, number, row in self.all_rows([label])]

    def columns(self) -> dict[str, Iterator[Any]]:
        """The further columns of all rows."""
        return {name: self.column(column) for name, column in self.chosen.targets.items()}

    def column(self, column: str) -> Iterator[Any]:
        """The values of a column in all rows."""
        for _name, _number, row in self.all_rows([column]):
            yield row[column]

    def column_types(self) -> dict[str, str]:
        """The types of the further columns, from the table's schema."""
        return self.types

    def read_records(self, task: Any) -> Iterator[bytes]:  # noqa: ANN401 - what ElasticDL gives
        """The pictures of a span of rows."""
        name, picture = task.shard.name, self.chosen.picture
        for number, row in enumerate(self.rows(name, task.shard.start, task.shard.end, [picture]), task.shard.start):
            cell = row[picture]
            if cell is None:
                raise ValueError(f"row {number}{of(name)} has no value in the column {picture!r}")
            content = cell.encode() if isinstance(cell, str) else cell
            yield base64.b64decode(content, validate=True) if self.is_base64 else content

    def partitions(self) -> list[str]:
        """The partitions that are read. A table without partitions counts as one partition with an empty name."""
        if not self.levels:
            if self.partition:
                raise ValueError(f"partition={self.partition!r}, and the table has no partitions")
            return [""]
        spec = self.partition or None
        if spec is not None and len(spec.split(",")) == len(self.levels):
            return [spec]
        found = self.table.iterate_partitions(spec)
        return sorted(str(partition.partition_spec).replace("'", "") for partition in found)

    def session(self, name: str) -> Any:  # noqa: ANN401 - pyodps's
        """The session that downloads from a partition. It must have the rows that an earlier one had."""
        session = self.sessions.get(name)
        if session is None:
            session = self.tunnel.create_download_session(self.table, partition_spec=name or None)
            count = self.counts.setdefault(name, session.count)
            if session.count != count:
                raise WrongTableError(f"the table has changed: {session.count} rows{of(name)}, and {count} before")
            self.sessions[name] = session
        return session

    def all_rows(self, columns: list[str | None]) -> Iterator[tuple[str, int, Row]]:
        """All rows, each with its partition and its number."""
        for name in self.partitions():
            for number, row in enumerate(self.rows(name, 0, self.session(name).count, columns)):
                yield name, number, row

    def rows(self, name: str, start: int, end: int, columns: list[str | None]) -> Iterator[Row]:
        """Rows of a partition. An interrupted download continues after the last row, in a new session.

        Raises:
            ShortDownloadError: All attempts gave too few rows.
            WrongTableError: The table has other rows than before.
        """
        done, failed = start, 0
        while done < end:
            before, session = done, None
            try:
                session = self.session(name)
                with session.open_record_reader(done, end - done, columns=columns) as reader:
                    for row in reader:
                        if done == end:
                            raise WrongTableError(f"the server sent more than {end - start} rows{of(name)}")
                        done += 1
                        yield row
                if done < end:
                    raise ShortDownloadError(
                        f"a download ended behind row {done - 1}{of(name)}, and {end - 1} is the last"
                    )
            except WrongTableError:
                raise
            except Exception as error:
                failed = 1 if done > before else failed + 1
                # The session may have expired. Opening the next one shows whether the table still exists.
                if failed == ATTEMPTS or (session is None and is_final(error)):
                    error.is_outage = session is None or is_of_service(error)
                    raise
                self.sessions.pop(name, None)
                words = f"{type(error).__name__}: {error}"
                print(f"row {done}{of(name)}: the download broke and continues: {words}")
                time.sleep(FIRST_WAIT * 2 ** (failed - 1) * random.uniform(0.5, 1.0))

    def label_of(self, label: Any, name: str, number: int) -> int | str:  # noqa: ANN401 - a cell
        """A cell as a label. The cell must have a value."""
        if label is None:
            raise ValueError(f"row {number}{of(name)} has no value in the column {self.chosen.label!r}")
        return label.decode() if isinstance(label, bytes) else label


def is_of_service(error: Exception) -> bool:
    """Whether the service or the way to it is to blame, and no row. The daemon then waits and asks again."""
    return isinstance(error, (OSError, HTTPError, HTTPException, ODPSError, ShortDownloadError))


def is_final(error: Exception) -> bool:
    """Whether a retry would give the same error."""
    return bool(FINAL & {kind.__name__ for kind in type(error).__mro__})


def of(name: str) -> str:
    """A partition in a message."""
    return f" of {name}" if name else ""
