"""What instructions on numbers do: their operands, and the results of these."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

MASK = 0xFFFFFFFF
MASKS = {"4": MASK, "8": (1 << 64) - 1}
COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "EQ": lambda a, b: a == b,
    "NE": lambda a, b: a != b,
    "LT": lambda a, b: a < b,
    "LE": lambda a, b: a <= b,
    "GT": lambda a, b: a > b,
    "GE": lambda a, b: a >= b,
    "GEU": lambda a, b: not a < b,
    "GTU": lambda a, b: not a <= b,
    "LTU": lambda a, b: not a >= b,
    "NEU": lambda a, b: a != b,
}
JOINED: dict[str, Callable[[bool, bool], bool]] = {
    "AND": lambda a, b: a and b,
    "OR": lambda a, b: a or b,
    "XOR": lambda a, b: a != b,
}


class Found(NamedTuple):
    """Operands by form and word, and what makes the results of the inputs."""

    inputs: list[tuple[str, str]]
    outputs: list[tuple[str, str]]
    work: Callable[..., tuple[Any, ...]]


def signed(value: int, bits: int = 32) -> int:
    """The whole number that these bits are in two's complement."""
    return value - (1 << bits) if value >> (bits - 1) else value


def bits_of(value: float) -> int:
    """Of the nearest value of single precision."""
    try:
        return int.from_bytes(struct.pack("<f", value), "little")
    except OverflowError:
        return 0x7F800000 if value > 0 else 0xFF800000


def found(name: str, words: list[str]) -> Found:
    """An instruction by its name with all modifiers. `KeyError`: it is not known."""
    kind, *forms = name.split(".")
    if kind not in KINDS and kind.startswith("U"):
        kind = kind[1:]
    return KINDS[kind](forms, words)


def _is_predicate(word: str) -> bool:
    return word.lstrip("!").startswith(("P", "UP"))


def _plain(form: str, count: int, work: Callable[..., Any]) -> Callable[[list[str], list[str]], Found]:
    """A result of so many inputs, all of one form."""

    def make(_: list[str], words: list[str]) -> Found:
        if len(words) != count + 1:
            raise ValueError("other operands")
        return Found([(form, word) for word in words[1:]], [(form, words[0])], lambda *values: (work(*values),))

    return make


def _moved(forms: list[str], words: list[str]) -> Found:
    form = "8" if "64" in forms else "4"
    return Found([(form, words[1])], [(form, words[0])], lambda value: (value,))


def _half_moved(_: list[str], words: list[str]) -> Found:
    """A constant of two halves, as the compiler uses a multiplication for it."""
    if words[1] not in ("-RZ", "RZ") or words[2] != "RZ":
        raise ValueError("a product of halves")
    high, low = (int.from_bytes(struct.pack("<e", float(word)), "little") for word in words[3:5])
    return Found([], [("4", words[0])], lambda: (high << 16 | low,))


def _sum(form: str) -> Callable[[list[str], list[str]], Found]:
    def make(forms: list[str], words: list[str]) -> Found:
        wide = "8" if "64" in forms else form
        carries = [word for word in words[1:] if _is_predicate(word)]
        numbers = [word for word in words[1:] if not _is_predicate(word)]
        first = 1 + next(number for number, word in enumerate(words[1:]) if not _is_predicate(word))
        out, into = words[1:first], [word for word in words[first:] if _is_predicate(word)]
        assert len(out) + len(into) == len(carries)
        # What is subtracted is added as its complement, with one more carry.
        bits, count = 64 if wide == "8" else 32, len(numbers)

        def work(*values: int) -> tuple[Any, ...]:
            total = sum(values[:count]) + sum(bool(carry) for carry in values[count:])
            return (total & MASKS[wide], *(total >> bits != 0 for _ in out))

        inputs = [(wide, word) for word in numbers] + [("p", word) for word in into]
        if out:
            inputs, work = _with_complements(wide, numbers, into, len(out))
        return Found(inputs, [(wide, words[0]), *(("p", word) for word in out)], work)

    return make


def _with_complements(
    form: str, numbers: list[str], into: list[str], out: int
) -> tuple[list[tuple[str, str]], Callable[..., tuple[Any, ...]]]:
    """A sum whose carry counts: -x is ~x and 1, whose carry is that of the subtraction."""
    turned = [word.startswith("-") and "R" in word for word in numbers]
    inputs = [(form, word[1:] if minus else word) for word, minus in zip(numbers, turned, strict=True)]
    bits, mask = (64, MASKS["8"]) if form == "8" else (32, MASK)

    def work(*values: int) -> tuple[Any, ...]:
        total = sum(bool(carry) for carry in values[len(numbers) :])
        for value, minus in zip(values, turned, strict=False):
            total += (value ^ mask) + 1 if minus else value
        # Two carries of three numbers are as many predicates.
        return (total & mask, *(total >> bits > number for number in range(out)))

    return inputs + [("p", word) for word in into], work


def _product(forms: list[str], words: list[str]) -> Found:
    """IMAD in all of its forms."""
    sign = "U32" not in forms
    if "WIDE" in forms or "HI" in forms:
        numbers = [word for word in words[1:] if not _is_predicate(word)]
        if len(numbers) != len(words) - 1:
            raise ValueError("a carry")
        high = "HI" in forms

        def wide(a: int, b: int, c: int) -> tuple[int]:
            value = (signed(a) * signed(b) if sign else a * b) + c
            return ((value >> 32) & MASK,) if high else (value & MASKS["8"],)

        inputs = list(zip("448", numbers, strict=True))
        return Found(inputs, [("4" if high else "8", words[0])], wide)
    if any(_is_predicate(word) for word in words[1:4]):
        raise ValueError("a carry out of a product")
    inputs = [*zip("444", words[1:4], strict=True), *(("p", word) for word in words[4:])]
    return Found(inputs, [("4", words[0])], lambda a, b, c, *carry: ((a * b + c + sum(map(bool, carry))) & MASK,))


def _least(forms: list[str], words: list[str]) -> Found:
    """The smaller of all but the last, which is a predicate, or the larger where that is false."""
    numbers = [word for word in words[1:] if not _is_predicate(word)]
    picks = [word for word in words[1:] if _is_predicate(word)]
    sign, relu = "U32" not in forms, "RELU" in forms

    def work(*values: int) -> tuple[int]:
        count = len(numbers)
        among = [signed(value) if sign else value for value in values[:count]]
        best = among[0]
        for value, least in zip(among[1:], list(values[count:])[-len(among) + 1 :], strict=True):
            best = min(best, value) if least else max(best, value)
        return (max(best, 0) & MASK if relu else best & MASK,)

    return Found([("4", word) for word in numbers] + [("p", word) for word in picks], [("4", words[0])], work)


def _sum_and_least(forms: list[str], words: list[str]) -> Found:
    sign, relu = "U32" not in forms, "RELU" in forms

    def work(a: int, b: int, c: int, least: bool) -> tuple[int]:
        total, other = (a + b) & MASK, c
        if sign:
            total, other = signed(total), signed(other)
        best = min(total, other) if least else max(total, other)
        return (max(best, 0) & MASK if relu else best & MASK,)

    return Found(list(zip("444p", words[1:5], strict=True)), [("4", words[0])], work)


def _logic(_: list[str], words: list[str]) -> Found:
    outputs = [("4", word) if not _is_predicate(word) else ("p", word) for word in words[: 1 + _is_predicate(words[0])]]
    rest = words[len(outputs) :]
    table = int(rest[3], 16)

    def work(a: int, b: int, c: int) -> tuple[Any, ...]:
        value = 0
        for case in range(8):
            if table >> case & 1:
                value |= (a if case & 4 else ~a) & (b if case & 2 else ~b) & (c if case & 1 else ~c)
        value &= MASK
        return (value,) if len(outputs) == 1 else (value != 0, value)

    return Found([("4", word) for word in rest[:3]], outputs, work)


def _logic_of_predicates(_: list[str], words: list[str]) -> Found:
    tables = [int(word, 16) for word in words[5:7]]

    def work(a: bool, b: bool, c: bool) -> tuple[Any, ...]:
        case = a * 4 + b * 2 + c
        return tuple(bool(table >> case & 1) for table in tables)

    return Found([("p", word) for word in words[2:5]], [("p", word) for word in words[:2]], work)


def _shifted(forms: list[str], words: list[str]) -> Found:
    """A funnel: of two words, or of one."""
    left, high = forms[0] == "L", "HI" in forms
    sign, long = any(form in ("S32", "S64") for form in forms), any(form in ("U64", "S64") for form in forms)

    def work(low: int, by: int, upper: int) -> tuple[int]:
        by = min(by & MASK, 64 if long else 32)
        both = upper << 32 | low
        if left:
            return ((both << by) >> 32 & MASK if high else (both << by) & MASK,)
        return ((signed(both, 64) if sign else both) >> by + (32 if high else 0) & MASK,)

    return Found(list(zip("444", words[1:4], strict=True)), [("4", words[0])], work)


def _address(forms: list[str], words: list[str]) -> Found:
    """LEA: a number times a power of two, and another."""
    out = [word for word in words[1:2] if _is_predicate(word)]
    rest = words[1 + len(out) :]
    into = [word for word in rest if _is_predicate(word)]
    numbers = [word for word in rest if not _is_predicate(word)]
    high, sign = "HI" in forms, "SX32" in forms
    by, bits = int(numbers[-1], 16), 64 if "64" in forms else 32

    def work(*values: int) -> tuple[Any, ...]:
        low, other, *more = values
        if high and sign:
            total = (signed(low) >> 32 - by & MASK) + other + sum(map(bool, more))
        elif high:
            total = ((more[0] << 32 | low) << by >> 32 & MASK) + other + sum(map(bool, more[1:]))
        else:
            total = (low << by & MASK) + other
        return (total & MASK, *(total >> bits != 0 for _ in out))

    inputs = [("4", word) for word in numbers[:-1]] + [("p", word) for word in into]
    return Found(inputs, [("4", words[0]), *(("p", word) for word in out)], work)


def _compared(whole: bool) -> Callable[[list[str], list[str]], Found]:
    def make(forms: list[str], words: list[str]) -> Found:
        compare, join = COMPARED[forms[0]], JOINED[next(form for form in forms[1:] if form in JOINED)]
        long, sign = any(form in ("S64", "U64") for form in forms), not any(form in ("U32", "U64") for form in forms)
        form = ("8" if long else "4") if whole else "f"
        # The upper half of a comparison of two words has the lower one's result at its end.
        extended = "EX" in forms

        def work(a: float, b: float, other: bool, *lower: bool) -> tuple[Any, ...]:
            if whole and sign:
                a, b = (signed(int(value), 64 if long else 32) for value in (a, b))
            result = lower[0] if extended and a == b else compare(a, b)
            return (join(result, other), join(not result, other))

        inputs = [(form, words[2]), (form, words[3]), *(("p", word) for word in words[4:])]
        return Found(inputs, [("p", words[0]), ("p", words[1])], work)

    return make


def _chosen(form: str) -> Callable[[list[str], list[str]], Found]:
    def make(forms: list[str], words: list[str]) -> Found:
        kind = "8" if "64" in forms else form
        inputs = [(kind, words[1]), (kind, words[2]), ("p", words[3])]
        return Found(inputs, [(kind, words[0])], lambda a, b, first: (a if first else b,))

    return make


def _float_of_whole(forms: list[str], words: list[str]) -> Found:
    unsigned, up = any(form in ("U32", "U16", "U8") for form in forms), "RP" in forms
    if any(form.startswith("F64") for form in forms):
        raise ValueError("double precision")

    def work(value: int) -> tuple[float]:
        number = value if unsigned else signed(value)
        nearest = struct.unpack("f", struct.pack("f", number))[0]
        if up and nearest < number:
            nearest = struct.unpack("f", struct.pack("I", bits_of(nearest) + 1))[0]
        return (nearest,)

    return Found([("4", words[1])], [("f", words[0])], work)


def _whole_of_float(forms: list[str], words: list[str]) -> Found:
    lowest, highest = (0, MASK) if "U32" in forms else (-(1 << 31), (1 << 31) - 1)
    rounding = math.trunc if "TRUNC" in forms else math.floor if "FLOOR" in forms else round
    if any(form.endswith("64") for form in forms):
        raise ValueError("double precision")

    def work(value: float) -> tuple[int]:
        if math.isnan(value):
            return (0,)
        return (min(max(rounding(min(max(value, -1e12), 1e12)), lowest), highest) & MASK,)

    return Found([("f", words[1])], [("4", words[0])], work)


def _rounded(forms: list[str], words: list[str]) -> Found:
    rounding = math.floor if "FLOOR" in forms else round
    return Found([("f", words[1])], [("f", words[0])], lambda value: (float(rounding(value)),))


def _unary(forms: list[str], words: list[str]) -> Found:
    if forms[0] != "RCP":
        raise ValueError("not a reciprocal")
    return Found([("f", words[1])], [("f", words[0])], lambda value: (1.0 / value if value else math.inf,))


def _fused(forms: list[str], words: list[str]) -> Found:
    if any(form in ("RM", "RP", "RZ") for form in forms):
        raise ValueError("another rounding")

    def work(a: float, b: float, c: float) -> tuple[float]:
        if not all(map(math.isfinite, (a, b, c))):
            return (a * b + c,)
        return (float(Fraction(a) * Fraction(b) + Fraction(c)),)

    return Found(list(zip("fff", words[1:4], strict=True)), [("f", words[0])], work)


def _is_division_hard(_: list[str], words: list[str]) -> Found:
    """Exponents of a division that the short way does not take."""

    def work(a: float, b: float) -> tuple[bool]:
        exponents = [(bits_of(value) >> 23) & 255 for value in (a, b)]
        usual = 1 < exponents[1] < 253 and (a == 0 or 24 < exponents[0] < 255)
        return (not (usual and abs(exponents[0] - exponents[1]) < 120) and a != 0,)

    return Found([("f", words[1]), ("f", words[2])], [("p", words[0])], work)


def _bytes_picked(_: list[str], words: list[str]) -> Found:
    def work(a: int, pick: int, b: int) -> tuple[int]:
        both, value = b << 32 | a, 0
        for number in range(4):
            which = pick >> (4 * number) & 15
            one = both >> (8 * (which & 7)) & 255
            value |= (255 * (one >> 7) if which & 8 else one) << (8 * number)
        return (value,)

    return Found(list(zip("444", words[1:4], strict=True)), [("4", words[0])], work)


def _vote(_: list[str], words: list[str]) -> Found:
    """Of one thread alone, which is the first of its warp."""
    return Found([("p", words[2])], [("4", words[0]), ("p", words[1])], lambda own: (int(own), own))


KINDS: dict[str, Callable[[list[str], list[str]], Found]] = {
    "MOV": _moved,
    "R2UR": _moved,
    "HFMA2": _half_moved,
    "IADD": _sum("4"),
    "IADD3": _sum("4"),
    "VIADD": _sum("4"),
    "IMAD": _product,
    "IMNMX": _least,
    "VIMNMX": _least,
    "VIMNMX3": _least,
    "VIADDMNMX": _sum_and_least,
    "LOP3": _logic,
    "PLOP3": _logic_of_predicates,
    "SHF": _shifted,
    "LEA": _address,
    "ISETP": _compared(True),
    "FSETP": _compared(False),
    "SEL": _chosen("4"),
    "FSEL": _chosen("f"),
    "IABS": _plain("4", 1, lambda value: abs(signed(value)) & MASK),
    "I2F": _float_of_whole,
    "I2FP": _float_of_whole,
    "F2I": _whole_of_float,
    "FRND": _rounded,
    "MUFU": _unary,
    "FADD": _plain("f", 2, lambda a, b: a + b),
    "FMUL": _plain("f", 2, lambda a, b: a * b),
    "FFMA": _fused,
    "FCHK": _is_division_hard,
    "PRMT": _bytes_picked,
    "VOTE": _vote,
    "VOTEU": _vote,
}
