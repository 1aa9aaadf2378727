"""Inputs for the fuzzer: valid judgments and runs, and what becomes of them after a few mutations.

Everything is made from a `random.Random`, so an input is known by the seed and its number alone.
"""

from __future__ import annotations

import sys
from collections import OrderedDict
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np

BOM = b"\xef\xbb\xbf"
TOPICS = [b"401", b"402", b"40", b"007", b"NA", b"4010", b"t" * 20, b"\xff\xfe", "für".encode(), b"q" * 70]
DOCS = [
    *(b"d%d" % i for i in range(40)),
    *(b"FT934-%d" % i for i in range(5300, 5312)),
    *(b"clueweb09-en%04d-57-%05d" % (i, i * 37) for i in range(8)),
    b"x" * 15,
    b"x" * 16,
    b"x" * 17,
    b"y" * 8,
    b"LA122690-0033" + b"z" * 60,
    b"LA122690-0033" + b"z" * 61,
    b"L" * 59 + "ü".encode(),
    b"\xe2\x82",
    b"caf\xe9",
    "café".encode(),
    b"#7",
    b"-1",
    b"1.5",
    b"\x7f",
    b"\xef\xbb\xbfd1",
]
NEAR_MISSES = [
    *b". + - e5 .e5 1e 1e+ 1e- 1e5. 1.2.3 --1 +-1 1- 0x1p3 0x10 1_000 inf -inf Infinity nan NaN nan(3) 1,5".split(),
    *b"1d5 1f 1L 1e5e5 \xd9\xa1 1\xc2\xa0 1e400 -1e309 True None 1#".split(),
    b"9" * 310,
    b"1" + b"0" * 400 + b"e-50",
]
BLANKS = [b" ", b"\t", b"\r", b"\x0b", b"\x0c"]
MAX_DOUBLE = 1.7976931348623157e308


# ---- numbers ----


def digits(rng: Random, n: int) -> str:
    """Return n decimal digits."""
    return str(rng.randrange(10 ** (n - 1), 10**n)) if n else ""


def exact(x: Fraction) -> str:
    """Write a fraction whose denominator is a power of two in decimal, all of it."""
    sign, x = ("-", -x) if x < 0 else ("", x)
    whole, rest = divmod(x.numerator, x.denominator)
    places = x.denominator.bit_length() - 1
    return f"{sign}{whole}.{rest * 5**places:0{places}d}" if places else f"{sign}{whole}"


def hard_number(rng: Random) -> bytes:
    """Return a decimal number that is hard to round: halfway between doubles or next to it, long, huge, subnormal."""
    kind = rng.randrange(10)
    if kind == 9:  # as near to halfway as 19 digits get
        half = Fraction(2 * rng.randrange(2**52, 2**53) + 1, 2 ** rng.randrange(1, 120))
        k = 19 - len(str(int(half))) if half >= 1 else 19 + len(str(int(1 / half)))
        text = f"{int(half * Fraction(10) ** k) + rng.randrange(2)}e{-k}"
    elif kind == 0:  # halfway between two doubles of 53 bits, with few decimals
        x = Fraction(2 * rng.randrange(2**52, 2**53) + 1, 2 ** rng.randrange(1, 12))
        text = exact(x)
    elif kind == 1:  # the same at any size, cut or nudged
        low = abs(random_double(rng))
        high = float(np.nextafter(low, np.inf))
        if high > MAX_DOUBLE:
            return b"1.7976931348623158e308"
        text = exact((Fraction(low) + Fraction(high)) / 2)
        if len(text) > 25 and rng.random() < 0.5:
            significant = Decimal(text[: rng.randrange(18, len(text))])
            text = format(significant, "f")
        if rng.random() < 0.5:
            text = text[:-1] + str(rng.randrange(10))
    elif kind == 2:  # 15 to 25 digits, the point anywhere
        text = digits(rng, rng.randrange(15, 26))
        at = rng.randrange(len(text) + 1)
        text = text[:at] + "." + text[at:]
    elif kind == 3:  # m * 10^e around the edges of the fast ways
        text = f"{rng.choice([2**53 - 1, 2**53, 2**53 + 1, 10**19 - 1, 2**63, 1, rng.randrange(2**64)])}"
        text += f"e{rng.choice([-30, -28, -27, -26, -23, -22, -1, 1, 21, 22, 23, 24, 288, 289])}"
    elif kind == 4:  # zeros around little
        text = "0" * rng.randrange(30) + "." + "0" * rng.randrange(30) + digits(rng, rng.randrange(1, 20))
    elif kind == 5:  # around the ends of the range
        text = digits(rng, rng.randrange(1, 20)) + f"e{rng.choice([-345, -343, -330, -325, -324, -310, 289, 300, 307])}"
    elif kind == 6:
        text = rng.choice(["4.9e-324", "2.4703282292062327e-324", "2.4703282292062328e-324", "2.2250738585072011e-308"])
        text = rng.choice(
            [text, "1.7976931348623157e308", "1.79769313486231580e308", "0e99999999999", "0e-9", "1e-9999"]
        )
    elif kind == 7:
        text = repr(random_double(rng)).lstrip("-")
    else:
        text = (
            "0" * rng.randrange(3) + digits(rng, rng.randrange(1, 18)) + rng.choice(["", ".", ".0", "E0", "e+00", ".5"])
        )
    return (rng.choice(["", "", "-", "+"]) + text).encode()


def random_double(rng: Random) -> float:
    """Return any finite double, or one of a common size."""
    if rng.random() < 0.5:
        return rng.uniform(-100, 100)
    while True:
        x = float(np.array(rng.getrandbits(64), np.uint64).view(np.float64))
        if abs(x) <= MAX_DOUBLE:
            return x


def number(rng: Random) -> bytes:
    """Return a number, mostly a plain one."""
    x = rng.random()
    if x < 0.3:
        return b"%d" % rng.randrange(-3, 4)
    if x < 0.85:
        return f"{rng.uniform(-9, 30):.{rng.randrange(1, 8)}f}".encode()
    return hard_number(rng)


# ---- files ----


def qrels_file(rng: Random, subtopics: bool = False) -> list[bytes]:
    """Return the lines of valid judgments; of subtopics, some documents for several."""
    if rng.random() < 0.02:  # many topics
        return [b"%d 0 d%d 1" % (t, d) for t in range(rng.randrange(15, 90)) for d in range(rng.randrange(1, 3))]
    lines = []
    for topic in rng.sample(TOPICS, rng.choice((1, 1, 2, 3, 5))):
        docs = rng.sample(DOCS, rng.choice((1, 2, 3, 5, 9, 40)))
        for subtopic in rng.sample((b"0", b"1", b"a", b"\xff"), rng.randrange(1, 4)) if subtopics else (b"0",):
            some = docs if rng.random() < 0.3 or not subtopics else docs[: rng.randrange(1, len(docs) + 1)]
            lines += [b"%b %b %b %d" % (topic, subtopic, doc, rng.randrange(-1, 4)) for doc in some]
    return lines


def run_file(rng: Random) -> list[bytes]:
    """Return the lines of a valid run."""
    if rng.random() < 0.02:  # many topics
        return [b"%d Q0 d%d 1 %d" % (t, d, d) for t in range(rng.randrange(15, 90)) for d in range(rng.randrange(1, 3))]
    lines = []
    tied = rng.random() < 0.4
    close = rng.random() < 0.2  # scores that are equal as floats, not as doubles
    tag = rng.choice((b" bm25", b" bm25", b" a\xe9", b"", b" bm25 more 3", b" bm25 \xff #"))
    for topic in rng.sample(TOPICS, rng.choice((1, 2, 2, 3, 4))):
        docs = rng.sample(DOCS, rng.choice((1, 2, 4, 6, 8, 8, 30, 70)))
        for i, doc in enumerate(docs):
            score = (
                b"%d" % rng.randrange(3) if tied else number(rng) if rng.random() < 0.3 else b"%.3f" % (50 - i * 0.7)
            )
            if close:
                score = b"%d.%09d" % (rng.randrange(20, 22), rng.randrange(5))
            lines.append(b"%b Q0 %b %d %b%b" % (topic, doc, rng.randrange(1, 5) if tied else i + 1, score, tag))
    return lines


def numbers_file(rng: Random) -> list[bytes]:
    """Return judgments that are about their grades."""
    return [b"t 0 d%d %b" % (i, hard_number(rng)) for i in range(rng.randrange(1, 25))]


def _junk_line(rng: Random) -> bytes:
    kind = rng.randrange(9)
    if kind == 0:
        return rng.choice((b"", b" ", b"\t \r", b"#", b"# comment", b" #x \x00", b"\x0c# 1 2 3"))
    if kind == 1:
        return b"x" * rng.choice((1, 63, 64, 65, 255, 256, 257, 700, 3000))
    if kind == 2:
        return b" ".join(rng.choice(DOCS) for _ in range(rng.randrange(1, 9)))
    if kind == 3:
        return b"#" + b"c" * rng.choice((10, 64, 256, 1500))
    if kind == 4:
        return rng.randbytes(rng.randrange(1, 40))
    if kind == 5:
        return b"401 0 %b 1" % (b"w" * rng.choice((16, 17, 59, 60, 61, 62, 130, 600)))
    if kind == 6:
        return b"401 Q0 %b 1 %b tag" % (b"w" * rng.choice((16, 17, 59, 60, 61, 62, 130, 600)), number(rng))
    if kind == 7:
        return b"%b Q0 d1 %b %b" % (b"T" * rng.choice((1, 60, 61, 300)), number(rng), number(rng))
    return b" " * rng.randrange(1, 300) + b"401 Q0 d1 1 2.5 " + b" " * rng.randrange(300)


def _change_column(rng: Random, line: bytes) -> bytes:
    columns = line.split()
    if not columns:
        return line
    at = rng.randrange(len(columns))
    kind = rng.randrange(8)
    if kind == 0:
        del columns[at]
    elif kind == 1:
        columns.insert(at, rng.choice(DOCS))
    elif kind == 2:
        columns[-1] = rng.choice(NEAR_MISSES)
    elif kind == 3:
        columns[min(len(columns) - 1, rng.choice((3, 4)))] = rng.choice(NEAR_MISSES)
    elif kind == 4:
        columns[min(len(columns) - 1, rng.choice((3, 4)))] = number(rng)
    elif kind == 5:
        columns[0] = rng.choice(TOPICS)
    elif kind == 6:
        columns[min(len(columns) - 1, 2)] = rng.choice(DOCS)
    else:
        columns[at] += rng.choice((b"\x00", b"\x01", b"\x1f", b"\x7f", b"\x80", b"\xff", b"#", b"\xc3"))
    return b" ".join(columns)


def _change_lines(rng: Random, lines: list[bytes]) -> None:
    if not lines:
        lines.append(_junk_line(rng))
        return
    at = rng.randrange(len(lines))
    kind = rng.randrange(14)
    if kind == 0:
        del lines[at]
    elif kind == 1:
        lines.insert(rng.randrange(len(lines) + 1), lines[at])
    elif kind == 2:
        rng.shuffle(lines)
    elif kind == 3:
        other = rng.randrange(len(lines))
        lines[at], lines[other] = lines[other], lines[at]
    elif kind == 4:
        lines[at:at] = run_file(rng)[: rng.randrange(1, 9)]
    elif kind == 5:
        lines[at] += rng.choice((b"", b" ", b"\r")) + lines[rng.randrange(len(lines))]
    elif kind == 6:
        cut = rng.randrange(len(lines[at]) + 1)
        lines[at : at + 1] = [lines[at][:cut], lines[at][cut:]]
    elif kind == 7:
        lines.insert(at, _junk_line(rng))
    elif kind == 8:
        lines[at:at] = [_junk_line(rng)] if rng.random() < 0.7 else [BOM + lines[at]]
    elif kind in (9, 10):  # the same document again, with another rank or score
        columns = lines[at].split(b" ")
        if len(columns) > 4:
            columns[3] = b"%d" % rng.randrange(5)
            columns[4] = rng.choice((columns[4], columns[4], number(rng)))
        for _ in range(rng.choice((1, 1, 3))):
            lines.insert(rng.randrange(len(lines) + 1), b" ".join(columns))
    else:
        lines[at] = _change_column(rng, lines[at])


def _change_bytes(rng: Random, data: bytes) -> bytes:
    if not data:
        return rng.randbytes(rng.randrange(8))
    at = rng.randrange(len(data))
    kind = rng.randrange(9)
    if kind == 0:
        return data[:at] + bytes((data[at] ^ 1 << rng.randrange(8),)) + data[at + 1 :]
    if kind == 1:
        return data[:at] + rng.choice((b"\x00", b"\x01", b"\n", b"\r", b"\x1f", b" ", b"\xff", b"#")) + data[at:]
    if kind == 2:
        return data[:at]
    if kind == 3:
        return data[:at] + data[at + rng.randrange(1, 20) :]
    if kind == 4:
        return data.replace(b"\n", rng.choice((b"\r\n", b"\r", b"\n\n", b" \n", b"\n\r")))
    if kind == 5:
        return BOM + data
    if kind == 6:
        return data[:at] + rng.choice((BOM, BOM + BOM, b"\xef\xbb", b"\xef")) + data[at:]
    if kind == 7:
        return rng.choice((b"\xef\xbb", b"\xef", BOM + b"\n", BOM + BOM, b"\n")) + data
    other = rng.randrange(len(data))
    return data[:at] + data[other:]


def mutated(rng: Random, lines: list[bytes]) -> bytes:
    """Join lines into a file after a few mutations of lines and of bytes."""
    if rng.random() < 0.85:
        for _ in range(rng.choice((0, 1, 1, 2, 3))):
            _change_lines(rng, lines)
    if rng.random() < 0.2:
        lines = [
            rng.choice((b"", b" ")) + rng.choice(BLANKS).join(line.split(b" ")) + rng.choice((b"", *BLANKS))
            for line in lines
        ]
    data = b"\n".join(lines) + (b"\n" if rng.random() < 0.8 else b"")
    if rng.random() < 0.4:
        for _ in range(rng.choice((1, 1, 2))):
            data = _change_bytes(rng, data)
    return b"" if rng.random() < 0.002 else data


# ---- tables ----


class Text(str):
    """A string of another type."""

    __slots__ = ()


class Floats:
    """A value with ``__float__``: a number, another type, or an exception."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def __float__(self) -> float:
        if isinstance(self.answer, Exception):
            raise type(self.answer)(*self.answer.args)
        return self.answer  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"Floats({self.answer!r})"


class Indexes:
    """A value with ``__index__`` only."""

    def __index__(self) -> int:
        return 7


class Unspeakable:
    """A value whose repr fails."""

    def __repr__(self) -> str:
        raise LookupError("no words")


STRANGE_NAMES: list[Any] = [
    *("", "a\0b", "a\0c", " ", "a b", "a\nb", "\x01", "\x7f", "'", '"', "%s%n", "x" * 16, "x" * 17, "\U0001f600"),
    *("\udc80", "\udcc3\udca9", "é", "\ud800", "x\udfff", "\udcff" * 30, "€" * 40),
    *("L" * 59 + "ü", "L" * 60, "L" * 61, "L" * 60 + "\0"),
    *(Text("t"), np.str_("u"), 1, None, b"a", 1.5, ("a",), Unspeakable()),
]
STRANGE_NUMBERS: list[Any] = [
    *(0, -1, 7, 10**18 + 1, 2**63, 10**308, 10**400, True, None, "1.5", b"1.5", bytearray(b"2"), memoryview(b"3.5")),
    *(float("nan"), float("inf"), -float("inf"), -0.0, 5e-324, 1e308, Decimal("0.1"), Decimal("NaN"), Decimal("sNaN")),
    *(Fraction(1, 3), 1j, [], {}, np.float32(0.1), np.float64(0.1), np.int8(-3), np.uint64(2**64 - 1), np.bool_(True)),
    *(np.array(2.5), np.array([1.0, 2.0]), np.str_("1"), np.bytes_(b"2"), np.float64("nan"), np.longdouble(1) / 3),
    *(Floats(2.5), Floats(3), Floats("x"), Floats(ValueError("v")), Floats(ZeroDivisionError("z")), Floats(-1.0)),
    *(Floats(OverflowError("o")), Floats(float("nan")), Indexes(), Unspeakable(), object()),
]


def _name(rng: Random, plain: list[bytes], strange: float) -> Any:
    if rng.random() < strange:
        return rng.choice(STRANGE_NAMES[: -8 if rng.random() < 0.8 else None])
    return rng.choice(plain).decode("utf-8", "surrogateescape")


def _value(rng: Random, strange: float) -> Any:
    if rng.random() < strange:
        return rng.choice(STRANGE_NUMBERS)
    return rng.randrange(4) if rng.random() < 0.5 else rng.uniform(-2, 2)


def table(rng: Random) -> Any:
    """Return a dictionary or three columns, a few of its names and numbers strange."""
    odd_names, odd_numbers = rng.choice((0, 0.05, 0.3)), rng.choice((0, 0, 0.03, 0.2))
    if rng.random() < 0.5:
        out: dict[Any, Any] = {}
        for _ in range(rng.randrange(5)):
            docs: Any = {
                _name(rng, DOCS, odd_names): _value(rng, odd_numbers) for _ in range(rng.choice((0, 1, 3, 8, 50)))
            }
            if rng.random() < 0.01:
                docs = rng.choice([None, [1], "x", Unspeakable()])
            elif docs and rng.random() < 0.05:
                docs = OrderedDict(docs)
                docs.move_to_end(next(iter(docs)))
            out[_name(rng, TOPICS, odd_names)] = docs
        return out
    topics: list[Any] = []
    docs = []
    for _ in range(rng.randrange(5)):
        some = [_name(rng, DOCS, odd_names) for _ in range(rng.choice((1, 3, 8, 50)))]
        docs += some if rng.random() < 0.4 else list({id(d) if d.__hash__ is None else d: d for d in some}.values())
        topics += [_name(rng, TOPICS, odd_names)] * (len(docs) - len(topics))
    values = [_value(rng, odd_numbers) for _ in docs]
    if rng.random() < 0.3:
        both = list(zip(topics, docs, strict=True))
        rng.shuffle(both)
        topics, docs = [t for t, _ in both], [d for _, d in both]
    if rng.random() < 0.05:
        del values[rng.randrange(len(values) + 1) :]
    return topics, docs, values


class Changes:
    """A value whose ``__float__`` changes the table it is in, as nobody should."""

    def __init__(self, table: Any) -> None:
        self.table = table

    def __float__(self) -> float:
        for part in self.table.values() if isinstance(self.table, dict) else self.table:
            if hasattr(part, "clear"):
                part.clear()
        if isinstance(self.table, dict):
            self.table.clear()
        return 1.0


def changing_table(rng: Random) -> Any:
    """Return a table that is emptied while it is read; its names live nowhere else."""
    n, at = rng.randrange(1, 60), rng.randrange(60)
    names = [f"document-{rng.random()}" for _ in range(n)]
    if rng.random() < 0.5:
        out: dict[str, Any] = {f"topic-{rng.random()}": dict.fromkeys(names[k::2], 1.5) for k in range(2)}
        target = next(iter(out.values()))
        target[names[at % n]] = Changes(out)
        return out
    columns: tuple[list[Any], ...] = ([f"topic-{rng.randrange(3)}" for _ in names], names, [2.5] * n)
    columns[2][at % n] = Changes(columns)
    return columns


if __name__ == "__main__":  # python fuzz/inputs.py 7: look at an input
    probability = Random(int(sys.argv[1]))
    sys.stdout.buffer.write(mutated(probability, run_file(probability)))
