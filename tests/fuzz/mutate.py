"""Mutants: what a random generator does to the bytes of a seed image."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.fuzz.corpus import MAX_FILE_BYTES, SeedImage, corpus
from tests.support.strategies import INTERESTING

MAX_STEPS = 6

FLAGS = (0, 1 << 63, 1 << 62, 3 << 62, 1, 1 << 63 | 1, 1 << 57, 1 << 9)
"""What is or-ed to an offset to make a table word of it."""

Step = Callable[[SeedImage, bytearray, random.Random], str]
"""Changes the bytes and says how, in a few words."""


@dataclass(frozen=True)
class Mutant:
    """A damaged file.

    Attributes:
        name: The seed image's.
        steps: What was done to it, for people.
        data: The whole file; never that of the seed image.
    """

    name: str
    steps: tuple[str, ...]
    data: bytes


def generator(seed: int, index: int) -> random.Random:
    """Return the random generator of one mutant; the same on every machine."""
    return random.Random(f"{seed}:{index}")


def make_mutant(seed: int, index: int, seeds: Sequence[SeedImage] | None = None) -> Mutant:
    """Return mutant `index` of a run with `seed`; without `seeds`, of the usual corpus."""
    rng = generator(seed, index)
    image = rng.choice(seeds or corpus())
    data = bytearray(image.data)
    steps: list[str] = []
    while True:
        steps.append(rng.choices(_STEPS, _WEIGHTS)[0](image, data, rng))
        if len(steps) >= MAX_STEPS or (rng.random() < 0.5 and data != image.data):
            break
    if data == image.data:
        steps.append(_flip_magic_neighbour(data))
    del data[MAX_FILE_BYTES:]
    return Mutant(image.name, tuple(steps), bytes(data))


def _flip_magic_neighbour(data: bytearray) -> str:
    """Change the size: steps that cancel each other out left nothing changed."""
    data[31] ^= 1
    return "flip bit 0 of the virtual size"


def _put(data: bytearray, offset: int, chunk: bytes) -> None:
    """Overwrite bytes as far as the file goes; an earlier step may have cut it."""
    if offset < len(data):
        data[offset : offset + len(chunk)] = chunk[: len(data) - offset]


def _integer(rng: random.Random, image: SeedImage, current: int, width: int) -> int:
    """Return a number at a border, near the present one, or of a place in the file."""
    bits = 8 * width
    kind = rng.randrange(4)
    if kind == 0:
        value = rng.choice(INTERESTING)
    elif kind == 1:
        value = current + rng.choice((-8, -1, 1, 8, 512, -512, image.cluster_bytes))
    elif kind == 2:
        value = current ^ 1 << rng.randrange(bits)
    else:
        value = rng.choice(image.offsets)
    return value % (1 << bits)


def _set_field(image: SeedImage, data: bytearray, rng: random.Random) -> str:
    name, offset, width = rng.choice(image.fields)
    current = int.from_bytes(data[offset : offset + width], "big")
    value = _integer(rng, image, current, width)
    _put(data, offset, value.to_bytes(width, "big"))
    return f"{name} = {value:#x}"


def _set_word(image: SeedImage, data: bytearray, rng: random.Random) -> str:
    spot = rng.choice(image.spots)
    offset = rng.choice(spot.words)
    width = rng.choice((8, 8, 8, 4, 2, 1))
    offset += rng.randrange(0, 8, width)
    current = int.from_bytes(data[offset : offset + width], "big")
    value = _integer(rng, image, current, width)
    if width == 8:
        value |= rng.choice(FLAGS)
    _put(data, offset, value.to_bytes(width, "big"))
    return f"{spot.name}: {width} bytes at {offset:#x} = {value:#x}"


def _flip_bits(image: SeedImage, data: bytearray, rng: random.Random) -> str:
    spot = rng.choice(image.spots)
    offsets = [spot.span.offset + rng.randrange(spot.span.length) for _ in range(rng.randint(1, 8))]
    for offset in offsets:
        if offset < len(data):
            data[offset] ^= 1 << rng.randrange(8)
    return f"{spot.name}: flip bits at {', '.join(hex(offset) for offset in offsets)}"


def _swap_words(image: SeedImage, data: bytearray, rng: random.Random) -> str:
    left = rng.choice(rng.choice(image.spots).words)
    right = rng.choice(rng.choice(image.spots).words)
    old_left, old_right = bytes(data[left : left + 8]), bytes(data[right : right + 8])
    _put(data, left, old_right)
    _put(data, right, old_left)
    return f"swap the words at {left:#x} and {right:#x}"


def _repeat_word(image: SeedImage, data: bytearray, rng: random.Random) -> str:
    """One entry fills a part of its table, so that many clusters share what it names."""
    spot = rng.choice(image.spots)
    offset = rng.choice(spot.words)
    count = rng.choice((2, 8, 64))
    count = max(1, min(count, (spot.span.end - offset) // 8))
    _put(data, offset, bytes(data[offset : offset + 8]) * count)
    return f"{spot.name}: the word at {offset:#x} {count} times"


def _splice(image: SeedImage, data: bytearray, rng: random.Random) -> str:
    """A structure of another image lands on one of this."""
    other = rng.choice(corpus())
    source, target = rng.choice(other.spots).span, rng.choice(image.spots).span
    _put(data, target.offset, other.data[source.offset : source.end])
    return f"{other.name}'s {source.offset:#x} over {target.offset:#x}"


def _copy_cluster(image: SeedImage, data: bytearray, rng: random.Random) -> str:
    source, target = rng.choice(image.offsets), rng.choice(image.offsets)
    _put(data, target, bytes(data[source : source + image.cluster_bytes]))
    return f"the cluster at {source:#x} over {target:#x}"


def _wipe(image: SeedImage, data: bytearray, rng: random.Random) -> str:
    spot = rng.choice(image.spots)
    byte = rng.choice((0, 0, 0xFF))
    _put(data, spot.span.offset, bytes([byte]) * spot.span.length)
    return f"{spot.name}: all {byte:#x}"


def _randomise(image: SeedImage, data: bytearray, rng: random.Random) -> str:
    spot = rng.choice(image.spots)
    offset = spot.span.offset + rng.randrange(spot.span.length)
    length = min(rng.choice((4, 64, 4096)), max(1, spot.span.end - offset))
    _put(data, offset, rng.randbytes(length))
    return f"{spot.name}: {length} random bytes at {offset:#x}"


def _cut(image: SeedImage, data: bytearray, rng: random.Random) -> str:
    near = rng.choice((*image.offsets, 0, 72, 104, 112))
    wanted = near + rng.choice((0, 1, -1, 8, 100, 511))
    length = rng.choice((wanted, rng.randrange(len(image.data))))
    length = max(0, min(length, len(data)))
    del data[length:]
    return f"cut at {length:#x}"


def _append(image: SeedImage, data: bytearray, rng: random.Random) -> str:
    length = rng.choice((1, 511, 512, image.cluster_bytes, 3 * image.cluster_bytes))
    data += bytes(length) if rng.random() < 0.5 else rng.randbytes(length)
    return f"append {length} bytes"


_WEIGHTED: tuple[tuple[Step, int], ...] = (
    (_set_field, 6),
    (_set_word, 10),
    (_flip_bits, 6),
    (_swap_words, 3),
    (_repeat_word, 3),
    (_splice, 2),
    (_copy_cluster, 3),
    (_wipe, 2),
    (_randomise, 3),
    (_cut, 2),
    (_append, 1),
)
_STEPS = tuple(step for step, _ in _WEIGHTED)
_WEIGHTS = tuple(weight for _, weight in _WEIGHTED)
