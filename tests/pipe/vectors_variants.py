"""Damaged and made-up inputs for the comparison of two decoders, from a fixed seed."""
import random
import re
import struct

import vector_encoder as encoder

MASK = 0xFFFFFFFF
WORDS = (0, 1, 0xFFF7A600, 0xFFF00000, 0x80012345, 0xC0012345, 0xC0212345, 0xC0312345, 0xC0412345, 0xC0512345,
         0xC0612345, 0xC0912345, 0xC0A12345, 0x00112345, 0x00212345, 0x80212345, 0x81112345, 0x01012345, 0x02012345,
         0x02112345, 0x7FFFFFFF, 0xFFFFFFFF)
TASKS, INTERRUPTS = (0x010, 0x012, 0x014), (0x020, 0x022)


def anchors(data):
    """Offset and byte order of everything that begins like an anchor."""
    for match in re.finditer(b"(?s).\xA6\xF7\xFF|\xFF\xF7\xA6.", data):
        if match.start() + 24 <= len(data):
            yield match.start(), "<" if data[match.start() + 1] == 0xA6 else ">"


def change_anchor(dice, data):
    """A field of an anchor altered and its check byte made right again."""
    found = list(anchors(data))
    if not found:
        return data
    at, order = dice.choice(found)
    words = list(struct.unpack_from(order + "6I", data, at))
    field = dice.choice((1, 2, 3, 3, 4, 4, 4, 5, 5))
    if field == 1:
        words[1] ^= dice.choice((0x3000000, 0x1000000, 1 << 28, 1, 1 << 23, 1 << 12))
    elif field == 2:
        words[2] ^= dice.choice((1, 1 << 16, 1 << 31))
    else:
        words[field] = dice.choice((words[field] + 64, words[field] - 64, words[field] + 1, words[field] - 1,
                                    words[field] + 256, 0, dice.getrandbits(32), words[field] ^ 1 << 31)) & 0xFFFFFFFF
    fold = 0
    for word in words[1:]:
        fold ^= word
    fold ^= fold >> 16
    words[0] = words[0] & ~0xFF | (fold ^ fold >> 8) & 0xFF
    return data[:at] + struct.pack(order + "6I", *words) + data[at + 24:]


def damage(dice, data, others):
    """One fault of a path or a memory."""
    kind, size = dice.randrange(10), len(data)
    at = dice.randrange(size + 1)
    word = at & ~3
    end = min(size, at + dice.choice((1, 2, 3, 4, 8, 12, 28, 256, 300)))
    if kind == 0 and at < size:
        return data[:at] + bytes([data[at] ^ 1 << dice.randrange(8)]) + data[at + 1:]
    if kind == 1:
        return data[:at] + data[end:]
    if kind == 2:
        return data[:at] + bytes(dice.randrange(256) for _ in range(end - at)) + data[at:]
    if kind == 3:
        return data[:word] + struct.pack(dice.choice("<>") + "I", dice.choice(WORDS)) + data[word + 4:]
    if kind == 4:
        return data[:at]
    if kind == 5:
        a, b = sorted(256 * dice.randrange(size // 256 + 1) for _ in range(2))
        return data[:a] + data[b:b + 256] + data[a + 256:b] + data[a:a + 256] + data[b + 256:]
    if kind == 6:
        return data[:word] + dice.choice(others)
    if kind == 7:
        return data[:word] + data[word:word + 4 * dice.randrange(1, 80)] + data[word:]
    return change_anchor(dice, data)


def random_record(dice, s):
    """A record as a careless writer might put it."""
    kind = dice.randrange(24)
    s.time = min(max(0, s.time + dice.choice((0, 0, 1, 7, 1000, 1 << 20, 1 << 21, 1 << 37, -1))), (1 << 64) - 1)
    text = bytes(dice.randrange(256) for _ in range(dice.choice((0, 1, 7, 8, 9, 30))))
    if kind < 4:
        id = dice.choice((0x001, 0x010, 0x7FF, 0x801, 0x810, 0x811, 0xBFF, 0xC01, 0xC10, 0xFEF))
        count = (id >= 0x800) + (id >= 0xC00)
        s.event(id, *(dice.choice((0, 5, 8, 1023, 1024, dice.getrandbits(32))) for _ in range(count)))
    elif kind < 7:
        s.string(0x811, text)
    elif kind == 7:
        s.define(dice.choice((1, 6, 6, 7, 9)), dice.randrange(256), dice.choice((0x811, 0x811, 0x810, 0xC10)), text)
    elif kind == 8:
        s.put("", 0x811, dice.choice((1, 9, 20)))
    elif kind == 9:
        s.text_records(text)
    elif kind == 10:
        count = dice.choice((1, 2, 1000))
        s.dropped = (s.dropped + count * dice.choice((1, 1, 1, 1, 2))) & 0xFFFFFFFF
        s.loss(0xC05, count, s.time, dice.getrandbits(32))
    elif kind == 11:
        s.loss(0xC06, dice.randrange(4), dice.getrandbits(60), 1)
    elif kind == 12:
        id = dice.choice((0xC04, 0xC05, 0xC06, 0xC07, 0xC08, 0xC09, 0xC0F, 0xFFE))
        s.put("", id, dice.randrange(5), dice.randrange(3))
    elif kind > 15:
        random_kernel_record(dice, s, kind)
    elif kind == 13 and dice.randrange(4) == 0:
        s.make_room(1)
        s.emit("", dice.choice(WORDS))
    elif kind == 14 and dice.randrange(4) == 0:
        s.index += dice.choice((s.block, -s.block, 2 * s.block, 1 << 31)) if s.room == 0 else 0
    else:
        s.fill(dice.choice((3, 9, 30)))


def random_kernel_record(dice, s, kind):
    """What a kernel tells, and texts in contexts."""
    if kind < 19:
        s.event(dice.choice((0x002, *TASKS, *INTERRUPTS)) + dice.choice((0, 0, 0, 1)))
    elif kind == 19:
        s.begin_string(dice.choice((0, 1, 8, 9, 17)))
    elif kind == 20:
        s.text_records(b"12345678")
    elif kind == 21:
        s.created(dice.choice((6, 9, 9, 10, 17, 18)), dice.randrange(256),
                  dice.choice((0x002, 0x00F, 0x7FF, 0x811, *TASKS, *INTERRUPTS)))
        s.put("", 0x802, dice.getrandbits(32))
        s.kernel(dice.randrange(256), dice.randrange(256), dice.choice(TASKS), dice.getrandbits(32))
    elif kind == 22:
        s.define(9, dice.randrange(256), dice.choice((0x001, 0x008, 0x7FF, 0x810, 0x811, *TASKS)), b"t")
        s.define(18, dice.randrange(256), dice.choice((0x00F, 0x01F, 0x7FF, 0x800, *INTERRUPTS)), b"i")
    else:
        for _ in range(dice.choice((1, 1, 2, 2, 10, 70))):
            id = 0x100 + 2 * dice.randrange(100)
            if dice.randrange(8):
                s.created(9, 0, id)
            s.event(id)
            for _ in range(dice.choice((1, 1, 1, 1, 2, 9))):
                s.begin_string(dice.choice((0, 1, 1, 1, 1, 1024)))


def random_names(dice, order):
    """Entries of a names table, and their size."""
    size = dice.choice((8, 12, 16, 1028))
    return encoder.names_table([dice.choice((None, (dice.choice((6, 9, 18, 255)), dice.randrange(3), dice.choice(
        (0x811, 0xFFFF, *TASKS, *INTERRUPTS)), b"a name"[:dice.randrange(7)])))
                                for _ in range(dice.randrange(5))], size, order), size


def random_stream(dice):
    s = encoder.Stream(dice.choice("<<<>"), dice.choice((64, 64, 128, 256)), encoder.SESSION + dice.choice((0, 0, 1)),
                       dice.randrange(1, 3), dice.choice((0, 0, 0, 256, 0xFFFFFF00)),
                       dice.choice((0, encoder.START, 1 << 40, (1 << 56) - (1 << 22), (1 << 64) - (1 << 22))))
    for _ in range(dice.randrange(5, 120)):
        random_record(dice, s)
    return s


def random_file(dice):
    """A file of several streams in turn, with rings; its chunks may be wrong and their hashes right."""
    result = encoder.file_header()
    streams = [random_stream(dice) for _ in range(dice.randrange(1, 4))]
    places = [0] * len(streams)
    for _ in range(dice.randrange(2, 12)):
        n = dice.randrange(len(streams))
        s, words = streams[n], encoder.joined(streams[n].data())
        kind = dice.randrange(12)
        if kind < 8:
            start = places[n]
            places[n] = min(len(words) // 4, start + dice.choice((1, 10, 64, 100, 256)))
            if kind == 0:
                start += dice.choice((-1, 1, 5))
            raw = words[4 * max(0, start):4 * places[n]]
            if kind == 1:
                raw = damage(dice, raw, [words])
            piece = dice.choice((256, 4 * s.block, 4 * s.block, 4 * s.block, 4 * s.block, 300))
            made = encoder.stream_chunk([(raw, "")], max(0, start), s.number, piece, s.session,
                                        dice.choice((0, 1, 2)) if kind == 2 else None)
        elif kind < 10:
            made = encoder.chunk(3, encoder.ring(
                s.order, dice.choice((s.number, 7)), s.block, s.session, dropped=dice.choice((0, 5, s.dropped)),
                suppressed=dice.randrange(3), write=dice.choice((0, 0, 1, MASK)),
                writing=dice.choice((0, 0, 1, 2, MASK)), dropped_before=dice.choice((0, 5, s.dropped)),
                version=int(dice.randrange(9) != 0), channel=int(dice.randrange(4) == 0),
                pending_dropped=tuple(dice.randrange(4) for _ in range(5))))
        elif kind == 10:
            table, size = random_names(dice, s.order)
            size = dice.choice((size, size, size, 0, 4, 16, 1032))
            made = encoder.chunk(7, [(struct.pack(s.order + "I", size), "")] + table,
                                 number=dice.choice((s.number, 7)), session=s.session)
        else:
            made = encoder.chunk(dice.choice((1, 2, 5, 6, 7, 900)), [(b"{}" * dice.randrange(20), "")])
        if dice.randrange(10) == 0:
            made = encoder.damaged(made, dice.randrange(len(encoder.joined(made))), mask=1 << dice.randrange(8))
        result += made
    return encoder.joined(result)


def variants(vectors, count, seed):
    """Yields (name, bytes). `vectors`: bytes by name, without images."""
    names = sorted(vectors)
    for number in range(count):
        dice = random.Random(seed * 1000003 + number)
        kind = dice.randrange(5)
        if kind == 0:
            name, data = "stream", encoder.joined(random_stream(dice).data())
        elif kind == 1:
            name, data = "file", random_file(dice)
        else:
            name = dice.choice(names)
            data = vectors[name]
        for _ in range(dice.choice((0, 1, 2, 4)) if kind < 2 else dice.choice((1, 1, 2, 3))):
            data = damage(dice, data, [vectors[dice.choice(names)] for _ in range(2)])
        yield "%d (%s)" % (number, name), data


def random_image(dice):
    """A ring as a target leaves it, perhaps with wrong fields; its names table lies behind it."""
    s = random_stream(dice)
    blocks = dice.choice((2, 3, 4, 8))
    size, length = 4 * s.block * blocks, len(encoder.joined(s.data()))
    table, entry = random_names(dice, s.order)
    fields = {"order": s.order, "number": s.number, "block": s.block, "session": s.session,
              "names": dice.choice((0, 240 + size)), "name_count": len(table), "name_bytes": entry,
              "policy": dice.choice((0, 1, 1, 2)), "dropped": dice.choice((0, s.dropped)), "size": size,
              "read": length % size & ~3 if length < size else dice.choice((0, 4 * s.block, length % size & ~3)),
              "state": dice.choice((2, 2, 2, 3)), "writing": dice.choice((0, 1, length % size + 1))}
    if dice.randrange(3) == 0:
        fields[dice.choice(("names", "name_count", "name_bytes", "size", "read", "write", "lap", "buffer", "version",
                            "state", "channel", "self_at"))] = \
            dice.choice((0, 1, 4, 8, 64, 240, 256, 1028, 1 << 31, MASK, size, size - 4, 240 + size))
    return encoder.joined(encoder.target(s, tail=table, size_of=size, **fields))


def image_variants(images, count, seed):
    """Yields (name, bytes). `images`: bytes of the vectors that are images, by name."""
    names = sorted(images)
    for number in range(count):
        dice = random.Random(seed * 1000003 + number)
        if dice.randrange(2):
            name, data = "image", random_image(dice)
        else:
            name = dice.choice(names)
            data = images[name]
        for _ in range(dice.choice((0, 1, 1, 2))):
            data = damage(dice, data, [images[dice.choice(names)]])
        yield "%d (%s)" % (number, name), data
