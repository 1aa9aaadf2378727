"""Fuzz compressed files: members with their parts known, damaged where it hurts, against the libraries' decompressors.

``python fuzz/fuzz_streams.py --files 100000`` makes files of one to four members (gzip, bzip2, xz, zstd; also empty,
of several blocks, with and without checksums, frames to skip), cuts them at the borders of their parts, flips bits in
headers, blocks, checksums and lengths, drops, repeats, swaps and appends members, pads and litters them. amble reads
each, in pieces of odd sizes and whole: the same bytes as the library gives in strict use (every member to its end,
nothing left over), or an error where the library has one. Never silence.

A file is known by the seed and its number: ``--seed 1 --first 4711 --files 1`` does one again.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import lzma
import os
import struct
import sys
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import zstandard

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from amble.errors import ReadError
from amble.io.files import open_source, read_bytes

ENDING = {"gzip": ".gz", "bzip2": ".bz2", "xz": ".xz", "zstd": ".zst"}
BROKEN = (OSError, EOFError, zlib.error, lzma.LZMAError, zstandard.ZstdError, struct.error)
Part = tuple[str, int, int]  # what it is, where it begins and ends in its member


# ---- members and their parts ----


def _text(rng: Random) -> bytes:
    kind = rng.randrange(6)
    if kind == 0:
        return b""
    if kind == 1:
        return rng.randbytes(rng.choice((1, 30, 3000)))
    if kind == 2:
        return b"x" * rng.choice((7, 5000, 200_000))  # far more than its compressed size
    lines = rng.choice((1, 5, 300, 1500))
    return b"".join(
        b"%d Q0 d%d %d %.3f t\n" % (401 + i // 90, rng.randrange(10**6), i, rng.random()) for i in range(lines)
    )


def _gzip(rng: Random) -> tuple[bytes, list[Part]]:
    data = _text(rng)
    flags, more = 0, b""
    if rng.random() < 0.3:
        flags, more = flags | 4, more + b"\x03\x00abc"
    if rng.random() < 0.3:
        flags, more = flags | 8, more + b"a.run\0"
    if rng.random() < 0.3:
        flags, more = flags | 16, more + b"a comment\0"
    head = (
        struct.pack("<2sBBIBB", b"\x1f\x8b", 8, flags | (2 if (sealed := rng.random() < 0.3) else 0), 0, 0, 255) + more
    )
    if sealed:
        head += struct.pack("<H", zlib.crc32(head) & 0xFFFF)
    packer = zlib.compressobj(rng.choice((0, 1, 6, 9)), zlib.DEFLATED, -15)
    body = packer.compress(data) + packer.flush()
    n, m = len(head), len(head) + len(body)
    out = head + body + struct.pack("<II", zlib.crc32(data), len(data) & 0xFFFFFFFF)
    return out, [
        ("magic", 0, 2),
        ("method", 2, 3),
        ("flags", 3, 4),
        ("header", 4, n),
        ("block", n, m),
        ("crc", m, m + 4),
        ("length", m + 4, m + 8),
    ]


def _bzip2(rng: Random) -> tuple[bytes, list[Part]]:
    out = bz2.compress(_text(rng), rng.choice((1, 1, 9)))
    n = len(out)
    return out, [
        ("magic", 0, 3),
        ("level", 3, 4),
        ("block magic", 4, min(10, n)),
        ("block crc", min(10, n), min(14, n)),
        ("block", min(14, n), max(n - 11, 4)),
        ("footer", max(n - 11, 4), n - 5),
        ("crc", n - 5, n),
    ]


def _xz(rng: Random) -> tuple[bytes, list[Part]]:
    check = rng.choice((lzma.CHECK_NONE, lzma.CHECK_CRC32, lzma.CHECK_CRC64, lzma.CHECK_SHA256))
    out = lzma.compress(_text(rng), lzma.FORMAT_XZ, check, preset=0)
    n = len(out)
    index = n - 12 - (struct.unpack("<I", out[n - 8 : n - 4])[0] + 1) * 4
    return out, [
        ("magic", 0, 6),
        ("flags", 6, 8),
        ("header crc", 8, 12),
        ("block header", 12, min(24, index)),
        ("block", min(24, index), index),
        ("index", index, n - 12),
        ("footer crc", n - 12, n - 8),
        ("backward size", n - 8, n - 4),
        ("footer flags", n - 4, n - 2),
        ("footer magic", n - 2, n),
    ]


def _zstd(rng: Random) -> tuple[bytes, list[Part]]:
    if rng.random() < 0.15:
        rest = rng.randbytes(rng.choice((0, 4, 40)))
        out = struct.pack("<II", 0x184D2A50 + rng.randrange(16), len(rest)) + rest
        return out, [("magic", 0, 4), ("length", 4, 8), ("skipped", 8, len(out))]
    data = _text(rng)
    sealed, sized = rng.random() < 0.6, rng.random() < 0.5
    packer = zstandard.ZstdCompressor(level=rng.choice((1, 3, 9)), write_checksum=sealed, write_content_size=sized)
    if rng.random() < 0.3:  # several blocks
        stream = packer.compressobj()
        half = len(data) // 2
        flushed = stream.compress(data[:half]) + stream.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
        out = flushed + stream.compress(data[half:]) + stream.flush()
    else:
        out = packer.compress(data)
    n, m = zstandard.frame_header_size(out), len(out) - 4 * sealed
    parts, at = [("magic", 0, 4), ("descriptor", 4, 5), ("header", 5, n)], n
    while at < m:
        (word,) = struct.unpack("<I", out[at : at + 3] + b"\0")
        size = 1 if (word >> 1) & 3 == 1 else word >> 3
        parts += [("block header", at, at + 3), ("block", at + 3, at + 3 + size)]
        at += 3 + size
    return out, [*parts, ("checksum", m, len(out))]


MEMBER: dict[str, Callable[[Random], tuple[bytes, list[Part]]]]
MEMBER = {"gzip": _gzip, "bzip2": _bzip2, "xz": _xz, "zstd": _zstd}


# ---- what is done to them ----


def _flipped(rng: Random, member: bytes, start: int, end: int) -> bytes:
    at = rng.randrange(start, end)
    new = rng.choice((member[at] ^ 1 << rng.randrange(8), 0, 255, rng.randrange(256)))
    return member[:at] + bytes((new,)) + member[at + 1 :]


def damaged(rng: Random, kind: str) -> tuple[bytes, str]:
    """Return a file and what was done to it."""
    made = [MEMBER[kind](rng) for _ in range(rng.choice((1, 1, 2, 2, 3, 4)))]
    members = [member for member, _ in made]
    which = rng.randrange(len(made))
    member, parts = made[which]
    parts = [part for part in parts if part[1] < part[2]]
    name, start, end = rng.choice(parts)
    what = rng.choice(("nothing", "cut", "cut", "cut", "flip", "flip", "flip", "flip", "lose", "drop", "twice", "swap",
                       "other", "pad", "pad", "garbage", "splice"))  # fmt: skip
    if what == "cut":  # within one byte of a border; all that follows is gone, or only the rest of this member
        at = max(0, min(len(member), rng.choice((start, end)) + rng.choice((-1, 0, 0, 1))))
        members[which] = member[:at]
        if rng.random() < 0.6:
            del members[which + 1 :]
    elif what == "flip":
        members[which] = _flipped(rng, member, start, end)
    elif what == "lose":
        members[which] = member[:start] + member[end:]
    elif what == "drop":
        del members[which]
    elif what == "twice":
        members.insert(rng.randrange(len(members) + 1), member)
    elif what == "swap":  # a part of one member in place of that of another
        other, its_parts = rng.choice(made)
        its = {part[0]: part for part in its_parts}
        if name in its:
            members[which] = member[:start] + other[its[name][1] : its[name][2]] + member[end:]
    elif what == "other":
        members.insert(rng.randrange(1, len(members) + 1), MEMBER[rng.choice(list(MEMBER))](rng)[0])
    elif what == "pad":
        zeros = bytes(rng.choice((1, 2, 3, 4, 8, 12, 511, 512, 131_072, 262_144 + 4)))
        members.insert(rng.randrange(1, len(members) + 1), zeros)
    elif what == "garbage":
        members.append(
            rng.choice((b"\n", b"x", b"garbage at the end\n", rng.randbytes(20), member[: rng.randrange(9)]))
        )
    elif what == "splice":
        at = rng.randrange(len(member))
        members[which] = member[:at] + rng.choice(members) + member[at:]
    return b"".join(members), f"{what} {name}" if what in ("cut", "flip", "lose", "swap") else what


# ---- the libraries, in strict use ----


def strict(kind: str, data: bytes) -> bytes:
    """Decompress all of a file; an exception where any of it is no member, or is damaged, or cut off."""
    if kind == "gzip" and data:
        return gzip.decompress(data)
    out, first = [], True
    while data:
        if kind == "xz" and not first:
            rest = data.lstrip(b"\0")
            if (len(data) - len(rest)) % 4:
                raise EOFError("padding")
            if not (data := rest):
                break
        first = False
        member: Any
        if kind == "xz":
            member = lzma.LZMADecompressor(lzma.FORMAT_XZ)
        else:
            member = bz2.BZ2Decompressor() if kind == "bzip2" else zstandard.ZstdDecompressor().decompressobj()
        out.append(member.decompress(data))
        if not member.eof:
            raise EOFError("cut off")
        data = member.unused_data
    return b"".join(out)


def _odd_header(data: bytes) -> bool:
    """Whether a header has unknown flags, or a checksum: Python's gzip passes over both, and amble looks."""
    while data:
        flags, at = data[3], 10
        if flags & 0xE2:
            return True
        if flags & 4:
            at += 2 + int.from_bytes(data[10:12], "little")
        for flag in (8, 16):
            if flags & flag:
                at = data.index(b"\0", at) + 1
        body = zlib.decompressobj(-15)
        body.decompress(data[at:])
        data = body.unused_data[8:].lstrip(b"\0")
    return False


def _in_pieces(path: str, rng: Random) -> bytes:
    out, buffer = [], bytearray(rng.choice((1, 7, 100, 4096, 1 << 19)))
    with open_source(path) as (source, _):
        if isinstance(source, int):
            raise ReadError("taken for a plain file")
        while n := source.readinto(buffer):
            out.append(bytes(buffer[:n]))
            if len(out) > 2000:
                buffer = bytearray(1 << 16)
    return b"".join(out)


def _outcome(errors: Any, read: Callable[..., bytes], *arguments: Any) -> bytes | None:
    try:
        return read(*arguments)
    except errors:
        return None


def fuzz(files: int, seed: int = 1, first: int = 0) -> Counter[str]:
    """Read so many files; count what came out of them. AssertionError tells of the first that differs."""
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(first, first + files):
            rng = Random(f"{seed} {number}")
            kind = rng.choice(list(MEMBER))
            data, what = damaged(rng, kind)
            path = os.path.join(folder, f"f{ENDING[kind]}")
            Path(path).write_bytes(data)
            expected = _outcome(BROKEN, strict, kind, data)
            whole = _outcome(ReadError, read_bytes, path, (1 << 31) - 1)
            pieces = _outcome(ReadError, _in_pieces, path, rng) if data else b""
            where = f"file {number} of seed {seed}: {kind}, {what}"
            assert whole == pieces, where
            stricter = kind == "gzip" and whole is None and expected is not None and _odd_header(data)
            assert whole == expected or stricter, where
            counts["stricter" if stricter else "error" if whole is None else "bytes"] += 1
            counts[f"{kind} {what.split()[0]}"] += 1
    return counts


def main() -> int:
    """Read files until done."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])  # type: ignore[union-attr]
    parser.add_argument("--files", type=int, default=5000, help="how many (default: %(default)s)")
    parser.add_argument("--first", type=int, default=0, help="number of the first one")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    began = time.monotonic()
    counts = fuzz(args.files, args.seed, args.first)
    print(
        f"fuzz: {args.files:,} compressed files, seed {args.seed}, {time.monotonic() - began:.0f} s: "
        f"{counts['bytes']:,} read as the libraries read them, {counts['error']:,} refused by both, "
        f"{counts['stricter']:,} by amble alone (the header of gzip), 0 different"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
