"""The library for C as it is installed: programs in C and C++ are compiled with it, and run beside a real daemon.

The fixtures are those of the Python package's tests. `FOREBAY_C_PREFIX` is where the library is installed.
"""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import forebay
import numpy as np
import pytest
import trials

ROOT = Path(__file__).resolve().parents[3]
TESTS = ROOT / "clients" / "c" / "tests"
PREFIX = Path(os.environ.get("FOREBAY_C_PREFIX", "/nowhere"))
STRICT = ["-O1", "-g", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
# By the number of a `forebay_type`.
DTYPES = [None, "u1", "f2", "f4", "u2", "?", "i1", "i2", "i4", "i8", "u2", "u4", "u8", "f8"]


def tool(name):
    """A program of the build; without it the test is skipped."""
    return shutil.which(name) or pytest.skip(f"{name} is not installed")


def flags(*asked):
    """What pkg-config says of the installed library."""
    environment = {**os.environ, "PKG_CONFIG_PATH": str(PREFIX / "lib" / "pkgconfig")}
    said = subprocess.run(
        [tool("pkg-config"), *asked, "forebay"], env=environment, check=True, capture_output=True, text=True
    )
    return said.stdout.split()


@pytest.fixture
def compiled(tmp_path):
    """Compiles a file in C or C++ as strictly as compilers can, and gives the program."""

    def compile_with(source, *further, libraries=None):
        is_cpp = source.suffix == ".cpp"
        compiler = [tool("c++"), "-std=c++17"] if is_cpp else [tool("cc"), "-std=c99"]
        libraries = flags("--libs") if libraries is None else libraries
        program = tmp_path / source.stem
        command = [
            *compiler,
            *STRICT,
            *further,
            *flags("--cflags"),
            "-o",
            program,
            source,
            *libraries,
            "-lpthread",
            "-lm",
        ]
        subprocess.run(list(map(str, command)), check=True)
        return program

    return compile_with


def run(program, *words, **environment):
    """What a program prints. It must end well."""
    done = subprocess.run(
        [str(word) for word in (program, *words)],
        env={**os.environ, "LD_LIBRARY_PATH": str(PREFIX / "lib"), **environment},
        timeout=120,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{program.name} ended with {done.returncode}: {done.stderr}"
    return done.stdout


def test_the_example_in_c_trains(compiled, pictures, service):
    daemon = service(pictures(24, classes=3), batch_size=8, size=8, shuffle=True, epochs=4)
    said = run(compiled(ROOT / "examples" / "train.c"), "train", 4, daemon.socket)
    losses = [float(loss) for loss in re.findall(r"loss (\S+) over 24 records in 3 batches", said)]
    assert len(losses) == 4, said
    assert losses[-1] < losses[0], said


def test_the_example_in_cpp_trains(compiled, pictures, service):
    daemon = service(pictures(24, classes=3), batch_size=8, size=8, shuffle=True, epochs=3)
    said = run(compiled(ROOT / "examples" / "train.cpp"), "train", 3, daemon.socket)
    right = [int(count) for count in re.findall(r"epoch \d: (\d+) right of 24 records", said)]
    assert len(right) == 3, said
    assert right[-1] > 12, said


def test_the_example_with_libtorch_trains_where_torch_has_it(compiled, service, tmp_path):
    torch = Path(pytest.importorskip("torch", reason="PyTorch, which has libtorch, is not installed").__file__).parent
    if not (torch / "lib" / "libtorch.so").is_file():
        pytest.skip(f"{torch} has no libtorch.so")
    headers = [word for folder in ("", "torch/csrc/api/include") for word in ("-isystem", torch / "include" / folder)]
    libraries = [f"-L{torch / 'lib'}", "-ltorch", "-ltorch_cpu", "-lc10"]
    program = compiled(
        ROOT / "examples" / "train_torch.cpp",
        "-std=c++20",
        "-O0",
        "-g0",
        *headers,
        libraries=[*flags("--libs"), "-Wl,--no-as-needed", *libraries],
    )
    daemon = service(trials.folders(tmp_path) / "train", batch_size=6, size=16, shuffle=True, epochs=4)
    there = {"LD_LIBRARY_PATH": f"{PREFIX / 'lib'}:{torch / 'lib'}"}
    said = run(program, "train", 4, daemon.socket, **there)
    losses = [float(loss) for loss in re.findall(r"loss (\S+) over 60 records", said)]
    assert len(losses) == 4, said
    assert losses[-1] < 0.8 * losses[0], said


def test_the_static_library_has_everything(compiled, pictures, service):
    daemon = service(pictures(24, classes=3), batch_size=8, size=8)
    # All but the shared library, which the linker would prefer.
    libraries = [word.replace("-lforebay", "-l:libforebay.a") for word in flags("--static", "--libs")]
    program = compiled(ROOT / "examples" / "train.c", libraries=libraries)
    assert "24 records" in run(program, "train", 1, daemon.socket, LD_LIBRARY_PATH="")


def test_misuse_is_an_error_with_a_text(compiled, pictures, service):
    daemon = service(pictures(64, classes=2), batch_size=4, size=8)
    run(compiled(TESTS / "misuse.c"), daemon.socket)


def sanitizers(**environment):
    """Arguments for sanitizers of the compiler, if programs with them run here."""
    arguments = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    with tempfile.NamedTemporaryFile(delete=False) as program:
        command = [tool("cc"), *arguments, "-x", "c", "-", "-o", program.name]
    built = subprocess.run(command, input=b"int main(void) { return 0; }")
    runs = built.returncode == 0 and subprocess.run([program.name], env={**os.environ, **environment}).returncode == 0
    os.unlink(program.name)
    return arguments if runs else pytest.skip("this compiler has no sanitizers that run here")


def test_misuse_reads_no_memory_of_others(compiled, pictures, service):
    # A child ends with what its parent has allocated, which is no leak.
    environment = {"ASAN_OPTIONS": "detect_leaks=0"}
    program = compiled(TESTS / "misuse.c", *sanitizers(**environment))
    daemon = service(pictures(64, classes=2), batch_size=4, size=8)
    run(program, daemon.socket, **environment)


def test_a_trainer_leaves_no_memory_behind(compiled, pictures, service):
    environment = {"ASAN_OPTIONS": "detect_leaks=1"}
    program = compiled(ROOT / "examples" / "train.c", *sanitizers(**environment))
    daemon = service(pictures(24, classes=3), batch_size=8, size=8)
    run(program, "train", 2, daemon.socket, **environment)


def test_one_thread_uses_a_session_and_another_may_close_it(compiled, pictures, service):
    daemon = service(pictures(4), batch_size=4, size=8)
    run(compiled(TESTS / "threads.c"), daemon.socket)


def arrays(said):
    """What `dump` has printed, as arrays by batch, column and part."""
    found = {}
    for line in said.splitlines():
        head, _, values = line.partition(" =")
        batch, column, part, number, shape = head.split(" ")
        values = np.frombuffer(bytes.fromhex(values), DTYPES[int(number)])
        found[int(batch), column, part] = values.reshape([int(side) for side in shape.split("x")])
    return found


@pytest.mark.parametrize("mode", ["RGB", "L", "LA", "RGBA"])
def test_every_column_is_what_python_sees(compiled, annotated, service, mode):
    settings = {"batch_size": 2, "size": 8, "shuffle": True, "seed": 3, "epochs": 1, "mode": mode}
    there = arrays(run(compiled(TESTS / "dump.c"), service(annotated, **settings).socket))
    records = []
    with forebay.Loader(annotated, **settings) as loader:
        for number, batch in enumerate(loader):
            assert {column for of, column, _ in there if of == number} == set(batch.columns)
            for column in batch.columns[:4]:
                np.testing.assert_array_equal(there[number, column, "values"], batch[column])
            for column in batch.columns[4:]:
                ragged = batch[column]
                np.testing.assert_array_equal(there[number, column, "values"], ragged.values)
                np.testing.assert_array_equal(there[number, column, "offsets1"], ragged.offsets[0])
                np.testing.assert_array_equal(there[number, column, "validity"], batch.validity(column))
            records.append(there[number, "records", "values"])
    assert sorted(np.concatenate(records)) == list(range(5))
    # Behind the state of the first batch, the same records come again.
    again = [values for (_, _, part), values in there.items() if part == "again"]
    assert sorted(np.concatenate(again)) == sorted(np.concatenate(records[1:]))


@pytest.fixture
def reader(compiled):
    """Starts processes in C that read as trainers of groups. Each has attached then."""
    running, program = [], compiled(TESTS / "groups.c")

    def start(daemon, group="", join="next", waits_after=0):
        process = subprocess.Popen(
            [program, daemon.socket, group, join, str(waits_after)],
            env={**os.environ, "LD_LIBRARY_PATH": str(PREFIX / "lib")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        running.append(process)
        assert process.stdout.readline() == "attached\n"
        return process

    yield start
    for process in running:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


def go_on(process):
    process.stdin.write("\n")
    process.stdin.flush()


def rest(process):
    """What a reader prints from now on, as a list of words for each line. It must end well."""
    lines = [line.split() for line in process.stdout]
    assert process.wait() == 0
    return lines


def records_of(lines, epoch):
    return sorted(int(record) for of, *records in lines if of == str(epoch) for record in records)


def test_rule_42_trainers_in_c_share_the_batches_of_their_group(pictures, reader, service):
    daemon = service(pictures(40), batch_size=4, size=8, shuffle=True, epochs=2, groups="each")
    # The first one holds a batch and has another one on its way, so the second one gets others of this epoch.
    pair = [reader(daemon, group="pair", waits_after=1)]
    read = [[pair[0].stdout.readline().split()]]
    pair.append(reader(daemon, group="pair", waits_after=1))
    read.append([pair[1].stdout.readline().split()])
    assert [lines[0][0] for lines in read] == ["0", "0"]
    # Both come in the middle of the first epoch.
    late = [reader(daemon, group="other", join="epoch"), reader(daemon, join="epoch")]
    for process in pair:
        go_on(process)
    first, second = (before + rest(process) for before, process in zip(read, pair))
    whole = list(range(40))
    assert [records_of(first + second, epoch) for epoch in (0, 1)] == [whole, whole]
    for lines in map(rest, late):
        assert [records_of(lines, epoch) for epoch in (0, 1)] == [[], whole], "join is the next epoch"
    with forebay.Loader("stream:train", socket=daemon.socket) as loader:
        assert all(epoch.adds_up and epoch.complete for epoch in loader.audit())


def test_rule_43_a_group_in_c_begins_with_the_next_batch_if_nothing_else_is_asked(pictures, reader, service):
    daemon = service(pictures(40), batch_size=4, size=8, epochs=1, groups="each")
    early = reader(daemon, group="early", waits_after=1)
    begun = [early.stdout.readline().split()]
    late = reader(daemon, group="late", waits_after=1)
    first = [late.stdout.readline().split()]
    assert first[0][0] == "0"
    for process in (early, late):
        go_on(process)
    assert records_of(begun + rest(early), 0) == list(range(40))
    read = records_of(first + rest(late), 0)
    assert read[0] >= 4
    assert read == list(range(read[0], 40)), "it gets each batch from its first one on"


def test_rule_44_a_trainer_in_c_is_told_once_which_batches_its_group_missed(pictures, reader, service):
    daemon = service(pictures(80), batch_size=4, size=8, epochs=1, groups="each")
    fast = forebay.Loader("stream:train", socket=daemon.socket, group="fast")
    slow = reader(daemon, group="slow", waits_after=1)
    # It may have come after the first batches were offered.
    held = slow.stdout.readline().split()
    first = int(held[1])
    # Each call acknowledges the batch before. The last one is still in hand.
    for _ in range(first // 4 + 3):
        fast.next()
    # The audit has every receipt that was sent.
    fast.audit()
    daemon.kill()
    daemon.start()
    go_on(slow)
    lines = [held]
    # What the fast one consumes before the slow one is told is missed too.
    while lines[-1][0] != "missed":
        lines.append(slow.stdout.readline().split())
    for batch in fast:
        assert batch.valid == 4
    epoch, from_batch, to_batch, records = map(int, lines.pop()[1:])
    assert (epoch, from_batch, records) == (0, to_batch, 4)
    lines += rest(slow)
    fast.close()
    assert all(line[0] == "0" for line in lines), "it is told once"
    # It consumed the batch that it held, missed the one after, and got all others.
    assert records_of(lines, 0) == [*range(first, first + 4), *range(first + 8, 80)]


def test_the_library_has_no_other_names_and_knows_its_own():
    library = PREFIX / "lib" / "libforebay.so"
    listed = subprocess.run([tool("nm"), "-D", "--defined-only", library], check=True, capture_output=True, text=True)
    names = {line.split()[-1] for line in listed.stdout.splitlines()}
    declared = set(re.findall(r"\b(forebay_\w+)\(", (PREFIX / "include" / "forebay.h").read_text()))
    assert names == declared
    assert len(declared) > 15
    dynamic = subprocess.run([tool("readelf"), "-d", library], check=True, capture_output=True, text=True).stdout
    major, minor, _ = re.search(r"^Version: (.+)$", (PREFIX / "lib/pkgconfig/forebay.pc").read_text(), re.MULTILINE)[
        1
    ].split(".", 2)
    # Before 1.0, each minor version is a library of its own.
    assert f"[libforebay.so.{f'0.{minor}' if major == '0' else major}]" in dynamic
