"""Tables of MaxCompute: pyodps itself reads from a server here, which breaks downloads in each way."""

import base64
import importlib.util
import sys
from pathlib import Path
from types import SimpleNamespace

import forebay
import pytest
from maxcompute import Tunnel
from processes import private_daemons

READER = Path(__file__).parents[3] / "formats" / "src" / "python" / "maxcompute.py"
COLUMNS = [("id", "bigint"), ("image", "binary"), ("label", "string"), ("score", "double"), ("word", "string")]
SECRET = "a-key-that-nobody-prints"


def picture(number):
    """A picture of 64 x 64 with one colour. So many bytes are not sent at once."""
    return b"P6 64 64 255\n" + bytes([number, 100, 200]) * 64 * 64


def rows(count):
    return [[n, picture(n), "ab"[n % 2], None if n == 4 else n / 2, f"é{n}"] for n in range(count)]


@pytest.fixture
def keys(monkeypatch):
    monkeypatch.setenv("MAXCOMPUTE_AK", "id")
    monkeypatch.setenv("MAXCOMPUTE_SK", SECRET)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return monkeypatch


@pytest.fixture
def tunnel(keys):
    """A table without partitions."""
    server = Tunnel(COLUMNS, {"": rows(20)})
    keys.setenv("MAXCOMPUTE_ENDPOINT", server.endpoint)
    yield server
    server.close()


@pytest.fixture(scope="module")
def code():
    """The reader's code, as a child runs it."""
    spec = importlib.util.spec_from_file_location("forebay_reader", READER)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.FIRST_WAIT = 0
    return module


def read(reader, start, end, name=""):
    shard = SimpleNamespace(name=name, start=start, end=end, indices=[])
    return list(reader.read_records(SimpleNamespace(shard=shard, type=1)))


@pytest.mark.usefixtures("tunnel")
def test_a_table_has_a_shard_with_labels_and_columns_and_its_bytes_stay_bytes(code):
    reader = code.OdpsReader("p/photos", batch_columns='{"weight": "score", "text": "none;WORD"}')
    assert reader.create_shards() == [("", 0, 20)]
    assert reader.labels() == ["a", "b"] * 10
    columns = reader.columns()
    assert list(columns["weight"]) == [None if n == 4 else n / 2 for n in range(20)]
    assert list(columns["text"])[3].decode() == "é3"
    assert reader.column_types() == {"weight": "f64", "text": "u8 [*]"}
    assert read(reader, 3, 6) == [picture(3), picture(4), picture(5)]
    assert "2023-11-14" in reader.version()


@pytest.mark.parametrize(
    "faults",
    [["cut"], ["row"], ["expired"], ["503"], ["cut", "cut", "row", "expired", "cut"], ["expired"] * 5],
    ids="-".join,
)
def test_a_broken_download_continues_behind_its_last_row(code, tunnel, faults):
    reader = code.OdpsReader("p/photos")
    reader.create_shards()
    tunnel.faults = list(faults)
    assert read(reader, 3, 15) == [picture(n) for n in range(3, 15)]
    starts = [start for start, _count, _columns in tunnel.asked]
    assert starts == sorted(starts)
    assert all(start + count == 15 for start, count, _columns in tunnel.asked)
    assert len(starts) == len(faults) + 1
    if "cut" in faults or "row" in faults:
        assert starts[-1] > 3, "a download began anew"


def test_a_download_that_stays_short_is_an_error_and_not_the_end(code, tunnel):
    reader = code.OdpsReader("p/photos")
    tunnel.faults = ["row"] * 20
    with pytest.raises(code.ShortDownloadError, match="ended behind row 13, and 14 is the last") as caught:
        read(reader, 3, 15)
    assert caught.value.is_outage
    assert len(tunnel.faults) >= 20 - code.ATTEMPTS - 1
    tunnel.faults = []
    with pytest.raises(code.ShortDownloadError, match="20 is the last"):
        read(reader, 18, 21)


def test_a_service_that_is_gone_is_an_outage_and_a_changed_table_is_none(code, tunnel):
    reader = code.OdpsReader("p/photos")
    reader.create_shards()
    tunnel.faults = ["expired"] * 100
    with pytest.raises(Exception) as caught:  # noqa: PT011 - any of pyodps's
        read(reader, 3, 15)
    assert caught.value.is_outage
    tunnel.faults, tunnel.partitions[""] = ["expired"], rows(19)
    with pytest.raises(code.WrongTableError, match="has changed") as caught:
        read(reader, 3, 15)
    assert not getattr(caught.value, "is_outage", False)


def test_a_table_that_changes_between_two_sessions_is_an_error(code, tunnel):
    reader = code.OdpsReader("p/photos")
    reader.create_shards()
    tunnel.partitions[""] = rows(19)
    tunnel.faults = ["expired"]
    with pytest.raises(code.WrongTableError, match="has changed: 19 rows, and 20 before"):
        read(reader, 0, 5)


def test_a_page_of_a_gateway_instead_of_a_session_is_an_outage(code, tunnel):
    reader = code.OdpsReader("p/photos")
    reader.create_shards()
    tunnel.faults, tunnel.pages = ["expired"], 3
    assert read(reader, 3, 6) == [picture(3), picture(4), picture(5)]
    tunnel.faults, tunnel.pages = ["expired"], 100
    with pytest.raises(ValueError, match="Expecting value") as caught:
        read(reader, 3, 6)
    assert caught.value.is_outage
    tunnel.pages = 0
    assert read(reader, 3, 4) == [picture(3)]


def test_partitions_are_shards(code, keys):
    names = ["dt=2,part=a", "dt=1,part=b", "dt=1,part=a"]
    server = Tunnel(COLUMNS, {name: rows(4)[place:] for place, name in enumerate(names)})
    keys.setenv("MAXCOMPUTE_ENDPOINT", server.endpoint)
    reader = code.OdpsReader("p/photos")
    assert reader.create_shards() == [("dt=1,part=a", 0, 2), ("dt=1,part=b", 0, 3), ("dt=2,part=a", 0, 4)]
    assert reader.labels() == list("ab" + "bab" + "abab")
    assert read(reader, 1, 3, "dt=1,part=b") == [picture(2), picture(3)]
    below = code.OdpsReader("p/photos", partition="dt=1")
    assert [name for name, _, _ in below.create_shards()] == ["dt=1,part=a", "dt=1,part=b"]
    assert code.OdpsReader("p/photos", partition="dt=2,part=a").create_shards() == [("dt=2,part=a", 0, 4)]
    with pytest.raises(Exception, match=r"NoSuchPartition|Not found"):
        code.OdpsReader("p/photos", partition="dt=9,part=a").create_shards()
    server.close()


def test_pictures_in_text_cells_are_bytes_or_base64_and_a_null_is_named(code, keys):
    table = [[picture(0), 7], [base64.b64encode(picture(1)).decode(), 8], [None, None]]
    server = Tunnel([("photo", "string"), ("number", "bigint")], {"": table})
    keys.setenv("MAXCOMPUTE_ENDPOINT", server.endpoint)
    plain = code.OdpsReader("p/photos", columns="photo,number")
    assert read(plain, 0, 1) == [picture(0)]
    assert read(code.OdpsReader("p/photos", columns="photo", encoding="base64"), 1, 2) == [picture(1)]
    with pytest.raises(ValueError, match="row 2 has no value in the column 'photo'"):
        read(plain, 2, 3)
    with pytest.raises(ValueError, match="row 2 has no value in the column 'number'"):
        plain.labels()
    assert code.OdpsReader("p/photos", columns="photo,number", labels="none").labels is None
    server.close()


def test_what_is_asked_for_must_be_there(code, tunnel, keys):
    def refused(words, table="p/photos", **given):
        with pytest.raises(ValueError, match=words):
            code.OdpsReader(table, **given)

    refused("no column 'picture'; it has id, image, label", columns="picture")
    refused("but not both", columns="image", batch_columns='{"x": "score"}')
    refused("odps://PROJECT/TABLE", table="photos")
    with pytest.raises(ValueError, match="has no partitions"):
        code.OdpsReader("p/photos", partition="dt=1").create_shards()
    with pytest.raises(Exception, match=r"NoSuchTable|Not found"):
        code.OdpsReader("p/other")
    keys.setenv("MAXCOMPUTE_PROJECT", "p")
    assert code.OdpsReader("photos").create_shards() == [("", 0, 20)]
    keys.delenv("MAXCOMPUTE_SK")
    refused("set MAXCOMPUTE_SK in the environment")
    assert tunnel.asked == []


@pytest.mark.daemon
@pytest.mark.usefixtures("binary")
def test_a_loader_trains_on_a_table_whose_downloads_break(tunnel, capfd):
    tunnel.faults = [None, None, "cut", "expired", "row"]
    name = "odps://p/photos?columns=image,label,score&records_per_task=5&workers=2"
    with forebay.Loader(name, batch_size=4, size=8, epochs=1) as loader:
        assert loader.classes == ["a", "b"]
        seen = []
        for batch in loader:
            for image, label, record, score in zip(batch.images, batch.labels, batch.records, batch["score"]):
                assert (image[0, 0].tolist(), label) == ([record, 100, 200], record % 2)
                assert record == 4 or score == record / 2
                seen.append(int(record))
        assert sorted(seen) == list(range(20))
        assert loader.path(7).startswith("odps://p/photos")
        (daemon,) = private_daemons()
        shown = "".join(file.read_text() for file in Path("/proc").glob("[0-9]*/cmdline") if commands_of(file, daemon))
        assert shown
        assert SECRET not in shown
    assert tunnel.faults == []
    assert SECRET not in "".join(capfd.readouterr())


def commands_of(file, daemon):
    """Whether a process is the daemon or one of its children."""
    try:
        stat = (file.parent / "stat").read_text()
    except OSError:
        return False
    return str(daemon) in (file.parent.name, stat.rpartition(")")[2].split()[1])
