"""An encoder made from spec/FORMAT.md alone: records, blocks, files and memory, as pieces (bytes, note)."""
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "spec"))
sys.dont_write_bytecode = True
from reference_decoder import xxh64  # the hash alone; the test compares it with known answers

SYNC, SESSION, START = 0xFFF7A600, 0x5E51, 0x12345
MASK = 0xFFFFFFFF
VECTORS = {}


def vector(function):
    """Name of the function: KIND_NAME; its documentation is the comment in the file."""
    kind, name = function.__name__.split("_", 1)
    VECTORS[kind + "/" + name] = function
    return function


# ------------------------------------------------------------------ encoder: records, blocks, epochs


class Stream:
    """A writer that follows the document: epochs, pads and anchors come by themselves. Time stands
    still until the caller moves it. blocks: per block the pieces (bytes, note)."""

    def __init__(self, order="<", block=64, session=SESSION, number=1, index=0, time=START):
        self.order, self.block, self.session, self.number = order, block, session, number
        self.index, self.time, self.dropped, self.version = index, time, 0, 1
        self.blocks, self.room, self.high = [], 0, 0

    def emit(self, note, *words):
        """Words as they are, without any rule."""
        self.blocks[-1].append((struct.pack("%s%dI" % (self.order, len(words)), *words), note))
        self.index += len(words)
        self.room -= len(words)

    def anchor(self, check=0, **fields):
        form = self.version << 28 | (self.block.bit_length() - 1) << 24 | self.time >> 32 & 0xFFFFFF
        words = [SYNC, form, self.session << 16 | self.number, self.time & MASK, self.index & MASK, self.dropped]
        fold = 0
        for word in words[1:]:
            fold ^= word
        fold ^= fold >> 16
        words[0] |= (fold ^ fold >> 8) & 0xFF ^ check
        self.blocks.append([])
        self.room, self.high = self.block, self.time >> 20
        self.emit("anchor: stream %d, index %d, time %d, dropped %d" %
                  (self.number, self.index & MASK, self.time, self.dropped), *words)

    def make_room(self, words):
        if not self.blocks:
            self.anchor()
        while 0 < self.room < words:
            words = self.block
            self.emit("PAD", 0)
        if self.room == 0:
            self.anchor()

    def put(self, note, id, *args):
        self.make_room(1 + len(args))
        if self.high != self.time >> 20:
            grown = (self.time >> 20) - self.high
            stamp = self.time & 0xFFFFF
            if 0 < grown < 65536:
                self.make_room(2)
                if self.high != self.time >> 20:
                    old, new = self.high & 0xFFFF, self.time >> 20 & 0xFFFF
                    self.emit("EPOCH to high part %d" % (self.time >> 20), 0x800 << 20 | stamp, old << 16 | new)
            else:
                self.make_room(3)
                if self.high != self.time >> 20:
                    self.emit("EPOCH_WIDE to %d" % self.time, 0xC00 << 20 | stamp, self.time & MASK, self.time >> 32)
            self.high = self.time >> 20
            self.make_room(1 + len(args))
        self.emit(note, id << 20 | self.time & 0xFFFFF, *args)

    def event(self, id, *args, after=0):
        self.time += after
        self.put("event 0x%03X" % id, id, *args)

    def text_records(self, text):
        for at in range(0, len(text), 8):
            self.put("TEXT", 0xC02, *struct.unpack("<2I", text[at:at + 8].ljust(8, b"\0")))

    def define(self, kind, category, id, text):
        self.put("DEFINE class %d, id 0x%03X" % (kind, id), 0xC03, kind << 24 | category << 16 | id, len(text))
        self.text_records(text)

    def string(self, id, text):
        self.put("string event, %d bytes" % len(text), id, len(text))
        self.text_records(text)

    def kernel(self, kind, generation, id, value):
        self.put("KERNEL kind %d, id 0x%03X" % (kind, id), 0xC0A, kind << 24 | generation << 16 | id, value)

    def created(self, kind, generation, id, value=0):
        self.kernel(1, generation, id, kind << 24 | value)

    def begin_string(self, length, id=0x811):
        """The texts of it come later; its time tells it from others."""
        self.time += 1
        self.put("string event, %d byte%s" % (length, "s"[:length != 1]), id, length)

    def loss(self, id, count, first, span):
        self.put("LOSS_TIME %d" % first, 0xC04, first & MASK, first >> 32)
        self.put({0xC05: "DROPPED", 0xC06: "SUPPRESSED"}[id] + " %d" % count, id, count, span)

    def fill(self, words):
        """A definition that takes this many words (a multiple of 3) and gives one line."""
        self.define(1, 0, 0x010, b"x" * (8 * (words // 3) - 8))

    def data(self, *numbers):
        chosen = [self.blocks[n] for n in numbers] if numbers else self.blocks
        return [piece for block in chosen for piece in block]


def joined(pieces):
    return b"".join(data for data, note in pieces)


def damaged(pieces, at, byte=None, mask=0):
    """One byte replaced, or its bits in `mask` turned."""
    result = []
    for data, note in pieces:
        if 0 <= at < len(data):
            new = data[at] ^ mask if byte is None else byte
            data, note = data[:at] + bytes([new]) + data[at + 1:], note + " (DAMAGED)"
        result.append((data, note))
        at -= len(data)
    return result


def part(pieces, start, end=None):
    """Bytes from start to end."""
    result, at = [], 0
    end = len(joined(pieces)) if end is None else end
    for data, note in pieces:
        kept = data[max(0, start - at):max(0, end - at)]
        if kept:
            result.append((kept, note + (" (PART)" if len(kept) < len(data) else "")))
        at += len(data)
    return result


# ------------------------------------------------------------------ encoder: file and memory


def hash32(data):
    return xxh64(data) & MASK


def file_header(version=1):
    return [(b"TARE\r\n\x1a\n" + struct.pack("<2I", version, 0), "file header, version %d" % version)]


def chunk(kind, payload, position=0, number=0, piece=0, session=SESSION, table=None, length=None):
    """Header and payload; the payload hash covers `table` alone if there is one."""
    data = joined(payload)
    header = struct.pack("<4s2H2I2Q2I", b"Tchk", kind, 0, len(data) if length is None else length, session,
                         1700000000000000000, position, number, piece)
    header += struct.pack("<2I", hash32(header), hash32(data if table is None else table))
    return [(header[:16], "chunk header: type %d, %d bytes, session" % (kind, len(data))),
            (header[16:32], "arrival, position %d" % position),
            (header[32:], "stream %d, piece %d, hashes" % (number, piece))] + payload


def stream_chunk(pieces, position=0, number=1, piece=256, session=SESSION, count=None):
    data = joined(pieces)
    ends = list(range(piece - position * 4 % piece, len(data), piece)) + [len(data)]
    hashes = [hash32(data[a:b]) for a, b in zip([0] + ends, ends)] if data else []
    table = struct.pack("<%dI" % (len(hashes) + 1), len(hashes) if count is None else count, *hashes)
    return chunk(4, [(table, "table: %d piece hashes" % len(hashes))] + pieces, position, number, piece,
                 session, table)


def ring(order="<", number=1, block=64, session=SESSION, kind=2, state=2, id=b"SEGGER RTT", self_at=0x20000040,
         buffer=0x20000150, size=512, write=0, read=0, lap=0, dropped=0, suppressed=0, magic=0x52A7E001,
         version=1, pending_dropped=(0,) * 5, pending_suppressed=(0,) * 5, torn=False, writing=0, dropped_before=0,
         channel=0, names=0, name_count=0, name_bytes=0, policy=0, down=None):
    if torn:
        writing, dropped_before = write + 1, dropped
    down = down or (self_at + 228 & MASK, 12, 0, 0)  # buffer, size, write offset, read offset
    words = [1, 1, 0, buffer, size, write, read, 0, 0, *down, 0, magic, self_at, version, block,
             session, number, kind, state, 0, 0, lap, dropped, suppressed, 0, *pending_dropped, *pending_suppressed,
             writing, dropped_before, channel, names, name_count, name_bytes, policy]
    words += [0] * (56 - len(words))
    data = id.ljust(16, b"\0") + struct.pack(order + "56I", *words)
    return [(data[:72], "ring: RTT control block"), (data[72:128], "ring: magic to names lost"),
            (data[128:176], "ring: pending dropped, pending suppressed, writing, dropped before"),
            (data[176:196], "ring: channel, names, name count, name bytes, policy"),
            (data[196:], "ring: the writer's own")]


def names_table(entries, size, order="<"):
    """Entries: None (free) or class, generation, id, name."""
    result = []
    for entry in entries:
        kind, generation, id, name = entry or (0, 0, 0, b"")
        data = struct.pack(order + "I", kind << 24 | generation << 16 | id) + name
        result.append((data.ljust(size, b"\0")[:size], "name: class %d, generation %d, id 0x%03X" %
                       (kind, generation, id) if entry else "name: free"))
    return result


def names_chunk(entries, size=16, number=1, session=SESSION, order="<"):
    return chunk(7, [(struct.pack(order + "I", size), "bytes of an entry")] + names_table(entries, size, order),
                 number=number, session=session)


def region():
    data = b"TARE region".ljust(16, b"\0") + struct.pack(
        "<20I", 0x52A7E002, 1, SESSION, 2, 4, 62500000, 8, 65536, 64, 8192, MASK, 3, 0x10, 0x810, 0xC10, 0, 0, 0,
        0, 0)
    return [(data.ljust(256, b"\0"), "region")]


def text_chunk(kind, text):
    return chunk(kind, [(text, "JSON")])


# ------------------------------------------------------------------ what many vectors use


def three_blocks(**form):
    """Blocks of 64 and 256 words are full without PAD; the last ends two words before its border."""
    s = Stream(**form)
    for n in range(3):
        while len(s.blocks) == n:
            s.event(0x810, n, after=1)
        s.fill((s.block - 13) // 3 * 3)
        s.event(0xC10, n, MASK)
    return s


def one_block(**form):
    """A full block, as a STREAM chunk has it."""
    s = Stream(**form)
    s.event(0x810, 8)
    s.fill(54)
    s.event(0x810, 9)
    return s


def many_blocks(count, **form):
    """Blocks of 64 words with the number of the block in their first and last event."""
    s = Stream(**form)
    for n in range(count):
        s.event(0x810, n, after=1)
        s.fill(54)
        s.event(0x810, n)
    return s


def target(s, blocks=4, write=None, tail=(), size_of=None, **fields):
    """A ring with a buffer of `blocks` blocks of 64 words, or `size_of` bytes, as a stream leaves it, at address
    0; then other memory. The words begin at byte 240."""
    words, size = joined(s.data()), size_of or 256 * blocks
    buffer = bytearray(b"\xA5" * size)
    for at in range(0, len(words), 4):
        buffer[at % size:at % size + 4] = words[at:at + 4]
    lap, write = len(words) // size * size // 4, len(words) % size if write is None else write
    pieces = [(bytes(buffer[at:at + 256]), "buffer: block %d" % (at // 256)) for at in range(0, size, 256)]
    fields = {"self_at": 0, "buffer": 240, "size": size, "lap": lap, "write": write, **fields}
    return ring(**fields) + pieces + list(tail)


def memory(order="<", **fields):
    """64 bytes, a ring, 32 bytes, its buffer of two blocks: three blocks were written, one was read."""
    s = three_blocks(order=order)
    words = joined(s.data())
    buffer = words[512:].ljust(256, b"\0") + words[256:512]
    return [(b"\x5A" * 64, "other memory")] + \
        ring(order=order, write=len(words) - 512, read=256, lap=128, **fields) + \
        [(b"\xA5" * 32, "other memory"), (buffer[:256], "buffer: the third block"),
         (buffer[256:], "buffer: the second block")]
