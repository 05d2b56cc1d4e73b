"""Keeps what the installed build writes and says, in a folder named for its version: `make compat`."""

from __future__ import annotations

import json
import lzma
import sys
import tempfile
from pathlib import Path
from typing import Any

import forebay
import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[3]
sys.path[:0] = [str(HERE.parent), str(ROOT / "scripts")]

import readme  # noqa: E402 - its folder is in the path since a moment ago
from fake_gpu import FakeGpu  # noqa: E402

from compat import scene, surface  # noqa: E402


def main() -> None:
    """Writes the folder, unless it is there: what a release has written does not change."""
    folder = HERE / forebay.__version__.rpartition(".")[0]
    if folder.exists():
        sys.exit(f"{folder} is there already; if that version is not released yet, remove the folder first")
    with tempfile.TemporaryDirectory() as scratch, pytest.MonkeyPatch.context() as patch:
        kept, names = _run(Path(scratch), patch)
    (folder / "pages").mkdir(parents=True)
    for name, data in kept.items():
        (folder / name).write_bytes(data)
    for page in readme.PAGES:
        if blocks := [block for block in readme.blocks(page) if block.runs]:
            text = "".join(f"\n```{block.language}\n{block.text}```\n" for block in blocks)
            (folder / "pages" / Path(page).name).write_text(f"<!-- Blocks of {page} -->\n{text}")
    (folder / "forebay.toml").write_text(surface.said("config", "--example"))
    names.update(python=surface.python(), commands=surface.commands(), messages=surface.messages(), ring=surface.ring())
    (folder / "names.json").write_text(_json(names) + "\n")
    print(*sorted(path.relative_to(ROOT) for path in folder.rglob("*") if path.is_file()), sep="\n")


def _run(scratch: Path, patch: pytest.MonkeyPatch) -> tuple[dict[str, bytes], dict[str, Any]]:
    """The files of a run that is killed in the middle, and the names that only a running daemon tells."""
    source = scene.dataset(scratch / "pictures", scene.DAMAGED)
    plain = scene.dataset(scratch / "plain")
    gpu = FakeGpu(scratch, patch)
    metrics = scene.lanes(scratch, plain, gpu)
    (scratch / "service").mkdir()
    service = scene.Service(scratch / "service", scene.STREAMS, source)
    try:
        trainers = scene.begin(service)
        metrics.update(service.metrics("forebay_consumers", "forebay_lane_pictures_total", "forebay_cache_records"))
        fields = {**service.fields(), **surface.fields_of_machine(plain)}
    finally:
        service.kill()
    trainers.close()
    shuffled = {"batch_size": 4, "size": 8, "shuffle": True, "seed": 7}
    cases = [shuffled, {**shuffled, "shard_id": 1, "num_shards": 3}]
    states = [{"given": given, **scene.order(plain, given), **scene.state(plain, given)} for given in cases]
    kept = {
        "ledger.redb.xz": lzma.compress(service.ledger.read_bytes(), preset=9),
        "streams.toml": scene.STREAMS.encode(),
        "delivered.json": f"{_json(trainers.delivered)}\n".encode(),
        "states.json": f"{_json(states)}\n".encode(),
    }
    return kept, {"metrics": metrics, "fields": fields}


def _json(value: Any, indent: str = "") -> str:
    """JSON in which each list of plain values is on one line."""
    inner = f"{indent} "
    if isinstance(value, dict):
        rows = [f"{inner}{json.dumps(name)}: {_json(each, inner)}" for name, each in value.items()]
        return "{\n" + ",\n".join(rows) + f"\n{indent}}}"
    if isinstance(value, list) and any(isinstance(each, dict) for each in value):
        return "[\n" + ",\n".join(inner + _json(each, inner) for each in value) + f"\n{indent}]"
    return json.dumps(value)


if __name__ == "__main__":
    main()
