"""Runs a thread of a compiled kernel on the CPU, from its disassembly, and counts the instructions that it issues.

It knows what the compiler makes of whole numbers, single precision and memory, for sm_75 to sm_120. An instruction or a
modifier that it does not know ends it.
"""

from __future__ import annotations

import re
import struct
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

from gpu.sass import arithmetic
from gpu.sass.arithmetic import MASK

LINE = re.compile(r"^\s*/\*([0-9a-f]{4,})\*/\s+(?:@(!?U?P\w)\s+)?([A-Z0-9_.]+)\s*(.*?)\s*;")
LABEL = re.compile(r"^(\.L_x_\d+|\$\S+|forebay\w+):")
PLACE = re.compile(r"^(?:desc\[\w+\])?\[(.*)\]$")
ZERO, UNIFORM = 255, 256  # the registers RZ and UR0
TRUE, UNIFORM_TRUE = 7, 15  # the predicates PT and UPT
WIDTHS = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16}
# What one thread alone need not do.
IDLE = ("BSSY", "BSYNC", "BMOV", "BREAK", "NOP", "WARPSYNC", "YIELD")


class Step(NamedTuple):
    """An instruction: where it is, whether it is carried out, what it does, and what it is called."""

    at: int
    guard: Callable[[], bool] | None
    do: Callable[[], int | None]
    name: str


class Thread:
    """A thread and its memory: `pieces` are bytes by the address of their first, `constants` those of bank 0."""

    def __init__(self, text: str, pieces: dict[int, bytearray], constants: dict[int, int], jumps: bytes) -> None:
        self.text = text
        self.registers = [0] * (UNIFORM + 256)
        self.predicates = [False] * 16
        self.pieces, self.constants, self.jumps = pieces, constants, jumps
        self.special: dict[str, int] = {}
        self.local = bytearray(1 << 12)
        self.issued: Counter[int] = Counter()
        self.visited: list[int] | None = None  # in the order of the run; None: not kept
        lines = text.splitlines()
        self.labels = _labels(lines)
        self.steps: dict[int, Step] = {}
        for line in lines:
            if match := LINE.match(line):
                self._add(int(match[1], 16), match[2], match[3], match[4])
        places = sorted(self.steps)
        self.following = dict(zip(places, places[1:], strict=False))

    def run(self, block: tuple[int, int], thread: int) -> int:
        """Runs one from its beginning to its end, and returns how many instructions it has issued."""
        self.registers[:] = [0] * len(self.registers)
        self.predicates[:] = [False] * 16
        self.predicates[TRUE] = self.predicates[UNIFORM_TRUE] = True
        self.special = {"SR_CTAID.X": block[0], "SR_CTAID.Y": block[1], "SR_TID.X": thread, "SRZ": 0}
        at, count = 0, 0
        while at >= 0:
            step = self.steps[at]
            self.issued[at] += 1
            if self.visited is not None:
                self.visited.append(at)
            count += 1
            to = step.do() if step.guard is None or step.guard() else None
            at = self.following[at] if to is None else to
        return count

    # How instructions are read.

    def _add(self, at: int, guard: str | None, name: str, rest: str) -> None:
        try:
            do = self._made(at, name, _split(re.sub(r"\(\*.*\*\)", "", rest)))
        except (KeyError, ValueError, AttributeError, TypeError, IndexError) as error:
            do = _unknown(f"{at:#x}: {name} {rest} ({error})")
        self.steps[at] = Step(at, self._predicate(guard) if guard else None, do, name)

    def _made(self, at: int, name: str, words: list[str]) -> Callable[[], int | None]:
        kind, *forms = name.split(".")
        if kind in IDLE:
            return lambda: None
        if kind in ("BRA", "EXIT", "CALL", "RET", "BRX"):
            return self._jump(at, kind, words)
        if kind in ("LD", "LDG", "LDL", "ST", "STG", "STL"):
            return self._memory(kind, forms, words)
        if kind in ("LDC", "ULDC", "LDCU"):
            return self._constant(forms, words)
        if kind in ("S2R", "S2UR", "CS2R"):
            return self._special(kind, forms, words)
        if kind in ("P2R", "R2P"):
            return self._packed(kind, words)
        return self._arithmetic(name, words)

    def _packed(self, kind: str, words: list[str]) -> Callable[[], int | None]:
        """Predicates as bits of a register, and back."""
        mask, values = int(words[-1], 16), self.predicates
        if kind == "P2R":
            register, rest = self._register(words[0]), self._value(words[2])

            def pack() -> None:
                bits = sum(values[number] << number for number in range(TRUE))
                self._write(register, bits & mask | rest() & ~mask & MASK, 4)

            return pack
        bits = self._value(words[1])

        def unpack() -> None:
            for number in range(TRUE):
                if mask >> number & 1:
                    values[number] = bool(bits() >> number & 1)

        return unpack

    def _jump(self, at: int, kind: str, words: list[str]) -> Callable[[], int | None]:
        if kind == "EXIT":
            return lambda: -1
        if kind == "RET":
            back = self._value(words[0])
            return lambda: back()
        if kind == "BRX":
            register, base = words[0].split()
            table, rest = self._value(register), at + 16 + int(base, 16)
            return lambda: (table() + rest) & MASK
        target = self.labels[words[-1].strip("`()")]
        # A second predicate may precede the target.
        if len(words) == 2:
            taken = self._predicate(words[0])
            return lambda: target if taken() else None
        return lambda: target

    def _memory(self, kind: str, forms: list[str], words: list[str]) -> Callable[[], int | None]:
        width = next((WIDTHS[form] for form in forms if form in WIDTHS), 4)
        sign, wide = any(form in ("S8", "S16") for form in forms), kind[-1] != "L"
        load = kind.startswith("LD")
        place = self._place(words[1] if load else words[0], wide)
        register = self._register(words[0] if load else words[1])
        if load:

            def read() -> None:
                memory, begin = self._piece(place(), wide)
                value = int.from_bytes(memory[begin : begin + width], "little", signed=sign)
                self._write(register, value, width)

            return read

        def write() -> None:
            memory, begin = self._piece(place(), wide)
            value = self._read(register, width)
            memory[begin : begin + width] = value.to_bytes(width, "little")

        return write

    def _piece(self, place: int, wide: bool) -> tuple[bytearray, int]:
        if not wide:
            return self.local, place
        for begin, piece in self.pieces.items():
            if begin <= place < begin + len(piece):
                return piece, place - begin
        raise ValueError(f"nothing is at {place:#x}")

    def _place(self, word: str, wide: bool) -> Callable[[], int]:
        parts = []
        for part in PLACE.match(word)[1].replace("+-", "+~-").split("+"):  # type: ignore[index]
            part = part.removeprefix("~")
            if re.match(r"U?R", part):
                base = part.split(".")[0]
                double = wide and (".64" in part or not part.endswith((".U32", ".S32")))
                parts.append(self._double(base) if double else self._value(base))
            else:
                number = int(part, 16)
                parts.append(lambda number=number: number)
        mask = (1 << 64) - 1 if wide else MASK
        return lambda: sum(part() for part in parts) & mask

    def _constant(self, forms: list[str], words: list[str]) -> Callable[[], int | None]:
        register, width = self._register(words[0]), 8 if "64" in forms else 4
        bank, place = re.match(r"c\[(\w+)\]\[(.*)\]", words[1]).groups()  # type: ignore[union-attr]
        if bank == "0x0":
            at = int(place, 16)
            return lambda: self._write(register, self._held(at, width), width)
        within = self._place(f"[{place}]", False)
        return lambda: self._write(register, int.from_bytes(self.jumps[within() :][:4], "little"), 4)

    def _held(self, at: int, width: int) -> int:
        low = self.constants.get(at, 0)
        return low if width == 4 else low | self.constants.get(at + 4, 0) << 32

    def _special(self, kind: str, forms: list[str], words: list[str]) -> Callable[[], int | None]:
        register, width = self._register(words[0]), 8 if kind == "CS2R" and "32" not in forms else 4
        return lambda: self._write(register, self.special[words[1]], width)

    def _arithmetic(self, name: str, words: list[str]) -> Callable[[], int | None]:
        found = arithmetic.found(name, words)
        inputs = [self._input(form, word) for form, word in found.inputs]
        outputs = [self._output(form, word) for form, word in found.outputs]
        work = found.work

        def do() -> None:
            results = work(*[read() for read in inputs])
            for write, value in zip(outputs, results, strict=True):
                write(value)

        return do

    # How operands are read and written. A form is p for a predicate, 4 or 8 for bytes, f for single precision.

    def _input(self, form: str, word: str) -> Callable[[], Any]:
        if form == "p":
            return self._predicate(word)
        return {"4": self._value, "8": self._double, "f": self._float}[form](word)

    def _output(self, form: str, word: str) -> Callable[[Any], None]:
        if form == "p":
            number = _predicate_number(word)
            return lambda value: self._set(number, value)
        register = self._register(word)
        if form == "f":
            return lambda value: self._write(register, arithmetic.bits_of(value), 4)
        return lambda value: self._write(register, value, int(form))

    def _set(self, number: int, value: bool) -> None:
        if number not in (TRUE, UNIFORM_TRUE):
            self.predicates[number] = bool(value)

    def _register(self, word: str) -> int:
        match = re.match(r"^(U?)R(Z|\d+)(\.\w+)?$", word)
        if match is None:
            raise ValueError(f"{word} is no register")
        number = 255 if match[2] == "Z" else int(match[2])
        return UNIFORM + number if match[1] else number

    def _write(self, register: int, value: int, width: int) -> None:
        if register % UNIFORM != ZERO:
            for number in range(max(1, width // 4)):
                self.registers[register + number] = value >> (32 * number) & MASK

    def _read(self, register: int, width: int) -> int:
        if register % UNIFORM == ZERO:
            return 0
        value = sum(self.registers[register + number] << (32 * number) for number in range(max(1, width // 4)))
        return value & ((1 << (8 * width)) - 1)

    def _predicate(self, word: str) -> Callable[[], bool]:
        number, values = _predicate_number(word.lstrip("!")), self.predicates
        if word.startswith("!"):
            return lambda: not values[number]
        return lambda: values[number]

    def _value(self, word: str) -> Callable[[], int]:
        word = word.removesuffix(".reuse")
        if word[0] in "-~|" and not word[1].isdigit():
            inner = self._value(word.strip("|") if word[0] == "|" else word[1:])
            change = {"-": lambda value: -value & MASK, "~": lambda value: ~value & MASK, "|": lambda value: value}
            return lambda change=change[word[0]]: change(inner())
        if match := re.match(r"^c\[0x0\]\[(\w+)\]$", word):
            at = int(match[1], 16)
            return lambda: self.constants.get(at, 0)
        if re.match(r"^U?R", word):
            register = self._register(word)
            if word.endswith((".H0_H0", ".H1")) or register % UNIFORM == ZERO:
                return lambda: self._read(register, 4)
            values = self.registers
            return lambda: values[register]
        number = int(word, 16) & MASK if "0x" in word else arithmetic.bits_of(float(word.replace("INF", "inf")))
        return lambda: number

    def _double(self, word: str) -> Callable[[], int]:
        word = word.removesuffix(".reuse")
        if re.match(r"^-?0x", word):
            number = int(word, 16) & ((1 << 64) - 1)
            return lambda: number
        if word.startswith("-"):
            inner = self._double(word[1:])
            return lambda: -inner() & ((1 << 64) - 1)
        if match := re.match(r"^c\[0x0\]\[(\w+)\]$", word):
            at = int(match[1], 16)
            return lambda: self._held(at, 8)
        register = self._register(word)
        return lambda: self._read(register, 8)

    def _float(self, word: str) -> Callable[[], float]:
        word = word.removesuffix(".reuse")
        if word.startswith("-") and "R" in word:
            inner = self._float(word[1:])
            return lambda: -inner()
        if word.startswith("|"):
            inner = self._float(word.strip("|"))
            return lambda: abs(inner())
        bits = self._value(word)
        return lambda: struct.unpack("f", struct.pack("I", bits()))[0]


def _labels(lines: list[str]) -> dict[str, int]:
    labels, open_ones = {}, []
    for line in lines:
        if match := LABEL.match(line):
            open_ones.append(match[1])
        elif match := LINE.match(line):
            labels |= dict.fromkeys(open_ones, int(match[1], 16))
            open_ones = []
    return labels


def _predicate_number(word: str) -> int:
    uniform, number = word.startswith("U"), word[-1]
    return (8 if uniform else 0) + (7 if number == "T" else int(number))


def _split(text: str) -> list[str]:
    return [word.strip() for word in re.split(r",(?![^\[\(]*[\]\)])", text) if word.strip()]


def _unknown(text: str) -> Callable[[], int | None]:
    def refuse() -> None:
        raise NotImplementedError(text)

    return refuse
