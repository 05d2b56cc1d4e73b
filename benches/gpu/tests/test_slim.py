"""Libraries for GPUs of which the kernels of one generation stay."""

from gpu.slim import BINARY, CONTAINER, FORM, MAGIC, slim

PTX = 1


def form(kind, generation, content):
    return FORM.pack(kind, 0x101, FORM.size, len(content), 0, 0, 0, 0, generation) + content


def container(*forms):
    content = b"".join(forms)
    return CONTAINER.pack(MAGIC, 1, CONTAINER.size, len(content)) + content


def slimmed(tmp_path, content):
    library = tmp_path / "some.so.1"
    library.write_bytes(content)
    slim(tmp_path, 90)
    return library.read_bytes()


def test_of_a_container_one_generation_stays_and_nothing_moves(tmp_path):
    before = b"code" + container(form(BINARY, 80, b"a" * 40), form(BINARY, 90, b"b" * 48), form(PTX, 90, b"c" * 8))
    after = slimmed(tmp_path, before + b"more")
    assert len(after) == len(before) + 4
    assert (after.count(b"a"), after.count(b"b"), after.count(b"c")) == (0, 48, 1), "c is in the word code"


def test_a_container_without_the_generation_and_bytes_that_only_look_like_one_stay(tmp_path):
    older = container(form(BINARY, 80, b"a" * 40), form(PTX, 80, b"p" * 8))
    torn = container(form(BINARY, 80, b"a" * 40))[:-8]
    other = CONTAINER.pack(MAGIC, 7, CONTAINER.size, 0)
    content = older + other + torn
    assert slimmed(tmp_path, content) == content
